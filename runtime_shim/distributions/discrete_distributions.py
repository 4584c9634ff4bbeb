"""Distributions of whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..aten import FUNCTIONS
from ..core import dtypes
from ..core.dtypes import Size
from ..core.gradient_modes import no_grad
from ..core.tensor import Tensor
from ..nn import functional as F
from .continuous_distributions import Independent, Normal
from .distribution import (
    BOOLEAN,
    REAL,
    REAL_VECTOR,
    SIMPLEX,
    UNIT,
    Constraint,
    Distribution,
    together,
)


def _one_of(probs: object, logits: object) -> None:
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


def _held(probs: Tensor) -> Tensor:
    """Probabilities a little away from 0 and 1, so that their logarithms are finite."""
    eps = _EPS[probs.dtype]
    return probs.clamp(eps, 1 - eps)


_EPS = {dtypes.float32: 2.0**-23, dtypes.float64: 2.0**-52, dtypes.float16: 2.0**-10}


class Bernoulli(Distribution):
    """1 with a probability, which is given itself or by its log odds, else 0."""

    support = BOOLEAN
    arg_constraints: ClassVar = {"probs": UNIT, "logits": REAL}

    def __init__(self, probs: object = None, logits: object = None, validate_args: bool | None = None) -> None:
        _one_of(probs, logits)
        if probs is not None:
            (self.__dict__["probs"],) = together(probs)
        else:
            (self.__dict__["logits"],) = together(logits)
        self._by_probs = probs is not None
        super().__init__((self.probs if self._by_probs else self.logits).shape, validate_args=validate_args)

    def __getattr__(self, name: str) -> Any:
        if name == "probs":
            self.probs = FUNCTIONS["sigmoid"](self.__dict__["logits"])
            return self.probs
        if name == "logits":
            held = _held(self.__dict__["probs"])
            self.logits = FUNCTIONS["log"](held) - FUNCTIONS["log1p"](-held)
            return self.logits
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: object = ()) -> Tensor:
        with no_grad():
            return FUNCTIONS["bernoulli"](self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = FUNCTIONS["broadcast_tensors"](self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Categorical(Distribution):
    """0 to n - 1, with probabilities in proportion to `probs` (…, n) or to the exponentials of `logits`."""

    arg_constraints: ClassVar = {"probs": SIMPLEX, "logits": REAL_VECTOR}

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        _one_of(probs, logits)
        if probs is not None:
            if probs.dim() < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self.__dict__["probs"] = probs / probs.sum(-1, keepdim=True)
            shape = probs.shape
        else:
            assert logits is not None
            if logits.dim() < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self.__dict__["logits"] = logits - logits.logsumexp(-1, keepdim=True)
            shape = logits.shape
        self._num_events = shape[-1]
        super().__init__(Size(shape[:-1]), validate_args=validate_args)

    def __getattr__(self, name: str) -> Any:
        if name == "probs":
            self.probs = FUNCTIONS["softmax"](self.__dict__["logits"], -1)
            return self.probs
        if name == "logits":
            self.logits = FUNCTIONS["log"](_held(self.__dict__["probs"]))
            return self.logits
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def param_shape(self) -> Size:
        return (self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]).size()

    @property
    def support(self) -> Constraint:
        last = self._num_events - 1
        return Constraint(
            f"IntegerInterval(lower_bound=0, upper_bound={last})",
            lambda x: (x.remainder(1) == 0) & (x >= 0) & (x <= last),
        )

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        count = 1
        for n in sample_shape:
            count *= n
        with no_grad():
            drawn = FUNCTIONS["multinomial"](self.probs.reshape(-1, self._num_events), count, True).t()
        return drawn.reshape(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        index = value.long().unsqueeze(-1)
        index, logits = FUNCTIONS["broadcast_tensors"](index, self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=-_LARGEST[self.logits.dtype])
        return -(logits * self.probs).sum(-1)


_LARGEST = {dtypes.float32: 3.4028234663852886e38, dtypes.float64: 1.7976931348623157e308, dtypes.float16: 65504.0}


_REGISTERED: dict[tuple[type[Any], type[Any]], Callable[[Any, Any], Tensor]] = {}


def register_kl(type_p: type[object], type_q: type[object]) -> Callable[[Any], Any]:
    """A decorator: the function computes the divergence of these two kinds."""

    def decorate(function: Any) -> Any:
        _REGISTERED[type_p, type_q] = function
        return function

    return decorate


def kl_divergence(p: object, q: object) -> Tensor:
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
