"""Conditions that TorchScript decides while it compiles: what they rule out is not compiled.

Source: emitCondExpr and emitIfElseBlocks of torch/csrc/jit/frontend/ir_emitter.cpp of 2.13.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

_CLASSES = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Tensor": "Tensor"} | {
    name: name for name in ("bool", "complex", "dict", "float", "int", "list", "str", "tuple")
}
"""What an annotation's own name says that the value is, for types that are never None and nothing else as well."""


def class_of(annotation: ast.expr | None) -> str | None:
    """The class of a parameter's values, by its annotation; a Tensor without one, None where there may be several."""
    if annotation is None:
        return "Tensor"
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    name = annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", None)
    return _CLASSES.get(str(name))


def decided(node: ast.expr, classes: Mapping[str, str], value: Callable[[ast.expr], Any]) -> bool | None:
    """Whether a condition always holds or never; None where that shows only when it runs.

    `classes` are those of the parameters, as far as known; `value` gives what a name outside stands for.
    """
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, bool) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        operand = decided(node.operand, classes, value)
        return None if operand is None else not operand
    if isinstance(node, ast.BoolOp):
        parts = [decided(part, classes, value) for part in node.values]
        settling = isinstance(node.op, ast.Or)
        if settling in parts:
            return settling
        return None if None in parts else not settling
    if isinstance(node, ast.Compare):
        return _is_none(node, classes)
    if isinstance(node, ast.Call):
        return _called(node, classes)
    if isinstance(node, ast.Attribute):
        found = value(node)
        return found if isinstance(found, bool) else None
    return None


def _is_none(node: ast.Compare, classes: Mapping[str, str]) -> bool | None:
    """Of `x is None`, where x is of a type that None is not of."""
    (operator, *others), right = node.ops, node.comparators[0]
    if others or not isinstance(operator, ast.Is | ast.IsNot):
        return None
    if not (isinstance(right, ast.Constant) and right.value is None):
        return None
    known = isinstance(node.left, ast.Name) and node.left.id in classes
    return isinstance(operator, ast.IsNot) if known else None


def _called(node: ast.Call, classes: Mapping[str, str]) -> bool | None:
    """Of `torch.jit.is_scripting()`, and of `isinstance(x, T)` where the type of x is one class."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "is_scripting":
        return True
    if name != "isinstance" or len(node.args) != 2 or not isinstance(node.args[0], ast.Name):
        return None
    known = classes.get(node.args[0].id)
    asked = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
    wanted = [class_of(one) for one in asked]
    if known is None or None in wanted or any(isinstance(one, ast.Subscript) for one in asked):
        return None
    return known in wanted
