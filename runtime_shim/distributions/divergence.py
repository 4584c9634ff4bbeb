"""How far one distribution is from another: the Kullback-Leibler divergence of two of a kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..aten import FUNCTIONS
from ..core.tensor import Tensor
from ..nn import functional as F
from .continuous_distributions import Exponential, Independent, Laplace, Normal
from .discrete_distributions import Bernoulli, Categorical, Poisson

_REGISTERED: dict[tuple[type[Any], type[Any]], Callable[[Any, Any], Tensor]] = {}


def register_kl(type_p: type[Any], type_q: type[Any]) -> Callable[[Any], Any]:
    """A decorator: the function computes the divergence of these two kinds."""

    def decorate(function: Any) -> Any:
        _REGISTERED[type_p, type_q] = function
        return function

    return decorate


def kl_divergence(p: Any, q: Any) -> Tensor:
    """KL(p ‖ q) of each place of the batch; NotImplementedError for kinds that nothing is registered for."""
    for kind_p in type(p).__mro__:
        for kind_q in type(q).__mro__:
            if (kind_p, kind_q) in _REGISTERED:
                return _REGISTERED[kind_p, kind_q](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * FUNCTIONS["exp"](-apart / p.scale) - 1


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    inf = float("inf")
    success = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    success = success.masked_fill(q.probs == 0, inf).masked_fill(p.probs == 0, 0.0)
    failure = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    failure = failure.masked_fill(q.probs == 1, inf).masked_fill(p.probs == 1, 0.0)
    return success + failure


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    each = p.probs * (p.logits - q.logits)
    each = each.masked_fill((q.probs == 0).expand_as(each), float("inf"))
    return each.masked_fill((p.probs == 0).expand_as(each), 0.0).sum(-1)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return p._summed(kl_divergence(p.base_dist, q.base_dist))
