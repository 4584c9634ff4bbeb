"""What keeps a guard that is made on the heap or in an optional."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...facts import Form, Holder
from ...facts.expressions import Expression, MemberAccess, last_name, pointee
from .cpp_declarators import declared_by

if TYPE_CHECKING:
    from tree_sitter import Node

    from .tree_reading import Reading

SMART = {
    "make_unique": Form.HEAP,
    "make_shared": Form.HEAP,
    "unique_ptr": Form.HEAP,
    "shared_ptr": Form.HEAP,
    "make_intrusive": Form.HEAP,
    "optional": Form.OPTIONAL,
    "OptionalGuard": Form.OPTIONAL,
    "make_optional": Form.OPTIONAL,
    "in_place_type_t": Form.OPTIONAL,
}
"""Templates and functions that hold a guard, with the form that it has there."""


def holder_of(reading: Reading, top: Node, statement: Node) -> Holder | None:
    """What is given the guard, climbing from its name through the expression that makes it."""
    current, raw = top, False
    while current != statement and (outer := reading.parents.of(current)) is not None:
        if outer.type == "new_expression":
            if outer.child_by_field_name("placement") is not None:
                return None  # its storage is somebody's, who destroys it by hand
            raw = True
        elif outer.type in ("init_declarator", "assignment_expression"):
            target = outer.child_by_field_name("declarator") or outer.child_by_field_name("left")
            if target is None or target.type == "pointer_expression":
                return None  # `*out = new G;` hands it on
            return Holder(_target(reading, target), outer.type == "init_declarator", raw)
        elif outer.type in ("declaration", "field_declaration"):
            declarator = outer.child_by_field_name("declarator")
            if current.type in ("template_type", "qualified_identifier") and declarator is not None:
                inner = declarator.child_by_field_name("declarator") or declarator
                return Holder(_target(reading, inner), True, False)
            return None
        elif outer.type == "argument_list":
            call = reading.parents.of(outer)
            callee = call.child_by_field_name("function") if call is not None else None
            called = reading.expressions.read(callee) if callee is not None else None
            if isinstance(called, MemberAccess) and called.name == "reset":
                return Holder(called.object, False, False)
            if last_name(called) not in SMART:
                return None
            raw = False
        elif outer.type in ("return_statement", "lambda_expression", "initializer_list"):
            return None
        current = outer
    return Holder(None, False, raw) if statement.type == "expression_statement" else None


def _target(reading: Reading, node: Node) -> Expression:
    """A declared name, without `*` and `&`, or what is assigned to."""
    return pointee(reading.expressions.read(declared_by(node).name or node))
