"""Transforms of values whose density is known, and the distributions that they make of others.

Source: torch/distributions/transforms.py, transformed_distribution.py, log_normal.py of PyTorch 2.13.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..aten import FUNCTIONS
from ..core.gradient_modes import no_grad
from ..core.supported_names import refuses_missing
from ..core.tensor import Tensor
from ..core.value_checks import finfo
from .continuous_distributions import Independent, Normal
from .distribution import POSITIVE, REAL, UNIT, Constraint, Distribution

_ABOVE_MINUS_ONE = Constraint("Interval(lower_bound=-1.0, upper_bound=1.0)", lambda x: (x >= -1) & (x <= 1))


class Transform:
    """A function of values, with its inverse and the logarithm of how much it stretches at a place.

    Subclasses define `_call`, `_inverse` and `log_abs_det_jacobian`. With `cache_size=1`, the inverse of the last
    result is the value that it came from, exactly.
    """

    bijective = False
    domain: Constraint = REAL
    codomain: Constraint = REAL
    sign: Any = 1

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._cached_x_y: tuple[Any, Any] = (None, None)

    @property
    def event_dim(self) -> int:
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        return _Inverse(self)

    def __call__(self, x: Tensor) -> Tensor:
        before, after = self._cached_x_y
        if self._cache_size and x is before:
            return after
        y = self._call(x)
        if self._cache_size:
            self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        before, after = self._cached_x_y
        if self._cache_size and y is after:
            return before
        x = self._inverse(y)
        if self._cache_size:
            self._cached_x_y = x, y
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The logarithm of |dy/dx| at `x`, where the transform gives `y`; summed over events."""
        raise NotImplementedError

    def forward_shape(self, shape: object) -> Any:
        return shape

    inverse_shape = forward_shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    """The other way around."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._inv = transform
        self.bijective, self.sign = transform.bijective, transform.sign
        self.domain, self.codomain = transform.codomain, transform.domain

    @property
    def inv(self) -> Transform:
        return self._inv

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._inv!r})"


class ComposeTransform(Transform):
    """One transform after the other."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = list(parts)
        self.bijective = all(part.bijective for part in self.parts)
        self.sign = math.prod(part.sign for part in self.parts) if self.parts else 1
        self.domain = self.parts[0].domain if self.parts else REAL
        self.codomain = self.parts[-1].codomain if self.parts else REAL

    @property
    def inv(self) -> Transform:
        return ComposeTransform([part.inv for part in reversed(self.parts)])

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return FUNCTIONS["zeros_like"](x)
        terms = []
        for part in self.parts:
            given, x = x, part(x)
            terms.append(
                sum_rightmost(part.log_abs_det_jacobian(given, x), self.domain.event_dim - part.domain.event_dim)
            )
        return sum(terms[1:], terms[0])

    def __repr__(self) -> str:
        inner = ",\n    ".join(map(repr, self.parts))
        return f"ComposeTransform(\n    {inner}\n)"


def _of_events(constraint: Constraint, count: int) -> Constraint:
    def holds(x: Tensor) -> Tensor:
        found = constraint.holds(x)
        return found.reshape(*found.shape[: found.dim() - count], -1).all(-1) if count else found

    return Constraint(f"IndependentConstraint({constraint!r}, {count})", holds, constraint.event_dim + count)


class _Elementwise(Transform):
    """A bijective transform of single numbers."""

    bijective = True

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = object.__hash__


class ExpTransform(_Elementwise):
    """exp(x)."""

    codomain = POSITIVE

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class SigmoidTransform(_Elementwise):
    """1 / (1 + exp(-x)), kept off 0 and 1."""

    codomain = UNIT

    def _call(self, x: Tensor) -> Tensor:
        limits = finfo(x.dtype)
        return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y: Tensor) -> Tensor:
        limits = finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        softplus = _softplus
        return -softplus(-x) - softplus(x)


class TanhTransform(_Elementwise):
    """tanh(x)."""

    codomain = _ABOVE_MINUS_ONE

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - _softplus(-2.0 * x))


class AffineTransform(Transform):
    """loc + scale * x; the last `event_dim` dimensions are one event."""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale = loc, scale
        self.domain = self.codomain = _of_events(REAL, event_dim) if event_dim else REAL
        self._event_dim = event_dim

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            found = self.scale.abs().log()
        else:
            found = FUNCTIONS["full_like"](x, math.log(abs(self.scale)))
        if self._event_dim:
            found = found.expand(x.shape)
        return sum_rightmost(found, self._event_dim).expand(x.shape[: x.dim() - self._event_dim])


identity_transform = ComposeTransform([])


class TransformedDistribution(Distribution):
    """What transforms make of the values of another distribution."""

    arg_constraints: ClassVar = {}

    def __init__(
        self, base_distribution: Any, transforms: Transform | Sequence[Transform], validate_args: bool | None = None
    ) -> None:
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(one, Transform) for one in self.transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        events = max([len(base_distribution.event_shape), *(one.codomain.event_dim for one in self.transforms)])
        extra = events - len(base_distribution.event_shape)
        self.base_dist: Any = Independent(base_distribution, extra) if extra else base_distribution
        shape = (*base_distribution.batch_shape, *base_distribution.event_shape)
        super().__init__(shape[: len(shape) - events], shape[len(shape) - events :], validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return bool(self.base_dist.has_rsample)

    @property
    def support(self) -> Constraint:
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        missing = len(self.event_shape) - found.event_dim
        return _of_events(found, missing) if missing > 0 else found

    def sample(self, sample_shape: object = ()) -> Tensor:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: object = ()) -> Tensor:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _transformed(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        events = len(self.event_shape)
        found: Any = 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(value)
            events += transform.domain.event_dim - transform.codomain.event_dim
            stretched = transform.log_abs_det_jacobian(x, value)
            found = found - sum_rightmost(stretched, events - transform.domain.event_dim)
            value = x
        inner = self.base_dist.log_prob(value)
        return found + sum_rightmost(inner, events - len(self.base_dist.event_shape))

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._monotone(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transformed(self.base_dist.icdf(self._monotone(value)))

    def _monotone(self, probability: Tensor) -> Tensor:
        """The probability, from the other end where the transforms turn the order around."""
        sign: Any = math.prod(transform.sign for transform in self.transforms)
        if isinstance(sign, int) and sign == 1:
            return probability
        return sign * (probability - 0.5) + 0.5

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class LogNormal(TransformedDistribution):
    """Numbers whose logarithms are distributed normally."""

    arg_constraints: ClassVar = {"loc": REAL, "scale": POSITIVE}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args)

    @property
    def loc(self) -> Tensor:
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        squared = self.scale.pow(2)
        return squared.expm1() * (2 * self.loc + squared).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


def sum_rightmost(value: object, count: int) -> Any:
    """The sum over so many of the last dimensions."""
    if count == 0 or not isinstance(value, Tensor):
        return value
    return value.reshape(*value.shape[: value.dim() - count], -1).sum(-1)


def _softplus(x: Tensor) -> Tensor:
    from ..nn.functional import softplus

    return softplus(x)


__getattr__ = refuses_missing("torch.distributions.transforms")
