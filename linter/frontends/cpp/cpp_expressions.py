"""Syntax nodes of C++ -> expression trees (`facts.expressions`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from ...facts.expressions import (
    MAX_DEPTH,
    MAX_TEXT,
    MAX_WIDTH,
    Bracketed,
    CallExpression,
    CastExpression,
    Construction,
    Expression,
    LambdaExpression,
    LiteralExpression,
    LiteralKind,
    MemberAccess,
    NamePath,
    NewExpression,
    Operation,
    OtherExpression,
    Subscript,
    TypeName,
)
from ...lazy_regex import lazy_regex

if TYPE_CHECKING:
    from tree_sitter import Node

_SHORT = 64
"""Expressions up to so many bytes are looked up before they are read: most of a file's occur several times."""
_WORD = lazy_regex(r"[A-Za-z_]\w*")
_PLAIN_PATH = lazy_regex(rb"(?:::)?\w+(?:::\w+)*")
_KINDS = {
    "true": LiteralKind.BOOL,
    "false": LiteralKind.BOOL,
    "number_literal": LiteralKind.NUMBER,
    "string_literal": LiteralKind.STRING,
    "raw_string_literal": LiteralKind.STRING,
    "concatenated_string": LiteralKind.STRING,
    "char_literal": LiteralKind.STRING,
    "user_defined_literal": LiteralKind.NUMBER,
    "null": LiteralKind.NONE,
}
_MISREAD = {"true": LiteralKind.BOOL, "false": LiteralKind.BOOL, "nullptr": LiteralKind.NONE}
"""What the grammar takes for the type of a parameter."""
_NAMES = (
    "identifier",
    "field_identifier",
    "type_identifier",
    "namespace_identifier",
    "primitive_type",
    "auto",
    "this",
)
_LONG_NAMES = ("sized_type_specifier", "placeholder_type_specifier", "operator_name", "destructor_name")
_LISTS = (
    "parenthesized_expression",
    "argument_list",
    "parameter_list",
    "initializer_list",
    "structured_binding_declarator",
)
_OPERATIONS = (
    "unary_expression",
    "pointer_expression",
    "update_expression",
    "delete_expression",
    "binary_expression",
    "assignment_expression",
    "comma_expression",
)


_COMMENT = OtherExpression("")


