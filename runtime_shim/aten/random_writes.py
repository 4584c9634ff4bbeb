"""Random numbers that are written into tensors, and random choices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, NumpyDtype
from ..core.function_table import AnyFunction
from ..core.random_engine import RandomEngine
from ..core.tensor import Tensor, new_tensor
from ..core.thread_state import tls
from ..dispatch.op_description import RESIZED
from ..dispatch.op_node import describe_recording
from ..dispatch.registration import composite
from ..dispatch.writing_layers import write_through_layers
from .inplace import _ZEROED
from .random_numbers import (
    engine_of,
    in_order_of_memory,
    normal_numbers,
    part_of,
    poisson_result,
    random_integers,
    trials,
    uniform_numbers,
)

#: Which of its nodes an overload has: from and to, to alone, neither; probabilities or one of them.
_OVERLOADS: dict[str, Callable[..., int]] = {
    "random": lambda *given: 2 - len(given),
    "bernoulli": lambda p=0.5: 1 if isinstance(p, Tensor) else 2,
}


def _random_fill(name: str, draw: AnyFunction) -> None:
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


def _greatest(dtype: NumpyDtype) -> int:
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


@composite("multinomial", out=RESIZED)
def multinomial(self: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Indices drawn with the probabilities of each row (categories,) or (rows, categories), as int64."""
    weights = self._array
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if weights.dtype.kind != "f":
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {dtypes.of(weights).scalar_name}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > weights.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    rows = np.atleast_2d(weights)
    if np.any(rows.sum(-1) <= 0):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    engine = engine_of(generator)
    if replacement and num_samples > 1:
        drawn = engine.uniform(len(rows) * num_samples).reshape(len(rows), num_samples)
        ends = rows.cumsum(-1, dtype=np.promote_types(rows.dtype, np.float32))
        ends /= ends[:, -1:]
        found = np.stack([np.searchsorted(end, one) for end, one in zip(ends, drawn, strict=True)])
    else:  # the smallest of exponential times is a draw by their rates, and so on for the next
        times = engine.exponentials(rows.size).reshape(rows.shape).astype(weights.dtype)
        found = np.argsort(-rows / times, axis=-1, kind="stable")[:, :num_samples]
    found = np.ascontiguousarray(found.astype(np.int64))
    return new_tensor(found if weights.ndim == 2 else found[0])


@composite("poisson", method=False)
def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Numbers of events, by the rate that each element says, in its dtype."""
    rates = input._array
    if np.any(rates < 0):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    engine = engine_of(generator)
    drawn = [_poisson_number(engine, rate) for rate in rates.ravel().tolist()]
    found: Tensor = poisson_result(input, np.array(drawn, rates.dtype).reshape(rates.shape))
    return found


@composite("binomial", method=False)
def binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Tensor:
    """How many of `count` trials succeed, each with probability `prob`; the shapes are broadcast."""
    counts, chances = np.broadcast_arrays(count._array, prob._array)
    engine = engine_of(generator)
    drawn = [
        _binomial_number(engine, *pair) for pair in zip(counts.ravel().tolist(), chances.ravel().tolist(), strict=True)
    ]
    return new_tensor(np.array(drawn, count._array.dtype).reshape(counts.shape))


def _one(engine: RandomEngine) -> float:
    return float(engine.uniform(1)[0])


def _poisson_number(engine: RandomEngine, rate: float) -> float:
    """By multiplication for small rates, by transformed rejection for others.

    PTRS in W. Hörmann, "The transformed rejection method for generating Poisson random variables", 1993.
    """
    if rate == 0:
        return 0
    if rate < 10:
        found, product = 0, _one(engine)
        while product > math.exp(-rate):
            found, product = found + 1, product * _one(engine)
        return found
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    quick = 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = _one(engine) - 0.5, _one(engine)
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= quick:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        density = k * math.log(rate) - rate - math.lgamma(k + 1)
        if math.log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b) <= density:
            return k


def _binomial_number(engine: RandomEngine, count: float, chance: float) -> float:
    """By sums of geometric numbers where few succeed, by transformed rejection elsewhere.

    BTRS in W. Hörmann, "The generation of binomial random variates", 1993.
    """
    if count <= 0 or chance <= 0:
        return 0
    if chance >= 1:
        return count
    if chance > 0.5:
        return count - _binomial_number(engine, count, 1 - chance)
    if math.isnan(chance):
        return math.nan
    if count * chance < 10:
        found, trials = -1, 0.0
        while trials <= count:
            found, trials = found + 1, trials + math.ceil(math.log(_one(engine)) / math.log1p(-chance))
        return found
    deviation = math.sqrt(count * chance * (1 - chance))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    quick = 0.92 - 4.2 / b
    odds = chance / (1 - chance)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = math.floor((count + 1) * chance)
    while True:
        u, v = _one(engine) - 0.5, _one(engine)
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + count * chance + 0.5)
        if us >= 0.07 and v <= quick:
            return k
        if not 0 <= k <= count:
            continue
        density = (
            math.lgamma(mode + 1) + math.lgamma(count - mode + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1)
        ) + (k - mode) * math.log(odds)
        if math.log(v * alpha / (a / (us * us) + b)) <= density:
            return k
