"""Distributions of real numbers and vectors."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..aten import FUNCTIONS
from ..core.tensor import Tensor
from .distribution import (
    POSITIVE,
    REAL,
    REAL_VECTOR,
    Constraint,
    Distribution,
    standard_normal,
    standard_uniform,
    together,
)


class _LocationScale(Distribution):
    """A distribution that a location moves and a scale stretches."""

    arg_constraints: ClassVar = {"loc": REAL, "scale": POSITIVE}
    has_rsample = True
    support = REAL

    def __init__(self, loc: object, scale: object, validate_args: bool | None = None) -> None:
        self.loc, self.scale = together(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    mode = median = mean

    def expand(self, batch_shape: object) -> Any:
        return type(self)(self.loc.expand(batch_shape), self.scale.expand(batch_shape), validate_args=False)


class Normal(_LocationScale):
    """The normal distribution of mean `loc` and standard deviation `scale`."""

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def rsample(self, sample_shape: object = ()) -> Tensor:
        return self.loc + standard_normal(self._extended_shape(sample_shape), self.loc) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return -((value - self.loc) ** 2) / (2 * self.variance) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return 0.5 * (1 + FUNCTIONS["erf"]((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * FUNCTIONS["erfinv"](2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class Uniform(Distribution):
    """Numbers of the interval [low, high), all as likely."""

    has_rsample = True

    def __init__(self, low: object, high: object, validate_args: bool | None = None) -> None:
        self.low, self.high = together(low, high)
        self.arg_constraints = {"low": REAL, "high": REAL}  # type: ignore[misc]
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args and not bool((self.low < self.high).all()):
            shown = f"{self.high}" if self.high.dim() == 0 else "tensor"
            raise ValueError(
                f"Expected parameter low (Tensor of shape {tuple(self.low.shape)}) of distribution {self!r} to satisfy "
                f"the constraint LessThan(upper_bound={shown}), but found invalid values:\n{self.low}"
            )

    @property
    def support(self) -> Constraint:
        low, high = self.low, self.high
        return Constraint(f"Interval(lower_bound={low}, upper_bound={high})", lambda x: (x >= low) & (x <= high))

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).pow(2) / 12

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / 12**0.5

    def rsample(self, sample_shape: object = ()) -> Tensor:
        return self.low + standard_uniform(self._extended_shape(sample_shape), self.low) * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        inside = (self.low.le(value) & self.high.gt(value)).type_as(self.low)
        return FUNCTIONS["log"](inside) - FUNCTIONS["log"](self.high - self.low)

    def cdf(self, value: Tensor) -> Tensor:
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return FUNCTIONS["log"](self.high - self.low)


class MultivariateNormal(Distribution):
    """Normal vectors of mean `loc` (…, n) and a covariance (…, n, n), or its Cholesky factor `scale_tril`."""

    has_rsample = True
    support = REAL_VECTOR

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if sum(given is not None for given in (covariance_matrix, precision_matrix, scale_tril)) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        if precision_matrix is not None:
            covariance_matrix = FUNCTIONS["linalg_inv"](precision_matrix)
        if scale_tril is None:
            assert covariance_matrix is not None
            scale_tril = FUNCTIONS["linalg_cholesky"](covariance_matrix)
        batch = FUNCTIONS["broadcast_shapes"](tuple(scale_tril.shape[:-2]), tuple(loc.shape[:-1]))
        n = loc.size(-1)
        self.loc, self.scale_tril = loc.expand(*batch, n), scale_tril.expand(*batch, n, n)
        self.arg_constraints = {"loc": REAL_VECTOR}  # type: ignore[misc]
        self._given = covariance_matrix
        super().__init__(batch, (n,), validate_args)

    @property
    def covariance_matrix(self) -> Tensor:
        return self.scale_tril @ self.scale_tril.mT

    @property
    def mean(self) -> Tensor:
        return self.loc

    mode = mean

    @property
    def variance(self) -> Tensor:
        return self.scale_tril.pow(2).sum(-1)

    def rsample(self, sample_shape: object = ()) -> Tensor:
        drawn = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + (self.scale_tril @ drawn.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self) -> Tensor:
        return self.scale_tril.diagonal(0, -2, -1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        away = (value - self.loc).unsqueeze(-1)
        scaled = FUNCTIONS["linalg_solve_triangular"](self.scale_tril, away, upper=False).squeeze(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + scaled.pow(2).sum(-1)) - self._half_log_det()

    def entropy(self) -> Tensor:
        return 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()

    def __repr__(self) -> str:
        name = "scale_tril" if self._given is None else "covariance_matrix"
        return f"MultivariateNormal(loc: {self.loc.size()}, {name}: {self.scale_tril.size()})"


class Independent(Distribution):
    """A distribution whose last batch dimensions count as part of the event."""

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        batch, count = base_distribution.batch_shape, reinterpreted_batch_ndims
        if count > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{count} vs {len(batch)}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, count
        split = len(batch) - count
        super().__init__(batch[:split], batch[split:] + base_distribution.event_shape, validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return bool(self.base_dist.has_rsample)

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def _summed(self, values: Tensor) -> Tensor:
        count = self.reinterpreted_batch_ndims
        return values.sum(tuple(range(-count, 0))) if count else values

    def log_prob(self, value: Tensor) -> Tensor:
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        return self._summed(self.base_dist.entropy())

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
