"""In-place ops that write random numbers: uniform_, normal_, random_ and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..core.tensor import Tensor
from ..core.thread_state import tls
from ..dispatch.inplace_layers import write_through_layers
from ..dispatch.op_description import describe_recording
from ..dispatch.registration import composite
from .inplace import _ZEROED
from .random_numbers import generator


def _random_fill(name: str, draw: Callable[..., Any]) -> None:
    """`name_`: writes what `draw(numbers, array, …)` gives, of the shape of `array`, the tensor's elements."""
    title = name.title().replace("_", "")
    made = [describe_recording(name, lambda self: self, _ZEROED, node=f"{title}Backward{i}") for i in range(3)]

    def fill(self: Tensor, *args: Any, generator: Any = None, **kwargs: Any) -> Tensor:
        def kernel() -> None:
            np.copyto(self._array, draw(_numbers(generator), self._array, *args, **kwargs), casting="unsafe")

        # The overloads of random_ have nodes of their own: from and to, to alone, neither.
        overload = 2 - len(args) - len(kwargs) if name == "random" else 0
        return write_through_layers(made[overload], tls.state, self, (self,), [self], self._keys, kernel)

    composite(name + "_", function=False)(fill)


def _numbers(chosen: Any) -> np.random.Generator:
    return generator(chosen)


def _uniform(numbers: np.random.Generator, like: Array, from_: float = 0.0, to: float = 1.0, **kwargs: float) -> Any:
    low = kwargs.get("from", from_)
    if low > to:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={to}")
    return numbers.uniform(low, to, like.shape)


def _normal(numbers: np.random.Generator, like: Array, mean: float = 0.0, std: float = 1.0) -> Any:
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    return numbers.normal(mean, std, like.shape)


def _bernoulli(numbers: np.random.Generator, like: Array, p: Any = 0.5) -> Any:
    chance = p._array if isinstance(p, Tensor) else p
    return np.asarray(numbers.random(like.shape) < chance)


def _exponential(numbers: np.random.Generator, like: Array, lambd: float = 1.0) -> Any:
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return numbers.exponential(1 / lambd, like.shape)


def _cauchy(numbers: np.random.Generator, like: Array, median: float = 0.0, sigma: float = 1.0) -> Any:
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    return median + sigma * numbers.standard_cauchy(like.shape)


def _log_normal(numbers: np.random.Generator, like: Array, mean: float = 1.0, std: float = 2.0) -> Any:
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return numbers.lognormal(mean, std, like.shape)


def _geometric(numbers: np.random.Generator, like: Array, p: float) -> Any:
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return numbers.geometric(p, like.shape)


def _integers(numbers: np.random.Generator, like: Array, *args: int, **kwargs: int) -> Any:
    """`random_()`, `random_(to)`, `random_(from, to)`: by default all integers that the dtype holds exactly."""
    given = list(args)
    low = kwargs.get("from", given.pop(0) if len(given) > 1 else 0)
    high = kwargs.get("to", given[0] if given else None)
    if high is None:
        high = _greatest(like.dtype) + 1
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    return numbers.integers(low, high, like.shape)


def _greatest(dtype: np.dtype[Any]) -> int:
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).max)
    if dtype.kind == "b":
        return 1
    return 2 ** (dtypes.finfo(dtype).nmant + 1)  # the greatest up to which the type has all integers


for _name, _draw in (
    ("uniform", _uniform),
    ("normal", _normal),
    ("random", _integers),
    ("bernoulli", _bernoulli),
    ("exponential", _exponential),
    ("cauchy", _cauchy),
    ("log_normal", _log_normal),
    ("geometric", _geometric),
):
    _random_fill(_name, _draw)
