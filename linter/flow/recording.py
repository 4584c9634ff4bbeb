"""What is recorded in a thread of its own: the machine looks for it where work is handed to one."""

from __future__ import annotations

from .paths import Interpreter, Place
from .state import State
from .values import CERTAIN, Grad, Recorded, Ref, Tensor


def note_recorded(machine: Interpreter, what: str, state: State, place: Place) -> None:
    """A model runs, or an op computes with what requires grad."""
    if machine.recorded is not None and state.modes.records:
        machine.recorded.append(Recorded(place.step(f"{what} is recorded there"), state.doubts))


def note_op(machine: Interpreter, name: str, sources: Grad, state: State, place: Place) -> None:
    """An op computes; it counts if a parameter, or a tensor that is known to require grad, is among its operands."""
    if machine.recorded is not None and any(
        source == CERTAIN or isinstance(state.heap.get(source), Tensor) for source in sources
    ):
        note_recorded(machine, f"`{name}`", state, place)


def note_saving(saved: Ref, because: Grad, name: str, state: State, place: Place) -> None:
    """For who watches: an op saves a tensor if one of these sources requires grad."""
    tensor = state.tensor(saved)
    if tensor is not None and because and state.modes.records:
        perhaps = "saves" if CERTAIN in because else "may save"
        step = place.step(f"`{name}` {perhaps} it for backward")
        if step not in tensor.saved:
            state.change(saved, saved=(*tensor.saved, step))
