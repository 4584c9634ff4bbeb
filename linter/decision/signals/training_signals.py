"""Signals against inference: gradients are made or used under the guard."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts import Call
from ...facts.expressions import last_name, truth_of
from ...findings import Side
from ..scene import Scene
from ..signal_kinds import Sighting, Weight, shown, signal

_REQUIRES_GRAD = frozenset({"requires_grad_", "set_requires_grad", "requires_grad"})


@signal("trains", side=Side.AGAINST_INFERENCE, weight=Weight.STRONG)
def trains(scene: Scene) -> Iterator[Sighting]:
    """`backward()`, `autograd::grad`, `requires_grad_` or an optimizer's step is called below the guard"""
    for call in scene.calls_below():
        what = _training(call)
        if what:
            yield Sighting(f"{what}: `{shown(call.callee)}`", call.span.start)
            return


def _training(call: Call) -> str:
    """What a call has to do with training; empty when it has nothing."""
    method = call.name == "backward" and (call.receiver or call.path[-2:-1] == ("autograd",))
    if method or call.path[-2:] == ("autograd", "grad"):
        return "gradients are computed under the guard"
    if call.name in _REQUIRES_GRAD and not _turns_off(call):
        return "a tensor is made to require gradients under the guard"
    if call.name in ("step", "zero_grad") and call.receiver:
        return "an optimizer steps under the guard"
    return ""


def _turns_off(call: Call) -> bool:
    # `tensor.requires_grad()` asks; `torch::requires_grad()` and `options.requires_grad(true)` set.
    asks = call.name == "requires_grad" and bool(call.receiver) and not call.arguments
    given = call.arguments[0] if call.arguments else None
    return asks or truth_of(given) is False or last_name(given) == "nullopt"
