"""What tensors are, and how they come about: new ones, views and aliases, what is made where nothing is recorded."""

from __future__ import annotations

from collections.abc import Sequence

from . import sharing, unnoticed
from .guards_entered import opened_by, why_unrecorded
from .paths import Keywords, Place
from .state import State
from .values import (
    CERTAIN,
    NOT_REQUIRED,
    Grad,
    GuardValue,
    Instance,
    Items,
    Opaque,
    Ref,
    SavingHazard,
    Step,
    Table,
    Tensor,
    Value,
)


def may_be_tensor(value: Value, state: State) -> bool:
    thing = state.thing(value)
    return isinstance(thing, Tensor) or (isinstance(thing, Opaque) and thing.tensor is not False)


def is_tensor(value: Value, state: State) -> bool:
    """Whether something shows that the value is a tensor."""
    thing = state.thing(value)
    return (isinstance(thing, Tensor) and thing.shown) or (isinstance(thing, Opaque) and thing.tensor is True)


def called(value: Value, state: State, fallback: str = "") -> str:
    """How messages call a value."""
    thing = state.thing(value)
    return (thing.name if isinstance(thing, (Tensor, Opaque)) else "") or fallback


def made_as_parameter(tensor: Tensor) -> Step | None:
    """Where an object's parameter was made under a guard: what computes with it, or trains it, is right by itself."""
    given = tensor.leaf and CERTAIN in tensor.grad and ("." in tensor.name or "->" in tensor.name)
    return tensor.made[-1] if given and tensor.made else None


def is_inference(value: Value, state: State) -> bool | None:
    thing = state.thing(value)
    return thing.inference if isinstance(thing, Tensor) else None


def tensors_in(value: Value, state: State) -> list[Ref]:
    """The tensors that an argument is or holds."""
    thing = state.thing(value)
    if isinstance(thing, Items):
        inner = [*thing.values, *([thing.rest] if thing.rest is not None else [])]
        return [one for item in inner for one in tensors_in(item, state)]
    if isinstance(value, Ref) and may_be_tensor(value, state):
        return [value]
    return []


def new_tensor(
    state: State,
    place: Place,
    what: str,
    *,
    grad: Grad = NOT_REQUIRED,
    hazards: tuple[SavingHazard, ...] = (),
    presumed: str = "",
    shown: bool = True,
    open_: bool = False,
    leaf: bool | None = None,
    unrecorded: tuple[Step, ...] = (),
) -> Ref:
    """A tensor with its own storage: an inference tensor if and only if it is made in the mode."""
    made: tuple[Step, ...] = ()
    guard: GuardValue | None = None
    if state.modes.inference is not False:
        guard = opened_by(state, "inference")
        opening = (Step(guard.path, guard.span, "inference mode begins"),) if guard is not None else ()
        made = (*opening, *place.story, place.step(f"{what} makes an inference tensor"))
    off = why_unrecorded(state) if unrecorded else None
    return state.add(
        Tensor(
            state.modes.inference,
            grad,
            leaf if leaf is not None else not grad,
            made,
            guard,
            hazards,
            None,
            presumed,
            shown,
            open_,
            unrecorded,
            off,
        )
    )


def deep_copy(value: Value, state: State, place: Place, copied: dict[int, Value]) -> Value:
    """What `copy.deepcopy` gives: new tensors, in objects and containers like those that it is given."""
    thing = state.thing(value)
    if not isinstance(value, Ref) or thing is None:
        return value
    if value.number in copied:
        return copied[value.number]
    if isinstance(thing, Tensor):
        made = new_tensor(state, place, "`deepcopy`", grad=thing.grad, leaf=True)
        copied[value.number] = made
        return made
    if isinstance(thing, Opaque):
        made = state.opaque(thing.name, tensor=thing.tensor, module=thing.module)
    elif isinstance(thing, (Instance, Items, Table)):
        made = state.add(thing)
    else:
        return state.opaque()
    copied[value.number] = made

    def inner(one: Value) -> Value:
        return deep_copy(one, state, place, copied)

    if isinstance(thing, Instance):
        state.change(made, attributes={name: inner(held) for name, held in thing.attributes.items()})
    elif isinstance(thing, (Items, Table)):
        rest = inner(thing.rest) if thing.rest is not None else None
        if isinstance(thing, Items):
            state.change(made, values=tuple(map(inner, thing.values)), rest=rest)
        else:
            state.change(made, pairs=tuple((key, inner(held)) for key, held in thing.pairs), rest=rest)
    return made


def alias(state: State, source: Ref, *, grad: Grad | None = None, view: bool = False, perhaps: bool = False) -> Ref:
    """A tensor over another one's storage, of the same kind; `perhaps`: or that one itself, or a copy."""
    thing = state.heap[source.number]
    if isinstance(thing, Tensor):
        base = thing.base if thing.base is not None else source.number
        kept = thing.grad if grad is None else grad
        made = thing._replace(
            grad=kept, base=base if view else None, hazards=thing.hazards if kept else (), leaf=None, named=False
        )
        off = why_unrecorded(state) if view and state.modes.records is False else None
        if off is not None:
            begins = Step(off.path, off.span, f"`{off.name}` begins: nothing is recorded")
            made = made._replace(unrecorded=(begins,), off=off, untracked=off)
        ref = state.add(made._replace(root=None, sharing=(), perhaps=False))
        if view or perhaps:
            sharing.share(state, source, ref, perhaps=perhaps)
        return ref
    kept = state.grad_of(source) if grad is None else grad
    made = Tensor(None, kept, None, base=source.number if view else None, foreign=unnoticed.is_foreign(thing))
    return state.add(made._replace(guard=unnoticed.perhaps_inference(thing)))


def lost_by(tensor: Tensor, state: State) -> tuple[Step, ...]:
    """Why what is made of a tensor has no graph, if it hasn't."""
    off = why_unrecorded(state)
    if tensor.grad and state.modes.records is False and off is not None:
        return (Step(off.path, off.span, f"`{off.name}` begins: nothing is recorded"),)
    return () if tensor.grad else tensor.unrecorded


def of_view(source: Ref, grad: Grad, state: State) -> Grad:
    """Whether a view that is made where nothing is recorded requires grad.

    It says so if its base does, so that nothing raises where it is differentiated, but no gradient comes to it, so that
    nothing is saved for it.
    """
    told = state.grad_of(source) and is_inference(source, state) is not True
    return frozenset((state.number(),)) if told else grad


def unknown_result(state: State, values: Sequence[Value], keywords: Keywords, origin: str = "") -> Ref:
    """What an unknown function gives: anything, from any of its arguments."""
    return state.opaque(origin=origin)


def few_hazards(hazards: tuple[SavingHazard, ...]) -> tuple[SavingHazard, ...]:
    return tuple(dict.fromkeys(hazards))[:6]


def hazards_of(ref: Ref, state: State) -> tuple[SavingHazard, ...]:
    tensor = state.tensor(ref)
    return tensor.hazards if tensor is not None else ()
