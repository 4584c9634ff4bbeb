"""Operators: on tensors as the ops that they spell, on others as far as their values are known."""

from __future__ import annotations

import guardfix.torch_ops as torch_ops  # `from guardfix import …` would import the library

from ..facts.expressions import Operation
from . import making, torch_calls, unnoticed
from .paths import Interpreter, Place, Results
from .state import State
from .values import (
    NONE,
    Const,
    Items,
    Opaque,
    Plain,
    Ref,
    Tensor,
    Truth,
    Value,
)

_COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})
_NEVER_THE_SAME = frozenset({"<", ">", "!="})


def apply_operator(
    machine: Interpreter, expression: Operation, values: list[Value], state: State, place: Place
) -> Results:
    """`a * b`, `-a`, `a < b`."""
    symbol = expression.operator
    if symbol in ("is", "is not", "in", "not in", "==", "!=") and len(values) == 2:
        told = _identity(symbol, values[0], values[1], state)
        if told is not None:
            return [(state, told)]
    if all(isinstance(value, Const) for value in values):
        return [(state, _constant(symbol, values, state))]
    if not any(making.may_be_tensor(value, state) for value in values) or any(
        isinstance(value, Const) and isinstance(value.value, str) for value in values
    ):
        if symbol in _COMPARISONS and len(values) == 2:
            return [(state, _compared(symbol, values[0], values[1]))]
        if any(value == NONE for value in values):
            return []  # None has no operators: the program doesn't come to this
        things = [state.thing(value) for value in values]
        if symbol == "*" and isinstance(things[0], Items) and len(things[0].values) == 1:
            return [(state, state.add(Items("[]", (), things[0].values[0])))]  # `[None] * n`
        if symbol == "+" and len(things) == 2 and all(isinstance(thing, Items) for thing in things):
            left, right = (thing for thing in things if isinstance(thing, Items))
            return [
                (state, state.add(left._replace(values=(*left.values, *right.values), rest=left.rest or right.rest)))
            ]
        if any(isinstance(thing, Items) for thing in things):
            return [(state, state.add(Items("[]", (), state.opaque())))]
        return [(state, state.plain())]
    if any(value == NONE for value in values):
        return []
    shown = any(making.is_tensor(value, state) for value in values)
    if symbol in _COMPARISONS and not shown:
        return [(state, _compared(symbol, *values))] if len(values) == 2 else [(state, state.plain())]
    rows = torch_ops.operator(symbol if len(values) == 2 else f"unary {symbol}")
    if not rows:
        return [(state, state.opaque())]
    results = torch_calls.apply(machine, rows, values, (), state, place, symbol, shown=shown)
    if not shown:
        for after, result in results:
            tensor = after.tensor(result)
            operand = next(
                (making.called(value, after) for value in values if making.may_be_tensor(value, after)),
                "",
            )
            if tensor is not None and isinstance(result, Ref) and not tensor.presumed:
                after.change(result, presumed=f"if `{operand}` is a tensor" if operand else "if it is a tensor")
    return results


def _constant(symbol: str, values: list[Value], state: State) -> Value:
    given = [value.value for value in values if isinstance(value, Const)]
    try:
        if len(given) == 2:
            left, right = given
            match symbol:
                case "+":
                    return Const(left + right)  # type: ignore[operator]
                case "-":
                    return Const(left - right)  # type: ignore[operator]
                case "*":
                    return Const(left * right) if not isinstance(left, str) else state.plain()  # type: ignore[operator]
                case "<":
                    return Const(left < right)  # type: ignore[operator]
                case ">":
                    return Const(left > right)  # type: ignore[operator]
                case "<=":
                    return Const(left <= right)  # type: ignore[operator]
                case ">=":
                    return Const(left >= right)  # type: ignore[operator]
                case "==":
                    return Const(left == right)
                case "!=":
                    return Const(left != right)
        elif symbol == "-":
            return Const(-given[0])  # type: ignore[operator]
    except TypeError:
        pass
    return state.plain()


def _identity(symbol: str, left: Value, right: Value, state: State) -> Value | None:
    """`x is None`, `x == y` of the same value."""
    negated = symbol in ("is not", "not in", "!=")
    if symbol in ("in", "not in"):
        return Truth(("in", left, right), negated)
    if NONE in (left, right):
        other = right if left == NONE else left
        if other == NONE:
            return Const(not negated)
        thing = state.thing(other)
        if (
            isinstance(other, Plain)
            or (isinstance(other, Ref) and not isinstance(thing, Opaque))
            or isinstance(other, Const)
        ):
            return Const(negated)
        if isinstance(other, Ref):
            return Truth(("none", other), negated)
        return Const(negated)
    if symbol in ("is", "is not"):
        return Const(not negated) if left == right else Truth(("is", left, right), negated)
    if left == right and not making.may_be_tensor(left, state):
        return Const(not negated)
    return None


def _compared(symbol: str, left: Value, right: Value) -> Value:
    if left == right:
        return Const(symbol not in _NEVER_THE_SAME)
    negated = symbol in (">=", "<=", "!=")
    plain = {">=": "<", "<=": ">", "!=": "=="}.get(symbol, symbol)
    return Truth((plain, left, right), negated)


def augmented(
    machine: Interpreter, symbol: str, old: Value, given: Value, state: State, place: Place, name: str
) -> Results:
    """`old += given`: in place where it is a tensor."""
    thing = state.thing(old)
    if isinstance(thing, Items):
        more = state.thing(given)
        extended = Items(thing.kind, (*thing.values, *(more.values if isinstance(more, Items) else ())), thing.rest)
        assert isinstance(old, Ref)
        state.heap[old.number] = (
            extended if isinstance(more, Items) else thing._replace(rest=thing.rest or state.opaque())
        )
        return [(state, old)]
    if isinstance(thing, Tensor):
        if thing.open and not thing.shown:
            return [(state, old)]
        rows = torch_ops.operator(symbol)
        if not rows:
            return [(state, old)]
        return torch_calls.apply(machine, rows, (old, given), (), state, place, symbol, shown=thing.shown)
    if isinstance(thing, Opaque):
        unnoticed.note_write(machine, old, state, place, symbol)
        if thing.tensor is True:
            return [(state, old)]
        return [(state, old if making.is_tensor(given, state) is False else state.opaque(thing.name))]
    plain = Operation(symbol.removesuffix("="), ())
    return apply_operator(machine, plain, [old, given], state, place)
