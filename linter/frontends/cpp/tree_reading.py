"""Reads a syntax tree: functions, classes, calls, assignments, aliases, macros, and where they are.

One search finds the nodes; what holds what is known by offsets.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING

from ...facts import Alias, Assignment, Call, Class, Function, Macro, Member, Parameter, Return, Span
from ...facts.expressions import CallExpression, Expression, last_name
from ...facts.model import MOST_AROUND
from ...facts.spans import Nested
from ...lazy_regex import lazy_regex
from .cpp_declarators import declared_by, function_declarator, marks_before
from .cpp_expressions import ExpressionReader, path_of, squeeze
from .node_parents import NodeParents
from .node_search import found_nodes, in_text_order

if TYPE_CHECKING:
    from tree_sitter import Node

_CONST = lazy_regex(rb"\bconst\b")

_PLAIN = frozenset({"identifier", "array_declarator", "pointer_declarator", "reference_declarator"})
"""Declarators that give a name and no value."""

_AROUND_METHODS = frozenset({"field_declaration_list", "template_declaration", "friend_declaration"})

_LONG = 200
"""Texts of arguments and values are kept up to so many characters: enough to recognise, cheap to send."""


class Reading:
    """Reads one tree. `shift` is what to add to the tree's offsets to get the file's."""

    def __init__(self, text: bytes, masked: bytes, code: bytes, shift: int, macro: str | None) -> None:
        self.text = text
        self.masked = masked
        self.code = code
        self.shift = shift
        self.macro = macro
        self.expressions = ExpressionReader(text, shift)
        self.functions: list[Function] = []
        self.function_nodes: list[Node] = []
        self.classes: list[Class] = []
        self.class_nodes: list[Node] = []
        self.calls: list[Call] = []
        self.assignments: list[Assignment] = []
        self.returns: list[Return] = []
        self.deletes: list[Expression] = []
        self.aliases: list[Alias] = []
        self.macros: list[Macro] = []
        self.outer_declarations: list[Node] = []
        """Those that are in no function."""
        self.initializers: dict[str, list[Node]] = defaultdict(list)
        """By member, the arguments of constructors' initialisers."""
        self.names: dict[str, tuple[Span, tuple[Span, ...]]] = {}
        """For a name, the last stretch in which it was looked for, and where it is there."""
        self.emplacements: dict[str, list[Node]] = defaultdict(list)
        """By receiver, the arguments of `emplace`."""
        self.first_works: dict[tuple[int, int], Node | None] = {}
        self._starts: list[int] = []
        # What holds a node is looked up by offset: tree-sitter finds a node's parent from the root down, so that
        # climbing out of deep code would take the square of its depth.
        self._named: Nested[tuple[Span, str]] = Nested((), itemgetter(0))
        self._unnamed: Nested[Span] = Nested((), _itself)
        self._member_lists: Nested[Span] = Nested((), _itself)
        self._class_places: Nested[tuple[Span, int]] = Nested((), itemgetter(0))
        self._errors: Nested[Span] = Nested((), _itself)

    # -- offsets and texts

    def span(self, node: Node) -> Span:
        return Span(node.start_byte + self.shift, node.end_byte + self.shift)

    def slice(self, span: Span) -> str:
        return self.text[span.start : span.end].decode("utf-8", "replace")

    def written(self, node: Node, limit: int = _LONG) -> str:
        """The node's text without white space around tokens that need none."""
        return squeeze(self.text[node.start_byte + self.shift : node.end_byte + self.shift][: limit * 2])[:limit]

    # -- functions, classes, calls

    def collect(self, root: Node, grammar: str) -> None:
        self.parents = NodeParents(root)
        captures = found_nodes(root, grammar)
        self._read_spaces(captures)
        self._read_classes(captures.get("class", ()))
        self._class_places = Nested(((class_.span, index) for index, class_ in enumerate(self.classes)), itemgetter(0))
        self._read_functions([*captures.get("function", ()), *captures.get("lambda", ())])
        for node in captures.get("call", ()):
            call = self._call(node)
            if call is not None:
                self.calls.append(call)
                arguments = node.child_by_field_name("arguments") if call.name == "emplace" else None
                if arguments is not None and call.receiver is not None:
                    self.emplacements[str(call.receiver).removeprefix("this->")].append(arguments)
        for node in captures.get("initializer", ()):
            children = node.named_children
            if len(children) == 2 and children[0].type == "field_identifier":
                self.initializers[self.written(children[0])].append(children[1])
                self._add_assignment(node, children[0], children[1], False, "=")
        self._read_bare_macros(captures.get("bare", ()))
        self._read_assignments(captures)
        for node in captures.get("return", ()):
            value = node.named_children[0] if node.named_children else None
            given = self.expressions.read(value) if value is not None else None
            self.returns.append(Return(given, self.span(node), self.function_at(node.start_byte + self.shift)))
        for node in captures.get("delete", ()):
            self.deletes += map(self.expressions.read, node.named_children)
        self._read_aliases(captures)
        for node in captures.get("macro", ()):
            name, body = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is None or body is None:
                continue
            parameters = node.child_by_field_name("parameters")
            names = [self.written(child) for child in parameters.named_children] if parameters else []
            self.macros.append(Macro(self.written(name), tuple(names), self.span(node), self.span(body)))

    def _read_spaces(self, captures: dict[str, list[Node]]) -> None:
        named: list[tuple[Span, str]] = []
        unnamed: list[Span] = []
        for node in (*captures.get("namespace", ()), *captures.get("class", ())):
            name = node.child_by_field_name("name") if node.type != "enum_specifier" else None
            if name is not None:
                named.append((self.span(node), self.written(name)))
            elif node.type == "namespace_definition":
                unnamed.append(self.span(node))
        self._named = Nested(named, itemgetter(0))
        self._unnamed = Nested(unnamed, _itself)
        self._member_lists = Nested(map(self.span, captures.get("members", ())), _itself)
        self._errors = Nested(map(self.span, captures.get("error", ())), _itself)

    def _read_classes(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if body is None and node.type != "enum_specifier":
                continue  # only named: `struct Net* net;`
            written = self.written(name) if name is not None else ""
            bases = next((child for child in node.children if child.type == "base_class_clause"), None)
            plain = re.sub(r"<.*", "", written)
            members, methods = self._members(body, written) if body is not None else ((), False)
            self.class_nodes.append(node)
            self.classes.append(
                Class(
                    plain,
                    (*self.namespace(node), *path_of(written)),
                    self.span(node),
                    tuple(
                        self.expressions.read(base)
                        for base in (bases.named_children if bases else ())
                        if base.type in ("type_identifier", "qualified_identifier", "template_type")
                    ),
                    members,
                    methods,
                    body is not None and any(_builds(child, plain) for child in body.named_children),
                    body is not None and all(map(_is_data, body.named_children)),
                )
            )

    def _members(self, body: Node, class_name: str) -> tuple[tuple[Member, ...], bool]:
        members, methods = [], False
        for child in body.named_children:
            if child.type == "function_definition":
                declarator = function_declarator(child)
                name = declarator.child_by_field_name("declarator") if declarator else None
                text = self.written(name) if name is not None else ""
                methods = methods or text.lstrip("~") != class_name
            elif child.type == "field_declaration":
                kind, declarators = child.child_by_field_name("type"), child.children_by_field_name("declarator")
                for declarator in declarators:  # `Body first_, *body_;`
                    if declarator.type == "function_declarator":
                        methods = True
                    elif kind is not None:
                        declared = declared_by(declarator)
                        type_ = self.expressions.type_of(
                            kind, self.is_constant(child, kind, declarator), declared.marks
                        )
                        own_name = self.written(declared.name) if declared.name is not None else ""
                        members.append(Member(type_, own_name, self.span(child)))
        return tuple(members), methods

    def _read_functions(self, nodes: Sequence[Node]) -> None:
        stack: list[int] = []
        for node in sorted(nodes, key=in_text_order):
            body = node.child_by_field_name("body")
            if body is None:
                continue
            span = self.span(node)
            while stack and self.functions[stack[-1]].span.end < span.end:
                stack.pop()
            parent = stack[-1] if stack else None
            build = self._lambda if node.type == "lambda_expression" else self._function
            self.functions.append(build(node, body, parent))
            self.function_nodes.append(node)
            self._starts.append(span.start)
            stack.append(len(self.functions) - 1)

    def _function(self, node: Node, body: Node, parent: int | None) -> Function:
        declarator = function_declarator(node)
        name = declarator.child_by_field_name("declarator") if declarator is not None else None
        # Of an Objective-C method the masked text has the name, as a C++ function's.
        written = squeeze(self.masked[name.start_byte : name.end_byte]) if name is not None else ""
        if self.macro is not None and name is not None:
            # `op##_kernel` is masked too; what it is called depends on the macro's arguments.
            written = re.sub(r"\s|\\", "", self.slice(self.span(name)))
        returns = node.child_by_field_name("type")
        parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
        returned = None
        if returns is not None:
            # `Tensor &` and `Tensor*`: the reference belongs to the declarator in the grammar.
            marks = marks_before(node.child_by_field_name("declarator"))
            returned = self.expressions.type_of(returns, self.is_constant(node, returns, declarator), marks)
        span = self.span(node)
        return Function(
            name=(path_of(written) or ("",))[-1],
            qualified=(*self.namespace(node), *path_of(written)),
            span=span,
            body=self.span(body),
            declared_as=path_of(written),
            parent=parent,
            class_=self.class_at(span),
            parameters=self._parameters(parameters),
            returns=returned,
            is_static=self._is_static(node),
            macro=self.macro,
        )

    def _lambda(self, node: Node, body: Node, parent: int | None) -> Function:
        declarator = node.child_by_field_name("declarator")
        parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
        outer = self.parents.of(node)
        while outer is not None and outer.type == "parenthesized_expression":
            outer = self.parents.of(outer)
        invoked = False
        passed_to: Expression | None = None
        assigned_to: Expression | None = None
        if outer is not None and outer.type == "call_expression":
            invoked = True
        elif outer is not None and outer.type in ("argument_list", "initializer_list"):
            call = self.parents.of(outer)
            callee = call.child_by_field_name("function") if call is not None else None
            if call is not None and call.type == "init_declarator" and (declared := self.parents.of(call)) is not None:
                callee = declared.child_by_field_name("type")  # `std::thread worker([] { … });`
            elif call is not None and call.type in ("new_expression", "compound_literal_expression"):
                callee = call.child_by_field_name("type")
            passed_to = self.expressions.read(callee) if callee is not None else None
        elif outer is not None and outer.type in ("init_declarator", "assignment_expression"):
            target = outer.child_by_field_name("declarator") or outer.child_by_field_name("left")
            assigned_to = self.expressions.read(target) if target is not None else None
        return Function(
            name="",
            qualified=self.namespace(node),
            span=self.span(node),
            body=self.span(body),
            parent=parent,
            parameters=self._parameters(parameters),
            is_lambda=True,
            immediately_invoked=invoked,
            passed_to=passed_to,
            assigned_to=assigned_to,
            macro=self.macro,
        )

    def _parameters(self, node: Node | None) -> tuple[Parameter, ...]:
        if node is None:
            return ()
        found = []
        for child in node.named_children:
            kind = child.child_by_field_name("type") if "parameter" in child.type else None
            if kind is not None:
                declarator = child.child_by_field_name("declarator")
                declared = declared_by(declarator)
                constant = self.is_constant(child, kind, declarator)
                type_ = self.expressions.type_of(kind, constant, declared.marks)
                found.append(Parameter(type_, self.written(declared.name) if declared.name is not None else ""))
        return tuple(found)

    def _call(self, node: Node) -> Call | None:
        expression = self.expressions.read(node)
        if not isinstance(expression, CallExpression):
            return None
        place = self.span(node)
        return Call(expression, place, self.function_at(place.start))

    def _read_bare_macros(self, nodes: Iterable[Node]) -> None:
        """`LAUNCH_KERNEL;`: a macro that runs something is a call as good as any."""
        for node in nodes:
            name = self.written(node)
            if name.isupper():
                place = self.span(node)
                expression = CallExpression(self.expressions.read(node))
                self.calls.append(Call(expression, place, self.function_at(place.start)))

    def _read_assignments(self, captures: dict[str, list[Node]]) -> None:
        for node in captures.get("assignment", ()):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            operator = node.child_by_field_name("operator")
            if left is not None and right is not None and operator is not None:
                self._add_assignment(node, left, right, False, self.written(operator))
        for node in captures.get("declarator", ()):
            left, right = node.child_by_field_name("declarator"), node.child_by_field_name("value")
            if left is not None and right is not None:
                holder = self.parents.of(node)
                kind = holder.child_by_field_name("type") if holder is not None else None
                self._add_assignment(node, left, right, True, "=", kind)
        for node in captures.get("declaration", ()):
            if self.function_at(node.start_byte + self.shift) is None:
                self.outer_declarations.append(node)
                in_body = False
            else:
                in_body = self.parents.type_of(node) not in {"", *_AROUND_METHODS}
            kind = node.child_by_field_name("type")
            for declarator in node.children_by_field_name("declarator"):
                if declarator.type in _PLAIN:
                    # `Tensor out;` and `float data[3];` give a name without a value.
                    self._add_assignment(declarator, declarator, None, True, "=", kind)
                elif declarator.type == "function_declarator" and in_body:
                    # `at::Tensor z(x * y);` in a body is read as a function that takes an `x*`.
                    name = declarator.child_by_field_name("declarator")
                    given = declarator.child_by_field_name("parameters")
                    if name is not None and given is not None and given.named_children:
                        self._add_assignment(node, name, given, True, "=", kind)

    def _add_assignment(
        self, node: Node, left: Node, right: Node | None, declares: bool, operator: str, kind: Node | None = None
    ) -> None:
        read, place = self.expressions, self.span(node)
        type_ = None
        if kind is not None:
            declaration = node if node.type == "declaration" else self.parents.of(node)
            constant = declaration is not None and self.is_constant(declaration, kind, left)
            declared = declared_by(left)
            type_ = read.type_of(kind, constant, declared.marks)
            left = declared.name or left
        self.assignments.append(
            Assignment(
                read.read(left),
                declares,
                operator,
                read.read(right) if right is not None else None,
                place,
                self.function_at(place.start),
                type_,
            )
        )

    @cached_property
    def namespaces(self) -> dict[str, str]:
        """What the file's namespace aliases stand for; read once all of them are known."""
        return {alias.name: "::".join(alias.path) for alias in self.aliases if alias.kind == "namespace"}

    @cached_property
    def type_aliases(self) -> dict[str, Alias]:
        """By name, the last alias of a type."""
        return {alias.name: alias for alias in self.aliases if alias.kind == "type"}

    @cached_property
    def opened_namespaces(self) -> list[tuple[str, ...]]:
        """Those of `using namespace`."""
        return list(dict.fromkeys(alias.path for alias in self.aliases if alias.kind == "using-namespace"))

    @cached_property
    def classes_named(self) -> dict[str, Class]:
        """The first class of each name."""
        return {class_.name: class_ for class_ in reversed(self.classes)}

    def _read_aliases(self, captures: dict[str, list[Node]]) -> None:
        read = self.expressions.read
        for node in captures.get("alias", ()):
            name, target = node.child_by_field_name("name"), node.child_by_field_name("type")
            if name is not None and target is not None:
                self.aliases.append(Alias(self.written(name), read(target), self.span(node), "type"))
        for node in captures.get("typedef", ()):
            name, target = node.child_by_field_name("declarator"), node.child_by_field_name("type")
            if name is not None and target is not None:
                self.aliases.append(Alias(self.written(name), read(target), self.span(node), "type"))
        for node in captures.get("namespace_alias", ()):
            name = node.child_by_field_name("name")
            target = node.named_children[-1]
            if name is not None:
                self.aliases.append(Alias(self.written(name), read(target), self.span(node), "namespace"))
        for node in captures.get("using", ()):
            target = node.named_children[-1] if node.named_children else None
            if target is not None:
                keyword = any(child.type == "namespace" for child in node.children)
                kind = "using-namespace" if keyword else "using-declaration"
                opened = read(target)
                self.aliases.append(Alias("" if keyword else last_name(opened), opened, self.span(node), kind))

    def is_constant(self, declaration: Node, type_: Node, declarator: Node | None) -> bool:
        """Whether `const` is beside the type, in front of it or after."""
        before = self.text[declaration.start_byte + self.shift : type_.start_byte + self.shift]
        if b"const" in before and _CONST.search(before) is not None:
            return True
        end = declarator.start_byte if declarator is not None else declaration.end_byte
        return b"const" in self.text[type_.end_byte + self.shift : end + self.shift]

    # -- where things are

    def function_at(self, offset: int) -> int | None:
        """The innermost function around a file offset."""
        index = bisect_right(self._starts, offset) - 1
        current: int | None = index if index >= 0 else None
        while current is not None and self.functions[current].span.end <= offset:
            current = self.functions[current].parent
        return current

    def class_at(self, span: Span) -> int | None:
        """The innermost class around a file span."""
        return next((index for _, index in self._class_places.around(span)), None)

    def is_inside_class(self, name: str, span: Span) -> bool:
        """Whether a class of that name is around a file span."""
        return any(self.classes[index].name == name for _, index in self._class_places.around(span))

    def namespace(self, node: Node) -> tuple[str, ...]:
        """The namespaces and classes around a node."""
        own = self.span(node)
        names = [name for span, name in islice(self._named.around(own), MOST_AROUND) if span != own]
        return tuple(part for name in reversed(names) for part in path_of(name))

    def is_under_error(self, node: Node) -> bool:
        """Whether the parser was lost in the statement itself or in what holds it."""
        return node.has_error or _is_held(self.span(node), self._errors)

    def _is_static(self, node: Node) -> bool:
        """Whether a function is seen in its own file alone. (A class's static method is not.)"""
        span = self.span(node)
        if _is_held(span, self._unnamed):
            return True
        return not _is_held(span, self._member_lists) and any(
            child.type == "storage_class_specifier" and child.text == b"static" for child in node.children
        )


def _itself(span: Span) -> Span:
    return span


def _is_held(span: Span, spans: Nested[Span]) -> bool:
    return next(spans.around(span), None) is not None


def _is_data(child: Node) -> bool:
    """Whether a part of a class's body is a data member, or nothing that runs."""
    if child.type != "field_declaration":
        return child.type in ("access_specifier", "comment")
    declarator = child.child_by_field_name("declarator")
    return declarator is not None and function_declarator(child) is None


def _builds(member: Node, class_name: str) -> bool:
    """Whether a member of a class is a constructor with its own body, wherever that is."""
    if member.type == "template_declaration":
        return any(_builds(child, class_name) for child in member.named_children)
    if member.type not in ("declaration", "function_definition"):
        return False
    if any(child.type in ("delete_method_clause", "default_method_clause") for child in member.children):
        return False
    declarator = function_declarator(member)
    name = declarator.child_by_field_name("declarator") if declarator is not None else None
    return name is not None and (name.text or b"").decode("utf-8", "replace") == class_name
