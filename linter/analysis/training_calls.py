"""Calls that have to do with training: gradients are computed, asked for, or used."""

from __future__ import annotations

from ..facts import Call
from ..facts.expressions import last_name, truth_of

_REQUIRES_GRAD = frozenset({"requires_grad_", "set_requires_grad", "requires_grad"})


def training_in(call: Call) -> str:
    """What a call has to do with training, as messages say it; empty when it has nothing."""
    method = call.name == "backward" and (call.receiver or call.path[-2:-1] == ("autograd",))
    if method or call.path[-2:] == ("autograd", "grad"):
        return "gradients are computed"
    if call.name in _REQUIRES_GRAD and not _turns_off(call):
        return "a tensor is made to require gradients"
    if call.name in ("step", "zero_grad") and call.receiver:
        return "an optimizer steps"
    return ""


def _turns_off(call: Call) -> bool:
    # `tensor.requires_grad()` asks; `torch::requires_grad()` and `options.requires_grad(true)` set.
    asks = call.name == "requires_grad" and bool(call.receiver) and not call.arguments
    given = call.arguments[0] if call.arguments else None
    return asks or truth_of(given) is False or last_name(given) == "nullopt"
