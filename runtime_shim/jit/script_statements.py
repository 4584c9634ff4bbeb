"""Statements of a compiled function, as closures over their parts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from ..core.resource_budget import pay, weight
from .calls.call_costs import LARGEST
from .script_running import LINE
from .script_source import ScriptStatement
from .script_values import Enumerator, ScriptObject
from .type_annotations import Type, World, has_type

Env = dict[Any, Any]
ScriptExpression = Callable[[Env], Any]


def run_block(body: tuple[ScriptStatement, ...], env: Env) -> tuple[object] | None:
    for statement in body:
        result = statement(env)
        if result is not None:
            return result
    return None


def evaluating(line: int, expression: ScriptExpression) -> ScriptStatement:
    def run(env: Env) -> None:
        env[LINE] = line
        expression(env)

    return run


def returning(line: int, expression: ScriptExpression) -> ScriptStatement:
    def run(env: Env) -> tuple[Any]:
        env[LINE] = line
        return (expression(env),)

    return run


def assigning_name(line: int, name: str, expression: ScriptExpression) -> ScriptStatement:
    def run(env: Env) -> None:
        env[LINE] = line
        env[name] = expression(env)

    return run


def assigning_names(line: int, names: list[str], expression: ScriptExpression) -> ScriptStatement:
    count = len(names)

    def run(env: Env) -> None:
        env[LINE] = line
        values = expression(env)
        if len(values) != count:
            raise RuntimeError(f"Provided list to unpack has {len(values)} elements, expected {count}")
        env.update(zip(names, values, strict=True))

    return run


def assigning_slot(line: int, owner: ScriptExpression, name: str, expression: ScriptExpression) -> ScriptStatement:
    def run(env: Env) -> None:
        env[LINE] = line
        instance = owner(env)
        if not isinstance(instance, ScriptObject) or name not in instance.script_class.attributes:
            raise RuntimeError(f"`{name}` is not an attribute that can be set")
        instance.slots[name] = expression(env)

    return run


def while_loop(line: int, test: ScriptExpression, body: tuple[ScriptStatement, ...]) -> ScriptStatement:
    steps = 1 + len(body)

    def run(env: Env) -> tuple[Any] | None:
        env[LINE] = line
        while test(env):
            pay(steps)
            for statement in body:
                result = statement(env)
                if result is not None:
                    return result
        return None

    return run


def for_loop(line: int, name: str, count: ScriptExpression, body: tuple[ScriptStatement, ...]) -> ScriptStatement:
    steps = 1 + len(body)

    def run(env: Env) -> tuple[Any] | None:
        env[LINE] = line
        for index in range(count(env)):
            pay(steps)
            env[name] = index
            for statement in body:
                result = statement(env)
                if result is not None:
                    return result
        return None

    return run


def has_one_of(value: object, types: list[Type], world: World) -> bool:
    pay(weight(value, LARGEST))
    return any(has_type(value, type_, world) for type_ in types)


def class_constant(instance: ScriptObject, name: str) -> object:
    constants = instance.script_class.constants
    if name in constants:
        return constants[name]
    raise RuntimeError(f"{instance.script_class.qualified_name} has no value for `{name}`")


def field_of(value: object, name: str) -> object:
    if isinstance(value, Enumerator) and name in ("name", "value"):
        return value.name if name == "name" else value.value
    if isinstance(value, tuple) and name in getattr(value, "_fields", ()):
        return getattr(value, name)
    raise RuntimeError(f"a {type(value).__name__} has no attribute `{name}` in TorchScript")


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


def decided(node: ast.expr, classes: Mapping[str, str], value: Callable[[ast.expr], object]) -> bool | None:
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
