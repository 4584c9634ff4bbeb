"""Random choices by given probabilities: multinomial, poisson, binomial."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.random_engine import RandomEngine
from ..core.tensor import Tensor, new_tensor
from ..dispatch.op_description import RESIZED
from ..dispatch.registration import composite
from .drawn_results import poisson_result
from .random_numbers import engine_of


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
