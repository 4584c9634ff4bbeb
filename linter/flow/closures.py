"""Functions of the program: what is written of them, and how a call binds their parameters."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.bodies import Body
from ..facts.expressions import Expression
from .paths import Interpreter, Keywords, Place
from .state import State
from .values import (
    Closure,
    Const,
    Items,
    Table,
    Value,
    literal_of,
)

TYPE = "<type> "
"""In front of the names of types in a frame."""


def changed(closure: Closure, **fields: object) -> Closure:
    values = {field: getattr(closure, field) for field in closure.__struct_fields__}
    return Closure(**{**values, **fields})


def instantiated(closure: Closure, given: Sequence[Expression]) -> Closure:
    """A C++ template with the types and values that a call names: `run<c10::InferenceMode, true>(x)`."""
    named = (pair for pair in zip(closure.body.type_parameters, given, strict=False) if pair[0])
    values = ((name, one, literal_of(one)) for name, one in named)
    types = ((TYPE + name, Const(one)) if value is None else (name, value) for name, one, value in values)
    return changed(closure, types=tuple(types))


def is_static(closure: Closure) -> bool:
    return any(str(decorator) == "staticmethod" for decorator in closure.body.decorators)


def is_property(closure: Closure) -> bool:
    return any(
        str(decorator) in ("property", "cached_property", "functools.cached_property")
        for decorator in closure.body.decorators
    )


def bound_arguments(
    body: Body, arguments: tuple[Value, ...], keywords: Keywords, machine: Interpreter, state: State, place: Place
) -> dict[str, Value]:
    """The parameters of a function with what a call gives them."""
    given: dict[str, Value] = {}
    left = list(arguments)
    by_name = dict(keywords)
    for parameter in body.parameters:
        if parameter.mark == "*":
            given[parameter.name] = state.add(Items("()", tuple(left)))
            left = []
        elif parameter.mark == "**":
            given[parameter.name] = state.add(Table(tuple((Const(name), value) for name, value in by_name.items())))
        elif left and parameter.mark != "=":
            given[parameter.name] = left.pop(0)
        elif parameter.name in by_name:
            given[parameter.name] = by_name.pop(parameter.name)
        elif parameter.default is not None:
            results = machine.evaluate(parameter.default, state, place)
            given[parameter.name] = results[0][1] if results else state.opaque(parameter.name)  # one that raises
        else:
            given[parameter.name] = machine.parameter(parameter, state, place)
    return given
