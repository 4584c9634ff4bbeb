"""What a guard's constructor is given, and whether the file itself decides the value."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from ...facts import Argument
from ...facts.expressions import (
    MAX_DEPTH,
    Bracketed,
    CallExpression,
    Construction,
    Expression,
    LiteralExpression,
    LiteralKind,
    NamePath,
    NewExpression,
    Operation,
    last_name,
)
from ...lazy_regex import lazy_regex

if TYPE_CHECKING:
    from tree_sitter import Node

    from .tree_reading import Reading

BLOCKS = frozenset({"compound_statement", "translation_unit", "declaration_list", "field_declaration_list"})


def cpp_argument(reading: Reading, node: Node | None) -> Argument | None:
    if node is None:
        return None
    expression = reading.expressions.read(node)
    return Argument(reading.span(node), expression, _constant(expression, reading.code))


def constructor_argument(reading: Reading, node: Node) -> Argument | None:
    """The argument that brackets give a guard; None where they hold no guard's argument: `nullopt`, a pointer."""
    argument = cpp_argument(reading, node)
    if argument is None or _makes_nothing(argument):
        return None
    if not _builds_in_place(argument):
        return argument
    given = Bracketed(argument.items[1:])
    return Argument(argument.span, given, _constant(given, reading.code))


def _makes_nothing(argument: Argument) -> bool:
    """Whether an optional or a pointer of a guard gets no guard from it, or one that was made elsewhere."""
    if not argument.items:
        return False
    first = argument.items[0]
    if isinstance(first, CallExpression) and isinstance(first.callee, NamePath):
        return first.callee.path[0] == "std" and first.callee.name.startswith("make_")
    if isinstance(first, LiteralExpression):
        return first.kind is LiteralKind.NONE
    nothing = last_name(first) == "nullopt" or (isinstance(first, Bracketed) and first == Bracketed((), "{}"))
    return isinstance(first, NewExpression) or (nothing and len(argument.items) == 1)


def _builds_in_place(argument: Argument) -> bool:
    """`std::in_place` comes first, then what the guard's own constructor gets."""
    return bool(argument.items) and last_name(argument.items[0]) == "in_place"


def built_in_declaration(reading: Reading, top: Node) -> tuple[Argument, ...]:
    """What `std::optional<at::G> g(true);` builds its guard with."""
    outer: Node | None = top
    while outer is not None and outer.type not in ("declaration", "field_declaration", *BLOCKS):
        if outer.type in ("call_expression", "argument_list", "init_declarator"):
            return ()
        outer = reading.parents.of(outer)
    if outer is None or outer.type in BLOCKS:
        return ()
    value = outer.child_by_field_name("default_value")
    declarator = outer.child_by_field_name("declarator")
    if declarator is not None and declarator.type == "init_declarator":
        value = declarator.child_by_field_name("value")
    elif declarator is not None and declarator.type == "function_declarator":
        # `std::optional<at::G> g(enabled);` in a body is read as a function.
        in_body = reading.parents.type_of(outer) == "compound_statement"
        value = declarator.child_by_field_name("parameters") if in_body else None
    if value is None or value.type == "call_expression":
        return ()
    written = cpp_argument(reading, value)
    argument = constructor_argument(reading, value)
    return (argument,) if argument is not None and written is not None and not written.empty else ()


_CONSTEXPR = lazy_regex(rb"constexpr(?<!\wconstexpr)\s+bool\s+(\w+)\s*(?:=\s*|\{\s*)(true|false)\s*\}?\s*;")


@lru_cache(maxsize=2)
def _constants_of(code: bytes) -> dict[bytes, set[bytes]]:
    """The values that the file gives its constants of type bool."""
    found: dict[bytes, set[bytes]] = defaultdict(set)
    for name, value in _CONSTEXPR.findall(code):
        found[name].add(value)
    return dict(found)


def _constant(expression: Expression, code: bytes) -> bool | None:
    """The value of a bool that the file itself decides: `true`, `(true)`, `!false`, `bool{1}`, a constexpr."""
    turned = False
    for _ in range(MAX_DEPTH):
        inner = _inside(expression)
        if inner is None:
            break
        turned ^= isinstance(expression, Operation)
        expression = inner
    value: bool | None = None
    if isinstance(expression, LiteralExpression):
        value = _NUMBERS.get(expression.text) if expression.kind is LiteralKind.NUMBER else expression.truth
    elif isinstance(expression, NamePath) and len(expression.path) == 1:
        given = _constants_of(code).get(expression.name.encode(), set())
        value = next(iter(given)) == b"true" if len(given) == 1 else None
    return None if value is None else value is not turned


_NUMBERS = {"1": True, "0": False}


def _inside(expression: Expression) -> Expression | None:
    """What decides the value of `(x)`, `{x}`, `bool(x)`, `bool{x}`, and, turned round, of `!x`."""
    if isinstance(expression, Operation):
        return expression.operands[0] if expression.operator in ("!", "not") else None
    if isinstance(expression, Construction):
        return expression.arguments if str(expression.type) == "bool" else None
    items: tuple[Expression, ...] = ()
    if isinstance(expression, Bracketed):
        items = expression.items
    elif isinstance(expression, CallExpression) and str(expression.callee) == "bool":
        items = expression.arguments
    return items[0] if len(items) == 1 else None
