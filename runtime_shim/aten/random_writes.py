"""In-place ops that write random numbers: uniform_, normal_, random_ and the like."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..core.random_engine import RandomEngine
from ..core.tensor import Tensor
from ..core.thread_state import tls
from ..dispatch.inplace_layers import write_through_layers
from ..dispatch.recorded_writes import describe_recording
from ..dispatch.registration import composite
from .inplace import _ZEROED
from .random_numbers import (
    engine_of,
    in_order_of_memory,
    normal_numbers,
    part_of,
    random_integers,
    trials,
    uniform_numbers,
)

#: Which of its nodes an overload has: from and to, to alone, neither; probabilities or one of them.
_OVERLOADS: dict[str, Callable[..., int]] = {
    "random": lambda *given: 2 - len(given),
    "bernoulli": lambda p=0.5: 1 if isinstance(p, Tensor) else 2,
}


def _random_fill(name: str, draw: Callable[..., Any]) -> None:
    """`name_`: writes what `draw(engine, array, …)` gives to the elements of `array`, as they lie in memory."""
    title = name.title().replace("_", "")
    overload_of: Callable[..., int] = _OVERLOADS.get(name, lambda *_: 0)
    made = [describe_recording(name, lambda self: self, _ZEROED, node=f"{title}Backward{i}") for i in range(3)]

    def fill(self: Tensor, *args: Any, generator: Any = None, **kwargs: Any) -> Tensor:
        def kernel() -> None:
            array = self._array
            ordered = in_order_of_memory(array, array)
            drawn = draw(engine_of(generator), array, *args, **kwargs)
            np.copyto(ordered, drawn.reshape(ordered.shape), casting="unsafe")  # as C++ does for integers

        overload = overload_of(*args, *kwargs.values())
        return write_through_layers(made[overload], tls.state, self, (self,), [self], self._keys, kernel)

    composite(name + "_", function=False)(fill)


def _uniform(engine: RandomEngine, like: Array, from_: float = 0.0, to: float = 1.0, **kwargs: float) -> Array:
    low = kwargs.get("from", from_)
    if not dtypes.is_inexact(like.dtype):
        raise _not_implemented("check_uniform_bounds", like)
    kind = part_of(like.dtype) if like.dtype.kind == "c" else like.dtype
    greatest = float(dtypes.floating_limits(kind).max)
    for name, bound in (("from", low), ("to", to)):
        if not -greatest <= bound <= greatest:
            raise RuntimeError(f"{name} is out of bounds for {dtypes.BY_CHAR[kind.char].short}")
    if low > to:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={to}")
    if to - low > greatest:
        limits = f"std::numeric_limits<{dtypes.BY_CHAR[kind.char].scalar_name}>"
        raise RuntimeError(
            f"uniform_ expects to-from <= {limits}::max(), but found to={to:g} and from={low:g} which result in "
            "to-from to exceed the limit"
        )
    return uniform_numbers(engine, like.size, like.dtype, low, to)


def _normal(engine: RandomEngine, like: Array, mean: float = 0.0, std: float = 1.0) -> Array:
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if not dtypes.is_inexact(like.dtype):
        raise _not_implemented("normal_kernel_cpu", like)
    return normal_numbers(engine, like.size, like.dtype, mean, std, contiguous=like.flags.c_contiguous)


def _bernoulli(engine: RandomEngine, like: Array, p: Any = 0.5) -> Array:
    if like.dtype.kind == "c":
        raise _not_implemented("bernoulli_scalar_cpu_", like)
    if not isinstance(p, Tensor) and not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    chances = in_order_of_memory(np.broadcast_to(p._array, like.shape), like) if isinstance(p, Tensor) else p
    return trials(engine, like.size, chances)


def _exponential(engine: RandomEngine, like: Array, lambd: float = 1.0) -> Array:
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    _check_continuous("Exponential", like, dtypes.of(like).scalar_name)
    return engine.exponentials(like.size) / lambd


def _cauchy(engine: RandomEngine, like: Array, median: float = 0.0, sigma: float = 1.0) -> Array:
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    _check_continuous("Cauchy", like, dtypes.of(like).short)
    return median + sigma * np.tan(math.pi * (engine.uniform(like.size) - 0.5))


def _log_normal(engine: RandomEngine, like: Array, mean: float = 1.0, std: float = 2.0) -> Array:
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    if like.dtype.kind in "iubc":
        raise _not_implemented("log_normal_cpu", like)
    return np.exp(engine.normals(like.size) * std + mean)


def _geometric(engine: RandomEngine, like: Array, p: float) -> Array:
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    if like.dtype.kind in "bc":
        raise _not_implemented("geometric_cpu", like)
    with np.errstate(divide="ignore"):
        return np.ceil(np.log(engine.uniform(like.size)) / math.log1p(-p))


def _integers(engine: RandomEngine, like: Array, *args: int, **kwargs: int) -> Array:
    """`random_()`, `random_(to)`, `random_(from, to)`: by default all integers that the dtype holds exactly."""
    given = list(args)
    low = kwargs.get("from", given.pop(0) if len(given) > 1 else 0)
    high = kwargs.get("to", given[0] if given else None)
    if like.dtype.kind == "c":
        raise _not_implemented("random_kernel_cpu", like)
    if high is not None:
        return random_integers(engine, low, high, like.size, like.dtype)
    # By the dtype, not by how large the number may be: int32 is drawn from 32 bits as well.
    words = engine.long_words(like.size) if like.dtype in (np.float64, np.int64) else engine.words(like.size)
    return words % np.uint64(_greatest(like.dtype) + 1)


def _not_implemented(kernel: str, like: Array) -> NotImplementedError:
    return NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.of(like).scalar_name}'")


def _check_continuous(name: str, like: Array, shown: str) -> None:
    if like.dtype.kind in "iubc":
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {shown}"
        )


def _greatest(dtype: np.dtype[Any]) -> int:
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).max)
    if dtype.kind == "b":
        return 1
    return 2 ** (dtypes.floating_limits(dtype).nmant + 1)  # the greatest up to which the type has all integers


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
