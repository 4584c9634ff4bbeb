"""What distributions share: shapes, checks of parameters and values, samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any, ClassVar

from ..aten import FUNCTIONS
from ..core import dtypes
from ..core.dtypes import Size
from ..core.gradient_modes import enable_grad, no_grad
from ..core.tensor import Tensor


@dataclass(frozen=True)
class Constraint:
    """A condition on parameters or values, and how PyTorch names it."""

    text: str
    holds: Callable[[Tensor], Tensor]
    event_dim: int = 0

    def __repr__(self) -> str:
        return self.text


REAL = Constraint("Real()", lambda x: ~x.isnan())
REAL_VECTOR = Constraint("IndependentConstraint(Real(), 1)", lambda x: (~x.isnan()).all(-1), 1)
POSITIVE = Constraint("GreaterThan(lower_bound=0.0)", lambda x: x > 0)
UNIT = Constraint("Interval(lower_bound=0.0, upper_bound=1.0)", lambda x: (x >= 0) & (x <= 1))
SIMPLEX = Constraint("Simplex()", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), 1)
BOOLEAN = Constraint("Boolean()", lambda x: (x == 0) | (x == 1))


class Distribution:
    """Base of distributions, of independent events of `event_shape`, one for each place of `batch_shape`."""

    has_rsample = False
    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    _validate_args = True

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if not self._validate_args:
            return
        for name, constraint in self.arg_constraints.items():
            value = self.__dict__.get(name)
            if value is not None and not bool(constraint.holds(value).all()):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check their arguments that don't say it themselves."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    @property
    def batch_shape(self) -> Size:
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        return self._event_shape

    @property
    def support(self) -> Constraint:
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        return self.variance.sqrt()

    @property
    def variance(self) -> Tensor:
        raise NotImplementedError

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def sample(self, sample_shape: object = ()) -> Tensor:
        """Random values of `sample_shape + batch_shape + event_shape`, without a gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: object = ()) -> Tensor:
        """Random values through which the gradient reaches the parameters."""
        raise NotImplementedError

    def log_prob(self, value: Tensor) -> Tensor:
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        return self.entropy().exp()

    def _validate_sample(self, value: object) -> None:
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, expected = value.shape, self._batch_shape + self._event_shape
        for got, own in zip(reversed(shape), reversed(expected), strict=False):
            if got != 1 and own != 1 and got != own:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}.")
        support = self.support
        if not bool(support.holds(value).all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        names = [name for name in self.arg_constraints if name in self.__dict__]
        shown = (
            f"{n}: {self.__dict__[n] if self.__dict__[n].numel() == 1 else self.__dict__[n].size()}" for n in names
        )
        return f"{type(self).__name__}({', '.join(shown)})"


def together(*values: object) -> list[Tensor]:
    """Numbers and tensors as tensors of one shape."""
    given = [v for v in values if isinstance(v, Tensor)]
    kind = given[0].dtype if given else dtypes.get_default_dtype()
    made = [v if isinstance(v, Tensor) else FUNCTIONS["tensor"](v, dtype=kind) for v in values]
    if all(one.shape == made[0].shape for one in made):
        return made
    return list(FUNCTIONS["broadcast_tensors"](*made))


def standard_normal(shape: Any, like: Tensor) -> Tensor:
    return FUNCTIONS["randn"](tuple(shape), dtype=like.dtype)


def standard_uniform(shape: Any, like: Tensor) -> Tensor:
    return FUNCTIONS["rand"](tuple(shape), dtype=like.dtype)


def _standard_normal(shape: Any, dtype: Any, device: object) -> Tensor:
    found: Tensor = FUNCTIONS["randn"](shape, dtype=dtype, device=device)
    return found


class lazy_property:
    """A property that is computed once, where autograd records; its value then takes its place."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: object, owner: object = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value
