"""The functions, classes and globals of a C++ file that guards can reach -> their bodies (`facts.bodies`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import TYPE_CHECKING

from ...facts import Function, Span
from ...facts.bodies import AnyStatement, Assign, Body, BodyKind, BodyParameter
from ...facts.expressions import Expression, MemberAccess, NamePath, TypeName
from ...facts.model import MOST_AROUND
from ...lazy_regex import lazy_regex
from .byte_words import places_by_word, words
from .cpp_branches import CONTROL_FLOW
from .cpp_declarators import declared_by, function_declarator
from .cpp_statements import SIMPLE_STATEMENTS, InnerBodies, StatementReader, UnfinishedBody
from .guard_reach import Reach
from .tree_reading import Reading

if TYPE_CHECKING:
    from tree_sitter import Node

    from .statement_expansion import StatementExpansion

_FEW = 100
"""Globals that are each looked for by themselves."""
_WAITS = lazy_regex(rb"co_(?:await|yield|return)\b")
_FORMS = {**SIMPLE_STATEMENTS, **CONTROL_FLOW}
_THIS = NamePath(("this",))


def find_bodies(reading: Reading, reach: Reach, dead: Sequence[Span], grammar: str) -> tuple[Body, ...]:
    """The bodies of what is reached, in the order of the text; the module's is the last."""
    building = _Building(reading, dead, _expansion(reading, grammar))
    found: list[Body] = []
    is_reached = False
    for index, function in enumerate(reading.functions):
        if function.parent is None:
            is_reached = reach.holds(function.span.start)
        if is_reached and not function.is_lambda:
            found.append(building.function_body(index))
    for index, class_ in enumerate(reading.classes):
        if (
            reach.names_class(class_.name.encode())
            and reading.class_nodes[index].type != "enum_specifier"
            and reading.function_at(class_.span.start) is None
        ):
            found.append(building.class_body_of(index))
    found.sort(key=lambda body: body.span)
    return (*found, *building.module_body(_globals(reading, reach)))


def _expansion(reading: Reading, grammar: str) -> StatementExpansion | None:
    if not reading.macros:
        return None
    from .statement_expansion import StatementExpansion

    return StatementExpansion(reading, grammar)


def _globals(reading: Reading, reach: Reach) -> list[Node]:
    """The declarations outside of functions and classes that make a guard, or whose variables reached code names."""
    guarding = [node for node in reading.outer_declarations if reach.begins_in(reading.span(node))]
    found: dict[bytes, list[Node]] = {}
    for node in reading.outer_declarations:
        for declarator in node.named_children:
            left: Node | None = declarator
            if declarator.type == "init_declarator":
                left = declarator.child_by_field_name("declarator")
            elif not declarator.type.endswith(("identifier", "declarator")):
                continue
            name = declared_by(left).name if left is not None and left.type != "function_declarator" else None
            while name is not None and name.type == "qualified_identifier":
                name = name.child_by_field_name("name")
            if name is not None and name.text:
                found.setdefault(name.text, []).append(node)
    by_word = places_by_word(reading.code) if len(found) > _FEW else None
    return guarding + [
        node
        for name, nodes in found.items()
        if any(map(reach.holds, words(name, reading.code) if by_word is None else by_word.get(name, ())))
        for node in nodes
    ]


