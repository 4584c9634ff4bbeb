"""Counting and placing elements by value: bincount, histc, bucketize, searchsorted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import Array, sizes
from ..dispatch.op_description import ANY_DTYPE, RESIZED, Computes
from ..dispatch.registration import op


def _check_boundaries(boundaries: Any) -> None:
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")


def _places(sequence: Any, values: Any, right: bool, int32: bool) -> Array:
    found = np.searchsorted(sequence, values, side="right" if right else "left")
    return np.asarray(found).astype(np.int32 if int32 else np.int64)


@op(
    "bucketize",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    tensor_params=("input", "boundaries"),
    numbers=("input",),
)
def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Array:
    """For each element the number of boundaries, which are sorted, below it; with `right`, below or equal."""
    _check_boundaries(boundaries)
    return _places(boundaries, input, right, out_int32)


@op(
    "searchsorted",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    tensor_params=("sorted_sequence", "self"),
    numbers=("self",),
)
def searchsorted(
    sorted_sequence: Any,
    self: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Array:
    """Where each element would stand in the sequence: one sequence for all, or one for each row."""
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    after = right or side == "right"
    if sorter is not None:
        order = getattr(sorter, "_array", sorter)
        if order.shape != sorted_sequence.shape:
            raise RuntimeError(
                "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
                f"{sizes(sorted_sequence.shape)}and got sorter tensor {sizes(order.shape)}"
            )
        sorted_sequence = np.take_along_axis(sorted_sequence, order, -1)
    if sorted_sequence.ndim == 1 or not isinstance(self, np.ndarray):
        if sorted_sequence.ndim != 1:
            raise RuntimeError(
                "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we "
                f"got boundaries tensor dim({sorted_sequence.ndim}) and input value's dim(0) numel(1)"
            )
        return _places(sorted_sequence, self, after, out_int32)
    if sorted_sequence.shape[:-1] != self.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {sizes(sorted_sequence.shape)} "
            f"and input value tensor {sizes(self.shape)}"
        )
    found = np.empty(self.shape, np.int32 if out_int32 else np.int64)
    for row in np.ndindex(*self.shape[:-1]):
        found[row] = _places(sorted_sequence[row], self[row], after, out_int32)
    return found


@op("bincount", computes=ANY_DTYPE, out=RESIZED, tensor_params=("self", "weights"))
def bincount(self: Any, weights: Any = None, minlength: int = 0) -> Array:
    """How often each integer from 0 on occurs; with `weights`, the sum of theirs."""
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.ndim == 1 and self.size == 0:
        return np.zeros(minlength, np.int64)
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