class ExpressionReader:
    """Reads the expressions of one text. `shift` is what to add to a node's offsets to get the text's."""

    def __init__(self, text: bytes, shift: int) -> None:
        self._text = text
        self._shift = shift
        self._known: dict[bytes | int, Expression] = {}
        """By the text of a short expression (nodes that read alike mean the same), by the node of a long one."""
        self._types: dict[tuple[bytes, bool, str], TypeName] = {}
        self._cut = False
        """The tree that is being read goes beyond the bounds somewhere."""

    def read(self, node: Node, depth: int = MAX_DEPTH) -> Expression:
        """The tree of an expression, or of a type without `const`, `&` and `*`."""
        start, end = node.start_byte, node.end_byte
        key: bytes | int = self._text[start + self._shift : end + self._shift] if end - start <= _SHORT else node.id
        known = self._known.get(key)
        if known is not None:
            return known
        reader = READERS.get(node.type)
        if reader is None:
            return self.other(node)
        if depth == 0:
            self._cut = True
            return self.other(node)
        outer, self._cut = self._cut, False
        found = reader(self, node, depth - 1)
        if not self._cut:
            self._known[key] = found
        self._cut = self._cut or outer
        return found

    def type_of(self, node: Node, constant: bool = False, marks: str = "") -> TypeName:
        """The type that a node names, as a declaration uses it."""
        key = (self._bytes(node), constant, marks)
        known = self._types.get(key)
        if known is None:
            found = self.read(node)
            known = self._types[key] = found if isinstance(found, TypeName) else TypeName(found, constant, marks)
        return known

    # -- texts

    def _bytes(self, node: Node) -> bytes:
        return self._text[node.start_byte + self._shift : node.end_byte + self._shift]

    def _written(self, node: Node) -> str:
        start, end = node.start_byte + self._shift, node.end_byte + self._shift
        return squeeze(self._text[start : min(end, start + 2 * MAX_TEXT)])[:MAX_TEXT]

    def other(self, node: Node) -> Expression:
        written = self._written(node)
        return OtherExpression(written, tuple(dict.fromkeys(_WORD.findall(written))))

    # -- one method a kind of node

    def _name(self, node: Node, depth: int) -> Expression:
        return NamePath((self._bytes(node).decode("utf-8", "replace"),))

    def _long_name(self, node: Node, depth: int) -> Expression:
        """`unsigned int`, `operator ()`, `~T`."""
        return NamePath((self._written(node),))

    def _comment(self, node: Node, depth: int) -> Expression:
        return _COMMENT

    def _literal(self, node: Node, depth: int) -> Expression:
        raw = self._bytes(node)[: 2 * MAX_TEXT]
        return LiteralExpression(_KINDS[node.type], raw.decode("utf-8", "replace")[:MAX_TEXT])

    def _qualified(self, node: Node, depth: int) -> Expression:
        raw = self._bytes(node)
        if _PLAIN_PATH.fullmatch(raw):
            parts = raw.decode("utf-8", "replace").removeprefix("::").split("::")
            return NamePath(tuple(parts), absolute=raw.startswith(b"::"))
        scope, name = node.child_by_field_name("scope"), node.child_by_field_name("name")
        last = self.read(name, depth) if name is not None else None
        first = self.read(scope, depth) if scope is not None else None
        if not isinstance(last, NamePath) or not isinstance(first, (NamePath, type(None))):
            return self.other(node)
        if first is None:
            return NamePath(last.parts, last.template_arguments, last.scope, absolute=True)
        return _joined(first, last)

    def _template(self, node: Node, depth: int) -> Expression:
        name, arguments = node.child_by_field_name("name"), node.child_by_field_name("arguments")
        if name is None or arguments is None:
            return self.other(node)
        return NamePath((self._written(name),), self._items(arguments, depth))

    def _inner(self, node: Node, depth: int) -> Expression:
        return self.read(node.named_children[0], depth) if node.named_children else self.other(node)

    def _member(self, node: Node, depth: int) -> Expression:
        children = node.children
        object_: Node | None
        field: Node | None
        if len(children) == 3:
            object_, operator, field = children
            arrow = operator.type
        else:  # a comment between them
            object_, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
            if object_ is None or field is None:
                return self.other(node)
            arrow = self._between(object_, field)
        name = self.read(field, depth)
        if not isinstance(name, NamePath):
            return self.other(node)
        return MemberAccess(self.read(object_, depth), name.parts[-1], arrow, name.template_arguments)

    def _between(self, left: Node, right: Node) -> str:
        """The operator between two operands."""
        return squeeze(self._text[left.end_byte + self._shift : right.start_byte + self._shift]).strip()

    def _call(self, node: Node, depth: int) -> Expression:
        children = node.children
        callee: Node | None
        arguments: Node | None
        if len(children) == 2:
            callee, arguments = children
        else:
            callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if callee is None or arguments is None:
            return self.other(node)
        return CallExpression(self.read(callee, depth), self._items(arguments, depth))

    def _items(self, node: Node, depth: int) -> tuple[Expression, ...]:
        """What is between brackets."""
        count = node.child_count
        if count <= 2:  # the brackets
            return ()
        if count <= 2 * MAX_WIDTH + 2:
            found = [self.read(child, depth) for child in node.named_children]
            return tuple(item for item in found if item is not _COMMENT)
        # The rest is not even looked at: a table of ten thousand numbers costs no more than its first ones.
        nodes = [child for index in range(MAX_WIDTH - 1) if (child := node.named_child(index)) is not None]
        self._cut = True
        begin, end = nodes[-1].end_byte, node.end_byte - 1
        rest = squeeze(self._text[begin + self._shift : min(end, begin + 2 * MAX_TEXT) + self._shift]).lstrip(", ")
        first = (item for child in nodes if (item := self.read(child, depth)) is not _COMMENT)
        return (*first, OtherExpression(rest[:MAX_TEXT], tuple(dict.fromkeys(_WORD.findall(rest[:MAX_TEXT])))))

    def _subscript(self, node: Node, depth: int) -> Expression:
        object_, indices = node.child_by_field_name("argument"), node.child_by_field_name("indices")
        if object_ is None or indices is None:
            return self.other(node)
        return Subscript(self.read(object_, depth), self._items(indices, depth))

    def _list(self, node: Node, depth: int) -> Expression:
        opening = self._text[node.start_byte + self._shift : node.start_byte + self._shift + 1]
        brackets = {b"{": "{}", b"[": "[]"}.get(opening, "()")
        return Bracketed(self._items(node, depth), brackets)

    def _lambda(self, node: Node, depth: int) -> Expression:
        written = self._written(node)
        return LambdaExpression(written, tuple(dict.fromkeys(_WORD.findall(written))))

    def _operation(self, node: Node, depth: int) -> Expression:
        operands = [child for child in node.named_children if child.type != "comment"]
        if len(operands) == 2:
            return Operation(self._between(*operands), tuple(self.read(operand, depth) for operand in operands))
        if len(operands) != 1:
            return self.other(node)
        before = self._text[node.start_byte + self._shift : operands[0].start_byte + self._shift].strip()
        after = self._text[operands[0].end_byte + self._shift : node.end_byte + self._shift].strip()
        operator = squeeze(before or after)
        return Operation(operator, (self.read(operands[0], depth),), postfix=not before)

    def _await(self, node: Node, depth: int) -> Expression:
        """`co_await x`, by the name that it has in Python."""
        inside = [child for child in node.named_children if child.type != "comment"]
        return Operation("await", (self.read(inside[-1], depth),)) if inside else self.other(node)

    def _conditional(self, node: Node, depth: int) -> Expression:
        parts = [node.child_by_field_name(field) for field in ("condition", "consequence", "alternative")]
        if any(part is None for part in parts):
            return self.other(node)
        return Operation("?:", tuple(self.read(part, depth) for part in parts if part is not None))

    def _new(self, node: Node, depth: int) -> Expression:
        type_, arguments = node.child_by_field_name("type"), node.child_by_field_name("arguments")
        if type_ is None:
            return self.other(node)
        return NewExpression(self.read(type_, depth), self.read(arguments, depth) if arguments is not None else None)

    def _construction(self, node: Node, depth: int) -> Expression:
        type_, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if type_ is None or value is None:
            return self.other(node)
        return Construction(self.read(type_, depth), self.read(value, depth))

    def _cast(self, node: Node, depth: int) -> Expression:
        type_, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if type_ is None or value is None:
            return self.other(node)
        return CastExpression(self.read(type_, depth), self.read(value, depth))

    def _described_type(self, node: Node, depth: int) -> Expression:
        """`const at::Tensor&` among template arguments, in a cast."""
        children = node.named_children
        if len(children) == 1:
            return self.read(children[0], depth)
        type_, declarator = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        plain = declarator is None or declarator.type in (
            "abstract_pointer_declarator",
            "abstract_reference_declarator",
        )
        if type_ is None or not plain:
            return self.other(node)
        constant = any(child.type == "type_qualifier" and child.text == b"const" for child in children)
        marks = "".join(mark for mark in self._bytes(declarator).decode() if mark in "&*") if declarator else ""
        return TypeName(self.read(type_, depth), constant, marks)

    def _misread_parameter(self, node: Node, depth: int) -> Expression:
        """`x * y` of `at::Tensor z(x * y);`, which the grammar takes for a function with a parameter `y`."""
        type_, declarator = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        if type_ is None or len(node.named_children) > 1 + (declarator is not None):
            return self.other(node)
        if declarator is None:
            name = self._bytes(type_).decode("utf-8", "replace")  # `C c(m, true);`: a "type" that is a literal
            return LiteralExpression(_MISREAD[name], name) if name in _MISREAD else self.read(type_, depth)
        if declarator.type == "abstract_function_declarator" and (given := declarator.named_children):
            return CallExpression(self.read(type_, depth), self._items(given[0], depth))
        inner = declarator.named_children
        if declarator.type in ("pointer_declarator", "reference_declarator") and len(inner) == 1:
            operator = self._text[declarator.start_byte + self._shift : inner[0].start_byte + self._shift]
            left, right = self.read(type_, depth), self.read(inner[0], depth)
            return Operation(operator.decode("utf-8", "replace").strip(), (left, right))
        return self.other(node)