class _Building(InnerBodies):
    """Makes the bodies of one tree."""

    def __init__(
        self,
        reading: Reading,
        dead: Sequence[Span] = (),
        expansion: StatementExpansion | None = None,
        place: Span | None = None,
    ) -> None:
        self._reading = reading
        self._expansion = expansion
        self._place = place
        self._statements = StatementReader(reading, _FORMS, self, dead, place)
        self._by_span = {function.span: index for index, function in enumerate(reading.functions)}
        self._may_wait = b"co_" in reading.code
        self._class_by_span = {class_.span: index for index, class_ in enumerate(reading.classes)}

    # -- functions

    def function_body(self, index: int) -> Body:
        function, node = self._reading.functions[index], self._reading.function_nodes[index]
        within = UnfinishedBody(self._qualified(function) if function.parent is not None else function.qualified)
        return self._run(BodyKind.FUNCTION, function, node, within, index, 0)

    def lambda_body(self, node: Node, within: UnfinishedBody, depth: int) -> Body:
        span = self._reading.span(node)
        index = self._by_span.get(span)
        body = node.child_by_field_name("body")
        own = UnfinishedBody(within.qualified, within.lambdas_around + 1, within.left)
        function = self._reading.functions[index] if index is not None else None
        if function is None or body is None:
            place = self._statements.span(node)
            return Body(BodyKind.LAMBDA, "", within.qualified, place, place, (), is_read=False)
        captures = node.child_by_field_name("captures")
        given = self._reading.written(captures)[1:-1] if captures is not None else ""
        made = self._run(BodyKind.LAMBDA, function, node, own, index, depth, captures=_captured(given))
        within.left = own.left
        return made

    def _run(
        self,
        kind: BodyKind,
        function: Function,
        node: Node,
        within: UnfinishedBody,
        index: int | None,
        depth: int,
        *,
        captures: tuple[str, ...] = (),
    ) -> Body:
        """The body of a function or lambda, read with all that is in it."""
        body = node.child_by_field_name("body")
        assert body is not None, "a function of the facts has a body"
        # What the head's text can't hold isn't looked for in its nodes: most functions have short heads.
        head = self._reading.text[node.start_byte : body.start_byte]
        initialisers: tuple[Assign, ...] = ()
        if kind is BodyKind.FUNCTION and b":" in head.replace(b"::", b""):
            initialisers = self._initialisers(node, within)
        nodes = body.named_children if body.type == "compound_statement" else (body,)
        statements = tuple(self._statements.statements(nodes, within, depth))
        waits = self._waits(body, index) if self._may_wait else frozenset()
        return Body(
            kind,
            function.name,
            within.qualified,
            self._statements.span(node),
            self._statements.header(node, body.start_byte),
            statements,
            tuple(within.inner),
            self._parameters(function, node, head),
            initialisers=initialisers,
            returns=(self._returns(node) if b"->" in head else None) or function.returns,
            captures=captures,
            is_async=bool(waits) and b"co_yield" not in waits,
            is_generator=b"co_yield" in waits,
            is_static=function.is_static or (b"static" in head and _is_static_member(node)),
            function=index if self._place is None else None,
            is_read=within.is_read and not (node.has_error and _is_lost(node, within.forgiven)),
            type_parameters=_type_parameters(node) if kind is BodyKind.FUNCTION else (),
        )

    def _waits(self, body: Node, index: int | None) -> Set[bytes]:
        """The keywords by which a coroutine leaves and is entered again, in its own code."""
        reading = self._reading
        return {
            found.group()
            for found in _WAITS.finditer(reading.code, body.start_byte, body.end_byte)
            if reading.function_at(found.start()) == index
        }

    def _qualified(self, function: Function) -> tuple[str, ...]:
        """With the functions around a local class."""
        names = function.qualified
        inner, functions = function, self._reading.functions
        for _ in range(MOST_AROUND):
            if inner.parent is None:
                break
            outer = functions[inner.parent]
            shared = len(outer.qualified) - len(outer.declared_as)  # the namespaces and classes around both
            names = (*outer.qualified, *names[shared:])
            inner = outer
        return names

    def _parameters(self, function: Function, node: Node, head: bytes) -> tuple[BodyParameter, ...]:
        if b"=" not in head and b"..." not in head:
            return tuple(BodyParameter(name, type_) for type_, name in function.parameters)
        declarator = _declarator_of(node)
        given = declarator.child_by_field_name("parameters") if declarator is not None else None
        nodes = [
            child
            for child in (given.named_children if given is not None else ())
            if "parameter" in child.type and child.child_by_field_name("type") is not None
        ]
        found = []
        for (type_, name), parameter in zip(function.parameters, nodes, strict=False):
            default: Expression | None = None
            if parameter.type == "optional_parameter_declaration":
                value = parameter.child_by_field_name("default_value")
                if value is not None and value.type == "compound_literal_expression" and value.has_error:
                    value = value.child_by_field_name("value")  # `= {}`, which the grammar reads as `T{}` without `T`
                default = self._reading.expressions.read(value) if value is not None else None
            mark = "*" if parameter.type == "variadic_parameter_declaration" else ""
            found.append(BodyParameter(name, type_, default, mark))
        return tuple(found)

    def _returns(self, node: Node) -> Expression | None:
        """What follows the parameters as that which is given back."""
        declarator = _declarator_of(node)
        children = declarator.children if declarator is not None else ()
        trailing = next((child for child in children if child.type == "trailing_return_type"), None)
        if trailing is None or not trailing.named_children:
            return None
        found = self._reading.expressions.read(trailing.named_children[-1])
        return found if isinstance(found, TypeName) else TypeName(found)

    def _initialisers(self, node: Node, within: UnfinishedBody) -> tuple[Assign, ...]:
        found = []
        lists = [child for child in node.named_children if child.type == "field_initializer_list"]
        for child in lists[0].named_children if lists else ():
            parts = child.named_children
            if child.type != "field_initializer" or len(parts) < 2:
                continue
            if within.left <= 0:
                within.is_read = False
                break
            within.left -= 1
            name = self._reading.expressions.read(parts[0])
            target = (
                MemberAccess(_THIS, name.name, "->", name.template_arguments) if isinstance(name, NamePath) else name
            )
            value = self._statements.expression(parts[1], within, 0)
            found.append(Assign(self._statements.span(child), (target,), value))
        return tuple(found)

    # -- classes

    def class_body(self, node: Node, within: UnfinishedBody) -> Body | None:
        index = self._class_by_span.get(self._reading.span(node))
        return self.class_body_of(index, within.qualified) if index is not None else None

    def class_body_of(self, index: int, around: tuple[str, ...] | None = None) -> Body:
        class_, node = self._reading.classes[index], self._reading.class_nodes[index]
        qualified = class_.qualified if around is None else (*around, class_.name)
        within = UnfinishedBody(qualified)
        body = node.child_by_field_name("body")
        members: list[BodyParameter] = []
        for child in body.named_children if body is not None else ():
            if child.type == "field_declaration":
                members += self._members(child, within)
        return Body(
            BodyKind.CLASS,
            class_.name,
            qualified,
            self._statements.span(node),
            self._statements.header(node, body.start_byte if body is not None else node.end_byte),
            (),
            tuple(within.inner),
            bases=class_.bases,
            members=tuple(members),
            is_read=body is None or not any(child.has_error and _is_lost(child) for child in _data_of(body)),
        )

    def _members(self, node: Node, within: UnfinishedBody) -> Iterable[BodyParameter]:
        """The data members of one declaration, each with what it is given."""
        kind = node.child_by_field_name("type")
        left: Node | None = None
        value: Expression | None = None
        for position, child in enumerate(node.children):
            field = node.field_name_for_child(position)
            if field == "declarator" and not _declares_method(child):
                if left is not None:
                    yield self._member(node, kind, left, value)
                left, value = child, None
            elif field == "default_value":
                value = self._statements.expression(child, within, 0)
        if left is not None:
            yield self._member(node, kind, left, value)

    def _member(self, node: Node, kind: Node | None, left: Node, value: Expression | None) -> BodyParameter:
        made = self._statements.assign(node, kind, left, value, Span(0, 0))
        return BodyParameter(str(made.targets[0]), made.type, value)

    # -- macros

    def expanded(
        self, name: str, span: Span, place: Span, within: UnfinishedBody, depth: int
    ) -> list[AnyStatement] | None:
        reading = self._expansion.reading_of(name, span) if self._expansion is not None else None
        body = reading.function_nodes[0].child_by_field_name("body") if reading is not None else None
        if reading is None or body is None:
            return None
        inside = _Building(reading, place=place)
        return inside._statements.statements(body.named_children, within, depth)

    # -- the rest of the file

    def module_body(self, nodes: Iterable[Node]) -> tuple[Body, ...]:
        """The initialisers of these globals, in their order; nothing where there are none."""
        within = UnfinishedBody(())
        once = {node.start_byte: node for node in nodes}
        ordered = [once[start] for start in sorted(once)]
        statements = self._statements.statements(ordered, within, 0)
        if not statements:
            return ()
        whole = Span(0, len(self._reading.text))
        is_read = within.is_read and not any(node.has_error for node in ordered)
        return (
            Body(BodyKind.MODULE, "", (), whole, Span(0, 0), tuple(statements), tuple(within.inner), is_read=is_read),
        )


