"""Models that one path runs in inference mode and also trains, and classes of which that holds across functions."""

from __future__ import annotations

import re

from ..facts.bodies import Body
from ..facts.statement_walk import words_in
from .events import EventKind
from .guards_entered import opened_by
from .paths import Interpreter, Place
from .state import State
from .values import NONE, ModelRun, Opaque, Ref, Tensor, Value

TRAINING_WORDS = "train|training|loss|step|fit|backward|learn|update"
"""In names of functions that train, also where something out of sight computes the gradients."""
_TRAINS = re.compile(rf"(?:^|_)(?:{TRAINING_WORDS})(?:_|$)")
_DIFFERENTIATES = frozenset({"backward", "manual_backward"})


def may_train(body: Body) -> bool:
    """Whether a function may train a model: by its name, or because it differentiates."""
    return _TRAINS.search(body.name) is not None or not _DIFFERENTIATES.isdisjoint(words_in(body))


def note_run(model: Value, shown: str, state: State, place: Place) -> None:
    """Something is called that may be a model."""
    if not isinstance(model, Ref) or state.modes.inference is None:
        return
    guard = opened_by(state, "inference") if state.modes.inference else None
    how = f"`{shown}` runs in inference mode" if guard is not None else f"`{shown}` runs"
    if not any(run.model == model.number and run.guard == guard for run in state.runs):
        state.runs |= {ModelRun(model.number, guard, (*place.story, place.step(how)))}


def note_training(state: State, place: Place, name: str, value: Value = NONE) -> None:
    """Something is differentiated; what the function has computed itself shows that autograd was on."""
    thing = state.thing(value)
    is_on = state.modes.records and not state.opened  # what switches it on itself may be called where it is off
    if is_on and (isinstance(thing, Tensor) or (isinstance(thing, Opaque) and thing.origin)):
        state.trains_in = place.body
    if not state.trained and not state.modes.inference:
        state.trained = (*place.story, place.step(f"`{name}` trains"))


def tell_shared(machine: Interpreter, state: State, place: Place) -> None:
    """At the end of a root: what it trains, and of that, what it also runs in inference mode."""
    if machine.testing:
        return
    trains = bool(state.trained) or _TRAINS.search(place.body.name) is not None
    normal = {run.model: run for run in state.runs if run.guard is None} if trains else {}
    machine.trained.update(filter(None, map(state.part_of_receiver, normal)))
    for run in state.runs if state.trained else ():
        if run.guard is not None and run.model in normal:
            machine.report(
                EventKind.MODEL_SHARED,
                state,
                place,
                variable="",
                what=f"`{place.body.name}` of {place.file.path}" if place.body.name else place.file.path,
                steps=(*run.steps, *normal[run.model].steps, *state.trained),
                guard=run.guard,
                at=(run.guard.path, run.guard.span),
            )
