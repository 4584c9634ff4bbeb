"""What is recorded in its own thread: the machine looks for it where work is handed to one."""

from __future__ import annotations

from collections.abc import Iterable

from guardfix.torch_ops import Op

from .paths import Interpreter, Place
from .state import State
from .values import CERTAIN, Grad, Opaque, Recorded, Ref, Tensor, Traced


def note_recorded(machine: Interpreter, what: str, state: State, place: Place) -> None:
    """A model runs, or an op computes with what requires grad."""
    if machine.traced is not None:
        machine.traced.append(Traced(place.step(what), state.modes, None))
    if machine.recorded is not None and state.modes.records:
        machine.recorded.append(Recorded(place.step(f"{what} is recorded there"), state.doubts, place.calls))


def note_op(machine: Interpreter, name: str, row: Op, sources: Grad, state: State, place: Place) -> None:
    """An op computes; it counts if a parameter, or a tensor that is known to require grad, is among its operands.

    In C++, where what threads are given is typed, what is declared or used as a tensor counts as well.
    """
    if machine.traced is not None:
        machine.traced.append(Traced(place.step(f"`{name}`"), state.modes, row))
    if machine.recorded is None or not sources:
        return
    things = [state.heap.get(source) for source in sources]
    known = CERTAIN in sources or any(isinstance(thing, Tensor) for thing in things)
    typed = place.file.language != "python" and any(isinstance(thing, Opaque) and thing.tensor for thing in things)
    computes = bool(row.writes) or (row.results[:1] == ("new",) and name not in _GATHERS)
    if known or (typed and computes):
        note_recorded(machine, f"`{name}`", state, place)


_GATHERS = frozenset({"stack", "cat", "clone"})
"""Ops that only bring data together; the table doesn't tell them from those that compute."""


def note_operands(operands: Iterable[Ref], state: State) -> None:
    """What a recorded op computes with: of inference tensors, those that an optimizer will fail to change."""
    for ref in operands:
        tensor = state.tensor(ref)
        needs = tensor is not None and ((tensor.inference and tensor.leaf) or tensor.gradient is not None)
        if tensor is not None and needs and CERTAIN in tensor.grad:
            state.change(ref, awaits_gradient=True)


def note_saving(saved: Ref, because: Grad, name: str, state: State, place: Place) -> None:
    """For who watches: an op saves a tensor if one of these sources requires grad."""
    tensor = state.tensor(saved)
    if tensor is not None and because and state.modes.records:
        perhaps = "saves" if CERTAIN in because else "may save"
        step = place.step(f"`{name}` {perhaps} it for backward")
        if step not in tensor.saved:
            state.change(saved, saved=(*tensor.saved, step))
