"""What a guard in another one's place would cause, as far as that is known: for fixes only.

A write below ADInplaceOrView moves no counter, and a view isn't tracked. That matters for tensors that somebody else
can see: arguments, members, saved tensors, and what shares memory with them. Under inference mode an unknown function
may give an inference tensor. Reference: ATen/core/LegacyTypeDispatch.h of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterable

from .events import EventKind
from .guards_entered import opened_by
from .paths import Interpreter, Place
from .state import State
from .values import GuardValue, Items, Opaque, Ref, Tensor, Value


def note_write(machine: Interpreter, ref: Value, state: State, place: Place, name: str) -> None:
    """Something writes to what may be a tensor."""
    if not place.file.instead:
        return
    thing = state.thing(ref)
    shown = thing.name if isinstance(thing, (Opaque, Tensor)) else ""
    known = isinstance(thing, Tensor) or (isinstance(thing, Opaque) and thing.tensor is True)
    if state.modes.below_view and known and is_foreign(thing):
        machine.report(
            EventKind.UNCOUNTED_WRITE,
            state,
            place,
            variable=shown,
            what=f"`{name}` writes to a tensor from outside",
            steps=(*place.story, place.step(f"`{name}` writes to it")),
            guard=opened_by(state, "below_view"),
        )
    _note_use(machine, ref, EventKind.INFERENCE_WRITTEN, f"`{name}` changes it in place", state, place)


def note_saved(machine: Interpreter, saved: Iterable[Ref], state: State, place: Place) -> None:
    """`save_for_backward` of what may be tensors."""
    for one in saved:
        _note_use(machine, one, EventKind.INFERENCE_SAVED, "`save_for_backward` saves it", state, place)


def note_leaf(machine: Interpreter, ref: Value, state: State, place: Place, name: str) -> None:
    """What may be a tensor is made to require grad."""
    _note_use(machine, ref, EventKind.INFERENCE_REQUIRES_GRAD, f"`{name}` makes it require grad", state, place)


def _note_use(machine: Interpreter, ref: Value, kind: EventKind, what: str, state: State, place: Place) -> None:
    """Something is done with what may be an inference tensor."""
    thing = state.thing(ref)
    under = perhaps_inference(thing)
    if under is None or not place.file.instead or state.modes.inference is not False:
        return
    assert isinstance(thing, (Opaque, Tensor))
    origin = thing.origin if isinstance(thing, Opaque) else ""
    machine.report(
        kind,
        state,
        place,
        variable=thing.name,
        what=what,
        steps=(place.step(what),),
        guard=under,
        doubt=f"what `{origin}` gives isn't known" if origin else "its kind isn't known",
    )


def note_returned(machine: Interpreter, value: Value, state: State, place: Place) -> None:
    """A function gives a value back to callers that aren't in sight."""
    if not place.file.instead or not state.modes.below_view or place.calls:
        return
    thing = state.thing(value)
    for one in thing.values if isinstance(thing, Items) else (value,):
        tensor = state.tensor(one)
        if tensor is not None and tensor.foreign and tensor.base is not None:
            machine.report(
                EventKind.UNTRACKED_VIEW,
                state,
                place,
                variable=tensor.name,
                what="a view of a tensor from outside is given back",
                steps=(place.step("it gives back a view"),),
                guard=opened_by(state, "below_view"),
            )


def note_dirty(machine: Interpreter, ref: Ref, state: State) -> None:
    """`mark_dirty` tells autograd about the writes to a tensor, so they no longer go unnoticed."""
    thing = state.thing(ref)
    name = thing.name if isinstance(thing, (Opaque, Tensor)) else ""
    for key, event in [*machine.events.items()]:
        if event.kind is EventKind.UNCOUNTED_WRITE and name and event.variable == name:
            del machine.events[key]


def is_foreign(thing: object) -> bool:
    """Whether somebody else can see a tensor."""
    return thing.foreign if isinstance(thing, Tensor) else isinstance(thing, Opaque) and not thing.origin


def perhaps_inference(thing: object) -> GuardValue | None:
    """The guard under which an unknown function gave something, which is an inference tensor if it is a new one."""
    if isinstance(thing, Opaque):
        return thing.under
    return thing.guard if isinstance(thing, Tensor) and thing.inference is None else None