_Reader = Callable[[ExpressionReader, "Node", int], Expression]
READERS: dict[str, _Reader] = {
    "comment": ExpressionReader._comment,
    "qualified_identifier": ExpressionReader._qualified,
    "field_expression": ExpressionReader._member,
    "call_expression": ExpressionReader._call,
    "subscript_expression": ExpressionReader._subscript,
    "lambda_expression": ExpressionReader._lambda,
    "co_await_expression": ExpressionReader._await,
    "conditional_expression": ExpressionReader._conditional,
    "new_expression": ExpressionReader._new,
    "compound_literal_expression": ExpressionReader._construction,
    "cast_expression": ExpressionReader._cast,
    "type_descriptor": ExpressionReader._described_type,
    "parameter_declaration": ExpressionReader._misread_parameter,
}
for _reader, _kinds in (
    (ExpressionReader._name, _NAMES),
    (ExpressionReader._long_name, _LONG_NAMES),
    (ExpressionReader._literal, tuple(_KINDS)),
    (ExpressionReader._template, ("template_function", "template_type", "template_method")),
    (ExpressionReader._inner, ("dependent_name", "dependent_type")),
    (ExpressionReader._list, _LISTS),
    (ExpressionReader._operation, _OPERATIONS),
):
    READERS |= dict.fromkeys(_kinds, _reader)


