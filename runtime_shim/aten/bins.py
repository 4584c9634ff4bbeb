"""Counting elements by value: bincount, histc."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..dispatch.op_description import ANY_DTYPE, RESIZED, Computes
from ..dispatch.registration import op


@op("bincount", computes=ANY_DTYPE, out=RESIZED, tensor_params=("self", "weights"))
def bincount(self: Any, weights: Any = None, minlength: int = 0) -> Array:
    """How often each integer from 0 on occurs; with `weights`, the sum of theirs."""
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.ndim == 1 and self.size == 0:
        return np.zeros(minlength, np.int64)
    if self.dtype.kind not in "iu":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{dtypes.of(self).scalar_name}'")
    if self.ndim != 1 or self.dtype.kind not in "iu" or (self < 0).any():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return np.bincount(self, minlength=minlength).astype(np.int64)
    if weights.shape != self.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    found = np.bincount(self, weights.astype(np.float64), minlength)
    return found.astype(weights.dtype if weights.dtype == np.float32 else np.float64)


@op("histc", computes=Computes("f", "histogram_cpu"), out=RESIZED)
def histc(self: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Array:
    """How many elements lie in each of `bins` equal parts of [min, max], by default of the range of the elements."""
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    flat = self.reshape(-1)
    low, high = self.dtype.type(min), self.dtype.type(max)
    if low == high and flat.size:
        low, high = flat.min(), flat.max()
    if low == high:
        low, high = low - 1, high + 1
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histogram: dimension 0's range [{float(low):g}, {float(high):g}] is not finite")
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    inside = flat[(flat >= low) & (flat <= high)]
    place = np.minimum(((inside - low) / (high - low) * bins).astype(np.int64), bins - 1)
    return np.bincount(place, minlength=bins).astype(self.dtype)
