"""Declarators of C++: which name is declared, and through which `&`, `*` and brackets ([dcl.decl])."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...named_tuples import NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

_POINTERS = frozenset(
    {
        "pointer_declarator",
        "reference_declarator",
        "abstract_pointer_declarator",
        "abstract_reference_declarator",
    }
)
_NAMES = frozenset(
    {
        "identifier",
        "field_identifier",
        "type_identifier",
        "qualified_identifier",
        "operator_name",
        "structured_binding_declarator",
    }
)


class Declared(NamedTuple):
    """What a declarator declares."""

    name: Node | None
    """The names and their brackets, of a structured binding."""
    marks: str
    """`&`, `*`, `&&` and so on, from the outermost to the name."""


def declared_by(declarator: Node | None) -> Declared:
    """What `*x`, `&x`, `x[3]`, `(*callback)(int)`, `... rest`, or a declarator without a name declares."""
    marks = ""
    while declarator is not None and declarator.type not in _NAMES:
        if not declarator.type.endswith("declarator"):
            return Declared(None, marks)
        if declarator.type in _POINTERS and declarator.children:
            marks += declarator.children[0].type
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in declarator.named_children if c.type in _NAMES or "declarator" in c.type), None)
        declarator = inner
    return Declared(declarator, marks)


def function_declarator(node: Node) -> Node | None:
    """The function_declarator below pointers and references."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            inner = next((child for child in declarator.named_children if child.type.endswith("declarator")), None)
        declarator = inner
    return declarator


def marks_before(declarator: Node | None) -> str:
    """The `&` and `*` of a function's result, which the grammar gives to the declarator: `at::Tensor& f()`."""
    marks = ""
    while declarator is not None and declarator.type in _POINTERS:
        marks += declarator.children[0].type
        inner = declarator.child_by_field_name("declarator")
        declarator = inner or next((c for c in declarator.named_children if c.type.endswith("declarator")), None)
    return marks
