"""What unknown code can reach from what it is given."""

from __future__ import annotations

from . import held_guards
from .state import State
from .values import (
    DECLARED,
    FILLED,
    Closure,
    Instance,
    Items,
    Method,
    Opaque,
    Partial,
    Ref,
    Table,
    Tensor,
    Value,
)


def unknown_call(state: State, values: tuple[Value, ...]) -> State:
    """What an unknown function may do to what it is given and what it can reach from there."""
    waiting = list(values)
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        if isinstance(value, (Method, Partial)):
            waiting.append(value.receiver if isinstance(value, Method) else value.callee)
            continue
        if isinstance(value, Closure) and value.receiver is not None:
            waiting.append(value.receiver)
            continue
        if not isinstance(value, Ref) or value.number in seen:
            continue
        seen.add(value.number)
        thing = state.thing(value)
        if isinstance(thing, Tensor):
            if thing.leaf and not thing.grad:
                # It may have been given requires_grad, or been written with what requires it.
                state.change(value, grad=frozenset((state.number(),)), leaf=None, unrecorded=())
        elif isinstance(thing, Instance):
            if thing.kind == held_guards.KIND:
                held_guards.forget(value, state, escapes=True)
                continue
            waiting += thing.attributes.values()
            if thing.kind in ("object", "module"):
                state.change(value, attributes={}, complete=False)
            elif "training" in thing.attributes:
                state.change(value, attributes={**thing.attributes, "training": state.plain()})
        elif isinstance(thing, Opaque):
            waiting += thing.attributes.values()
            state.change(value, attributes={}, origin=FILLED if thing.origin == DECLARED else thing.origin)
        elif isinstance(thing, Items):
            waiting += [*thing.values, *([thing.rest] if thing.rest is not None else [])]
            if thing.kind == "[]":
                state.heap[value.number] = Items(thing.kind, (), state.opaque())
        elif isinstance(thing, Table):
            waiting += [item for _, item in thing.pairs]
            state.heap[value.number] = thing._replace(pairs=(), rest=state.opaque())
    return state
