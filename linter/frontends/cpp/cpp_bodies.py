"""The functions, classes and globals of a C++ file that guards can reach -> their bodies (`facts.statements`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import TYPE_CHECKING

from ...facts import Function, GuardUse, Span
from ...facts.expressions import Expression, MemberAccess, NamePath, TypeName
from ...facts.statements import Assign, Body, BodyKind, BodyParameter
from .cpp_declarators import declared_by, function_declarator
from .cpp_statements import Closures, UnfinishedBody, StatementReader
from .guard_reach import reached
from .tree_reading import Reading

if TYPE_CHECKING:
    from tree_sitter import Node

_THIS = NamePath(("this",))


def find_bodies(reading: Reading, uses: Sequence[GuardUse], named: Set[str], dead: Sequence[Span]) -> tuple[Body, ...]:
    """The bodies of what guards, and the functions that are named, can reach; the module's is the last."""
    if not uses and not named:
        return ()
    globals_ = _globals(reading)
    reach = reached(reading, uses, named, frozenset(globals_))
    if not reach.functions and not reach.classes:
        return ()
    building = _Building(reading, dead)
    found: list[Body] = []
    for index, function in enumerate(reading.functions):
        if function.parent is None:
            is_reached = index in reach.functions
        if is_reached and not function.is_lambda:
            found.append(building.function_body(index))
    for index in sorted(reach.classes):
        around = reading.function_at(reading.classes[index].span.start)
        if around is None:
            found.append(building.class_body_of(index))
    found.sort(key=lambda body: body.span)
    module = building.module_body([node for name, nodes in globals_.items() if name in reach.words for node in nodes])
    return (*found, *module)


def _globals(reading: Reading) -> dict[bytes, list[Node]]:
    """The declarations outside of functions and classes by the names of their variables."""
    found: dict[bytes, list[Node]] = {}
    for node in reading.outer_declarations:
        for declarator in node.children_by_field_name("declarator"):
            left: Node | None = declarator
            if declarator.type == "init_declarator":
                left = declarator.child_by_field_name("declarator")
            name = declared_by(left).name if left is not None and left.type != "function_declarator" else None
            while name is not None and name.type == "qualified_identifier":
                name = name.child_by_field_name("name")
            if name is not None and name.text:
                found.setdefault(name.text, []).append(node)
    return found