def _joined(scope: NamePath, name: NamePath) -> NamePath:
    if scope.template_arguments is None and scope.scope is None:
        if name.scope is None:
            return NamePath((*scope.parts, *name.parts), name.template_arguments, absolute=scope.absolute)
        return NamePath(name.parts, name.template_arguments, _joined(scope, name.scope))
    if name.scope is None:
        return NamePath(name.parts, name.template_arguments, scope)
    return NamePath(name.parts, name.template_arguments, _joined(scope, name.scope))


_LOOSE = lazy_regex(r" (?=::|->|[.,<>()\[\]{}&*=])|(?<=::) |(?<=[.,<>()\[\]{}&*=]) ")


@lru_cache(maxsize=4096)
def squeeze(text: bytes) -> str:
    """White space only where two words would run together; comments dropped."""
    if not (b" " in text or b"\n" in text or b"/" in text or b"\t" in text):
        return text.decode("utf-8", "replace")
    if b"/" in text:
        text = re.sub(rb"//[^\n]*|/\*.*?\*/", b" ", text, flags=re.DOTALL)
    return _LOOSE.sub("", b" ".join(text.split()).decode("utf-8", "replace")).strip()


_TEMPLATE_ARGUMENTS = lazy_regex(r"(?<!operator)<(?:[^<>]|<[^<>]*>)*>")


@lru_cache(maxsize=4096)
def path_of(written: str) -> tuple[str, ...]:
    """The identifiers of a declared name, without template arguments: `("Net", "run")` of `Net<T>::run`."""
    return tuple(part for part in _TEMPLATE_ARGUMENTS.sub("", written).split("::") if part)
