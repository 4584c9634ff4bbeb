"""Statements of a compiled function, as closures over their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.account import pay, weight
from .calls.call_costs import LARGEST
from .script_running import LINE
from .script_source import ScriptStatement
from .script_values import Enumerator, ScriptObject
from .type_annotations import Type, World, has_type

Env = dict[Any, Any]
ScriptExpression = Callable[[Env], Any]


def run_block(body: tuple[ScriptStatement, ...], env: Env) -> tuple[Any] | None:
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


def has_one_of(value: Any, types: list[Type], world: World) -> bool:
    pay(weight(value, LARGEST))
    return any(has_type(value, type_, world) for type_ in types)


def class_constant(instance: ScriptObject, name: str) -> Any:
    constants = instance.script_class.constants
    if name in constants:
        return constants[name]
    raise RuntimeError(f"{instance.script_class.qualified_name} has no value for `{name}`")


def field_of(value: Any, name: str) -> Any:
    if isinstance(value, Enumerator) and name in ("name", "value"):
        return value.name if name == "name" else value.value
    if isinstance(value, tuple) and name in getattr(value, "_fields", ()):
        return getattr(value, name)
    raise RuntimeError(f"a {type(value).__name__} has no attribute `{name}` in TorchScript")