class _Building(Closures):
    """Makes the bodies of one tree."""

    def __init__(self, reading: Reading, dead: Sequence[Span]) -> None:
        self._reading = reading
        self._statements = StatementReader(reading, dead, self)
        self._by_span = {function.span: index for index, function in enumerate(reading.functions)}
        self._class_by_span = {class_.span: index for index, class_ in enumerate(reading.classes)}

    # -- functions

    def function_body(self, index: int) -> Body:
        function, node = self._reading.functions[index], self._reading.function_nodes[index]
        frame = UnfinishedBody(self._qualified(function))
        declarator = function_declarator(node)
        initialisers: tuple[Assign, ...] = ()
        for child in node.children:
            if child.type == "field_initializer_list":
                initialisers = self._initialisers(child, frame)
        return self._run(BodyKind.FUNCTION, function, node, declarator, frame, index, 0, initialisers=initialisers)

    def lambda_body(self, node: Node, frame: UnfinishedBody, depth: int) -> Body:
        span = self._reading.span(node)
        index = self._by_span.get(span)
        body = node.child_by_field_name("body")
        own = UnfinishedBody(frame.qualified, frame.lambdas_around + 1, frame.left)
        function = self._reading.functions[index] if index is not None else None
        if function is None or body is None:
            return Body(BodyKind.LAMBDA, "", frame.qualified, span, span, (), is_read=False)
        captures = node.child_by_field_name("captures")
        given = self._reading.written(captures)[1:-1] if captures is not None else ""
        declarator = node.child_by_field_name("declarator")
        made = self._run(BodyKind.LAMBDA, function, node, declarator, own, index, depth, captures=_captured(given))
        frame.left = own.left
        return made

    def _run(
        self,
        kind: BodyKind,
        function: Function,
        node: Node,
        declarator: Node | None,
        frame: UnfinishedBody,
        index: int | None,
        depth: int,
        *,
        initialisers: tuple[Assign, ...] = (),
        captures: tuple[str, ...] = (),
    ) -> Body:
        """The body of a function or lambda, read with all that is in it."""
        reading, body = self._reading, node.child_by_field_name("body")
        assert body is not None, "a function of the facts has a body"
        parameters = self._parameters(function, declarator, frame, depth)
        if body.type == "compound_statement":
            statements = tuple(self._statements.statements(body.named_children, frame, depth))
        else:
            statements = tuple(self._statements.statements((body,), frame, depth))
        start = node.start_byte + reading.shift
        head = reading.text[start : body.start_byte + reading.shift].rstrip()
        return Body(
            kind,
            function.name,
            frame.qualified,
            function.span,
            Span(start, start + len(head)),
            statements,
            tuple(frame.inner),
            parameters,
            initialisers=initialisers,
            returns=self._returns(function, declarator),
            captures=captures,
            is_async=frame.awaits and not frame.yields,
            is_generator=frame.yields,
            is_static=function.is_static or _is_static_member(node),
            function=index,
            is_read=frame.is_read and not (node.has_error and _is_lost(node)),
        )

    def _qualified(self, function: Function) -> tuple[str, ...]:
        """With the function around a local class."""
        if function.parent is None:
            return function.qualified
        outer = self._reading.functions[function.parent]
        around = self._qualified(outer)
        return (*around, *function.qualified[len(outer.qualified) - bool(outer.name) :])

    def _parameters(
        self, function: Function, declarator: Node | None, frame: UnfinishedBody, depth: int
    ) -> tuple[BodyParameter, ...]:
        if not function.parameters:
            return ()
        given = declarator.child_by_field_name("parameters") if declarator is not None else None
        nodes = [
            child
            for child in (given.named_children if given is not None else ())
            if "parameter" in child.type and child.child_by_field_name("type") is not None
        ]
        found = []
        for (type_, name), node in zip(function.parameters, nodes, strict=False):
            default: Expression | None = None
            if node.type == "optional_parameter_declaration":
                value = node.child_by_field_name("default_value")
                default = self._statements.expression(value, frame, depth) if value is not None else None
            mark = "*" if node.type == "variadic_parameter_declaration" else ""
            found.append(BodyParameter(name, type_, default, mark))
        return tuple(found)

    def _returns(self, function: Function, declarator: Node | None) -> Expression | None:
        """What it gives back; behind the parameters where it stands there."""
        children = declarator.children if declarator is not None else ()
        trailing = next((child for child in children if child.type == "trailing_return_type"), None)
        if trailing is None or not trailing.named_children:
            return function.returns
        found = self._reading.expressions.read(trailing.named_children[-1])
        return found if isinstance(found, TypeName) else TypeName(found)

    def _initialisers(self, node: Node, frame: UnfinishedBody) -> tuple[Assign, ...]:
        found = []
        for child in node.named_children:
            parts = child.named_children
            if child.type != "field_initializer" or len(parts) < 2:
                continue
            name = self._reading.expressions.read(parts[0])
            target = (
                MemberAccess(_THIS, name.name, "->", name.template_arguments) if isinstance(name, NamePath) else name
            )
            value = self._statements.expression(parts[1], frame, 0)
            found.append(Assign(self._reading.span(child), (target,), value))
        return tuple(found)

    # -- classes

    def class_body(self, node: Node, frame: UnfinishedBody) -> Body | None:
        index = self._class_by_span.get(self._reading.span(node))
        return self.class_body_of(index, frame.qualified) if index is not None else None

    def class_body_of(self, index: int, around: tuple[str, ...] | None = None) -> Body:
        class_, node = self._reading.classes[index], self._reading.class_nodes[index]
        qualified = class_.qualified if around is None else (*around, class_.name)
        frame = UnfinishedBody(qualified)
        body = node.child_by_field_name("body")
        members: list[BodyParameter] = []
        for child in body.named_children if body is not None else ():
            if child.type == "field_declaration":
                members += self._members(child, frame)
        reading = self._reading
        start = node.start_byte + reading.shift
        end = body.start_byte + reading.shift if body is not None else class_.span.end
        return Body(
            BodyKind.CLASS,
            class_.name,
            qualified,
            class_.span,
            Span(start, start + len(reading.text[start:end].rstrip())),
            (),
            tuple(frame.inner),
            bases=class_.bases,
            members=tuple(members),
            is_read=not (node.has_error and _is_lost(node)),
        )

    def _members(self, node: Node, frame: UnfinishedBody) -> Iterable[BodyParameter]:
        """The data members of one declaration, each with what it is given."""
        kind = node.child_by_field_name("type")
        left: Node | None = None
        value: Expression | None = None
        for position, child in enumerate(node.children):
            field = node.field_name_for_child(position)
            if field == "declarator":
                if left is not None:
                    yield self._member(node, kind, left, value)
                left, value = child, None
            elif field == "default_value":
                value = self._statements.expression(child, frame, 0)
        if left is not None:
            yield self._member(node, kind, left, value)

    def _member(self, node: Node, kind: Node | None, left: Node, value: Expression | None) -> BodyParameter:
        made = self._statements.assign(node, kind, left, value, Span(0, 0))
        return BodyParameter(str(made.targets[0]), made.type, value)

    # -- the rest of the file

    def module_body(self, nodes: Iterable[Node]) -> tuple[Body, ...]:
        """The initialisers of these globals, in their order; nothing where there are none."""
        frame = UnfinishedBody(())
        once = {node.start_byte: node for node in nodes}
        ordered = [once[start] for start in sorted(once)]
        statements = self._statements.statements(ordered, frame, 0)
        if not statements:
            return ()
        whole = Span(0, len(self._reading.text))
        is_read = frame.is_read and not any(node.has_error for node in ordered)
        return (
            Body(BodyKind.MODULE, "", (), whole, Span(0, 0), tuple(statements), tuple(frame.inner), is_read=is_read),
        )


def _captured(written: str) -> tuple[str, ...]:
    """The parts of what stands in a lambda's square brackets; commas in an initialiser's brackets part nothing."""
    parts = [""]
    depth = 0
    for character in written:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return tuple(filter(None, map(str.strip, parts)))


def _is_static_member(node: Node) -> bool:
    return any(child.type == "storage_class_specifier" and child.text == b"static" for child in node.children)


def _is_lost(node: Node) -> bool:
    """Whether the parser was lost in the node; a semicolon that it had to put in is no harm."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.is_error or (one.is_missing and one.type != ";"):
            return True
        waiting += [child for child in one.children if child.has_error or child.is_missing]
    return False
