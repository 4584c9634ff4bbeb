"""What is differentiated: graphs that are missing, lost, or made in inference mode."""

from __future__ import annotations

from . import gradients, model_training
from .events import EventKind
from .guards_entered import opened_by
from .making import called, tensors_in
from .paths import Interpreter, Place
from .saving_hazards import report_hazard
from .state import State
from .tensor_writes import cured
from .values import (
    CERTAIN,
    Ref,
    Tensor,
    Value,
)


def differentiate(machine: Interpreter, value: Value, state: State, place: Place, name: str) -> bool:
    """`backward()` and `autograd.grad` of a value; False where that surely raises."""
    found = True
    model_training.note_training(state, place, name, value)
    for ref in tensors_in(value, state):
        tensor = state.tensor(ref)
        shown = called(ref, state)
        if tensor is None:
            if state.modes.inference:
                ran_in_inference(machine, shown, _GRADIENTS, name, state, place)
            continue
        covered = frozenset().union(*(hazard.sources for hazard in tensor.hazards)) if tensor.hazards else frozenset()
        if tensor.hazards and CERTAIN not in tensor.grad and tensor.grad <= covered and tensor.shown:
            for hazard in tensor.hazards:
                report_hazard(machine, hazard, state, place)
            found = cured(ref, state)
        elif not tensor.grad and tensor.shown and tensor.unrecorded:
            found = _tell_no_graph(machine, EventKind.NOT_RECORDED, ref, tensor, state, place, name)
        elif state.modes.inference and tensor.grad:
            ran_in_inference(machine, shown, _GRADIENTS, name, state, place, tensor.presumed)
        elif tensor.grad and name == "backward":
            gradients.add_gradients(machine, state, place)
    return found


def expect_gradient(machine: Interpreter, ref: Ref, state: State, place: Place, name: str) -> bool:
    """`register_hook` and `retain_grad`: a gradient must come to the tensor; False where that surely raises."""
    tensor = state.tensor(ref)
    if tensor is None or tensor.grad or not tensor.shown or not tensor.unrecorded:
        return True
    return _tell_no_graph(machine, EventKind.GRADIENT_EXPECTED, ref, tensor, state, place, name)


def _tell_no_graph(
    machine: Interpreter, kind: EventKind, ref: Ref, tensor: Tensor, state: State, place: Place, name: str
) -> bool:
    shown = called(ref, state)
    awaited = kind is EventKind.GRADIENT_EXPECTED
    subject = f"`{shown}`" if shown else "what is differentiated"
    machine.report(
        kind,
        state,
        place,
        variable=shown,
        what=f"`{name}` raises, for no gradient will come to it" if awaited else f"`{name}` finds no graph",
        steps=(*tensor.unrecorded, place.step(f"{subject} has no graph: `{name}` raises")),
        guard=tensor.off,
        presumed=tensor.presumed,
    )
    return cured(ref, state)


def tell_lost_gradients(machine: Interpreter, value: Value, state: State, place: Place) -> None:
    """A function's `backward` gives back gradients, through which one may want to differentiate again.

    What the engine leaves unrecorded it records where they are asked for. A `backward` that asks whether they are
    (`torch.is_grad_enabled()`) has its own answer to that.
    """
    if ("grad mode", "asked") in state.facts:
        return
    for ref in tensors_in(value, state):
        tensor = state.tensor(ref)
        guard = tensor.off if tensor is not None else None
        if tensor is not None and guard is not None and not guard.is_engine and tensor.unrecorded:
            machine.report(
                EventKind.HIGHER_ORDER_LOST,
                state,
                place,
                variable=tensor.name,
                what="nothing of it is recorded",
                steps=(*tensor.unrecorded, place.step("`backward` gives it back")),
                guard=guard,
                at=(guard.path, guard.span),
            )


_GRADIENTS = "every `.grad` that it makes is an inference tensor"


def ran_in_inference(
    machine: Interpreter, shown: str, what: str, name: str, state: State, place: Place, presumed: str = ""
) -> None:
    """What belongs to training runs in the mode: a graph from outside is differentiated, an optimizer steps."""
    machine.report(
        EventKind.BACKWARD_IN_INFERENCE,
        state,
        place,
        variable=shown,
        what=what,
        steps=(place.step(f"`{name}` runs in inference mode"),),
        guard=opened_by(state, "inference"),
        presumed=presumed,
    )