def _declarator_of(node: Node) -> Node | None:
    """Where the parameters of a function or lambda are."""
    return node.child_by_field_name("declarator") if node.type == "lambda_expression" else function_declarator(node)


def _type_parameters(node: Node) -> tuple[str, ...]:
    """The parameters of a template by name: `template <typename Guard, bool on>`, as ("Guard", "on")."""
    around = node.parent
    given = around.child_by_field_name("parameters") if around is not None else None
    if around is None or given is None or around.type != "template_declaration":
        return ()
    names = (one.named_children[-1].text if one.named_children else b"" for one in given.named_children)
    return tuple((name or b"").decode("utf-8", "replace") for name in names)


def _captured(written: str) -> tuple[str, ...]:
    """The parts of what is in a lambda's square brackets; commas in an initialiser's brackets part nothing."""
    parts = [""]
    depth = 0
    for character in written:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return tuple(filter(None, map(str.strip, parts)))


def _data_of(body: Node) -> Iterable[Node]:
    """What is in a class, without its methods, which have bodies of their own."""
    return (child for child in body.named_children if child.type not in ("function_definition", "template_declaration"))


def _is_static_member(node: Node) -> bool:
    return any(child.type == "storage_class_specifier" and child.text == b"static" for child in node.children)


def _declares_method(declarator: Node) -> bool:
    """`f()` and `*f()`, not `(*f)()`, which is a pointer."""
    while declarator.type in ("pointer_declarator", "reference_declarator") and declarator.named_children:
        declarator = declarator.named_children[-1]
    inner = declarator.child_by_field_name("declarator") if declarator.type == "function_declarator" else None
    return inner is not None and inner.type != "parenthesized_declarator"


def _is_lost(node: Node, forgiven: Set[int] = frozenset()) -> bool:
    """Whether the parser was lost in the node, but for what is `forgiven`, by where it begins.

    A semicolon that it put in does no harm after a call, a macro or a type, as in `T a = {}`.
    """
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.is_error and one.start_byte not in forgiven:
            return True
        if one.is_missing and one.type not in (";", "type_identifier"):
            return True
        children = [child for child in one.children if child.has_error or child.is_missing]
        if one.type == "expression_statement" and any(child.type == ";" for child in children):
            named = one.named_children[:1]
            if named and named[0].type.endswith("identifier") and not (named[0].text or b"").isupper():
                return True  # `if (x) at::NoGradGuard guard(true);` is read as `at::NoGradGuard; guard(true);`
        waiting += children
    return False
