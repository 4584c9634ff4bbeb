"""Random choices by given probabilities: multinomial, poisson, binomial."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.tensor import Tensor, new_tensor
from ..dispatch.op_description import RESIZED
from ..dispatch.registration import composite
from .random_numbers import generator as numbers_of


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
    rows = np.atleast_2d(weights).astype(np.float64)
    if np.any(rows.sum(-1) <= 0):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    numbers = numbers_of(generator)
    if replacement:
        ends = rows.cumsum(-1)
        drawn = numbers.random((len(rows), num_samples)) * ends[:, -1:]
        # A category is where the sum passes the number, so that one of no weight is never drawn.
        found = np.stack([np.searchsorted(end, one, side="right") for end, one in zip(ends, drawn, strict=True)])
        found = np.minimum(found, (np.diff(ends, prepend=0) > 0).cumsum(-1).argmax(-1)[:, None])
    else:  # the smallest of exponential times is a draw by their rates, and so on for the next
        with np.errstate(divide="ignore"):
            times = numbers.exponential(size=rows.shape) / rows
        found = np.argsort(times, axis=-1, kind="stable")[:, :num_samples]
    found = np.ascontiguousarray(found.astype(np.int64))
    return new_tensor(found if weights.ndim == 2 else found[0])


@composite("poisson", method=False)
def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Numbers of events, by the rate that each element says, in its dtype."""
    rates = input._array
    if np.any(rates < 0):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return new_tensor(np.asarray(numbers_of(generator).poisson(rates)).astype(rates.dtype))


@composite("binomial", method=False)
def binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Tensor:
    """How many of `count` trials succeed, each with probability `prob`; the shapes are broadcast."""
    counts, chances = np.broadcast_arrays(count._array, prob._array)
    drawn = numbers_of(generator).binomial(counts.astype(np.int64), chances)
    return new_tensor(np.asarray(drawn).astype(count._array.dtype))
