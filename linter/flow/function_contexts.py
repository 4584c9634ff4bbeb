"""The `ctx` of an autograd function: what its methods save and mark."""

from __future__ import annotations

from . import making, model_names, saving_hazards, tensor_writes, unnoticed
from .paths import Interpreter, Place, Results
from .recording import note_saving
from .state import State
from .values import CERTAIN, NONE, NOT_REQUIRED, REQUIRED, Instance, Value


def call_context(
    machine: Interpreter, thing: Instance, name: str, arguments: tuple[Value, ...], state: State, place: Place
) -> Results:
    """Call a method of `ctx`."""
    if name == "save_for_backward":
        return _save(machine, thing, arguments, state, place)
    if name == "mark_dirty":
        for one in (one for given in arguments for one in making.tensors_in(given, state)):
            unnoticed.note_dirty(machine, one, state)
        return [(state, NONE)]
    # Of an autograd.Function, or the function that it keeps: `ctx.run(x)`.
    if state.modes.records is False and any(making.is_tensor(one, state) for one in arguments):
        return [(state, model_names.model_result(machine, f"ctx.{name}", NOT_REQUIRED, state, place))]
    return [(state, state.opaque(name))]


def _save(machine: Interpreter, thing: Instance, arguments: tuple[Value, ...], state: State, place: Place) -> Results:
    """`save_for_backward` raises for an inference tensor if some argument requires grad."""
    name = "save_for_backward"
    because = thing.attributes.get("<given>")
    grad = state.grad_of(because) if because is not None else NOT_REQUIRED if state.modes.inference else REQUIRED
    saved_ones = [one for saved in arguments for one in making.tensors_in(saved, state)]
    unnoticed.note_saved(machine, saved_ones, state, place)
    for one in saved_ones:
        tensor = state.tensor(one)
        if tensor is None or tensor.inference is not True or not tensor.shown:
            if machine.watches:
                note_saving(one, grad, name, state, place)
            continue
        if grad:
            hazard = saving_hazards.saving(machine, one, NONE, grad, state, place, name)
            doubt = "" if CERTAIN in grad else "something that the function is given must require grad"
            saving_hazards.report_hazard(machine, hazard._replace(doubt=doubt), state, place)
            if not tensor_writes.cured(one, state):
                return []
    return [(state, NONE)]
