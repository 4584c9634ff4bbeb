"""What a guard's constructor is given, and whether the file itself decides the value."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from ...facts import Argument

if TYPE_CHECKING:
    from tree_sitter import Node

    from .tree_reading import Reading

BLOCKS = frozenset({"compound_statement", "translation_unit", "declaration_list", "field_declaration_list"})


def cpp_argument(reading: Reading, node: Node | None) -> Argument | None:
    if node is None:
        return None
    span = reading.span(node)
    text = reading.slice(span)
    inner = _in_brackets(text) if node.type in ("argument_list", "initializer_list", "parameter_list") else text
    inner = re.sub(r"/\*.*?\*/|//[^\n]*", "", inner, flags=re.DOTALL).strip()
    return Argument(span, text, _constant(inner, reading.code), not inner)


def _in_brackets(text: str) -> str:
    """What stands between the brackets; all of it where the parser has made up the closing one."""
    return text[1:-1].strip() if text[:1] + text[-1:] in ("()", "{}") and len(text) > 1 else text


_NOTHING = frozenset({"std::nullopt", "c10::nullopt", "nullopt", "{}"})
_IN_PLACE = re.compile(r"(?:(?:std|c10)::)?in_place\s*,?\s*")


def constructor_argument(reading: Reading, node: Node) -> Argument | None:
    """The argument that brackets give a guard; None where they hold no guard's argument: `nullopt`, a pointer."""
    argument = cpp_argument(reading, node)
    if argument is None:
        return None
    inner = _in_brackets(argument.text)
    if inner in _NOTHING or inner.startswith(("new ", "std::make_", "nullptr")):
        return None
    bare = _IN_PLACE.sub("", inner, count=1)
    return argument._replace(value=_constant(bare, reading.code), empty=not bare)


def built_in_declaration(reading: Reading, top: Node) -> tuple[Argument, ...]:
    """What `std::optional<at::G> g(true);` builds its guard with."""
    outer: Node | None = top
    while outer is not None and outer.type not in ("declaration", "field_declaration", *BLOCKS):
        if outer.type in ("call_expression", "argument_list", "init_declarator"):
            return ()
        outer = outer.parent
    if outer is None or outer.type in BLOCKS:
        return ()
    value = outer.child_by_field_name("default_value")
    declarator = outer.child_by_field_name("declarator")
    if declarator is not None and declarator.type == "init_declarator":
        value = declarator.child_by_field_name("value")
    elif declarator is not None and declarator.type == "function_declarator":
        # `std::optional<at::G> g(enabled);` in a body is read as a function.
        in_body = outer.parent is not None and outer.parent.type == "compound_statement"
        value = declarator.child_by_field_name("parameters") if in_body else None
    if value is None or value.type == "call_expression":
        return ()
    argument = constructor_argument(reading, value)
    return (argument,) if argument is not None and not (argument.empty and "in_place" not in argument.text) else ()


_CONSTANTS = {"true": True, "1": True, "false": False, "0": False}
_WRAPPED = re.compile(r"(?:bool\s*)?(?:\((?P<round>[^()]*)\)|\{(?P<curly>[^{}]*)\})")


_CONSTEXPR = re.compile(rb"constexpr(?<!\wconstexpr)\s+bool\s+(\w+)\s*(?:=\s*|\{\s*)(true|false)\s*\}?\s*;")


@lru_cache(maxsize=2)
def _constants_of(code: bytes) -> dict[bytes, set[bytes]]:
    """The values that the file gives its constants of type bool."""
    found: dict[bytes, set[bytes]] = defaultdict(set)
    for name, value in _CONSTEXPR.findall(code):
        found[name].add(value)
    return dict(found)


def _constant(written: str, code: bytes) -> bool | None:
    """The value of a bool that the file itself decides: `true`, `(true)`, `!false`, `bool{1}`, a constexpr."""
    turned = False
    for _ in range(8):
        if written.startswith("!"):
            written, turned = written[1:].strip(), not turned
        elif (wrapped := _WRAPPED.fullmatch(written)) is not None:
            written = (wrapped["round"] if wrapped["round"] is not None else wrapped["curly"]).strip()
        else:
            break
    value = _CONSTANTS.get(written)
    if value is None and written.isidentifier() and written.isascii():
        given = _constants_of(code).get(written.encode(), set())
        value = _CONSTANTS[next(iter(given)).decode()] if len(given) == 1 else None
    return None if value is None else value is not turned
