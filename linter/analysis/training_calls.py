"""Calls that have to do with training: gradients are computed, asked for, or used."""

from __future__ import annotations

from ..facts import Call
from ..facts.expressions import LambdaExpression, last_name, pointee, truth_of
from ..lazy_regex import lazy_regex

_REQUIRES_GRAD = frozenset({"requires_grad_", "set_requires_grad", "requires_grad"})
_OPTIMIZER = lazy_regex(
    r"[oO]pt(?:im(?:i[sz]er)?)?(?:s|_?\d+|_?[A-Z]|_\w{1,3})?_?$|[aA]dam\w*$|[sS][gG][dD]_?$|(?:scaler|updater|solver)_?$"
)
"""Objects whose `step` changes parameters. An environment, a simulation and a decoder step as well."""


def training_in(call: Call) -> str:
    """What a call has to do with training, as messages say it; empty when it has nothing."""
    if call.name in _REQUIRES_GRAD and not _turns_off(call):
        return "a tensor is made to require gradients"
    return learning_in(call)


def learning_in(call: Call) -> str:
    """The same of gradients that are computed or used; one can also be asked for in vain."""
    method = call.name == "backward" and (call.receiver or call.path[-2:-1] == ("autograd",))
    if method or call.path[-2:] == ("autograd", "grad"):
        return "gradients are computed"
    return update_in(call)


def update_in(call: Call) -> str:
    """What a call has to do with an optimizer's changes, as messages say it; empty when it has nothing."""
    if call.receiver and (call.name == "zero_grad" or (call.name == "step" and _is_optimizers(call))):
        return "an optimizer steps"
    return ""


def _is_optimizers(call: Call) -> bool:
    """Whether `step` is an optimizer's: it takes nothing, or the function that computes the loss."""
    assert call.receiver is not None
    if any(not isinstance(argument, LambdaExpression) for argument in call.arguments[:1]):
        return last_name(call.receiver) == "scaler"  # of mixed precision: it is given the optimizer
    return _OPTIMIZER.search(last_name(pointee(call.receiver))) is not None


def _turns_off(call: Call) -> bool:
    # `tensor.requires_grad()` asks; `torch::requires_grad()` and `options.requires_grad(true)` set.
    asks = call.name == "requires_grad" and bool(call.receiver) and not call.arguments
    given = call.arguments[0] if call.arguments else None
    return asks or truth_of(given) is False or last_name(given) == "nullopt"
