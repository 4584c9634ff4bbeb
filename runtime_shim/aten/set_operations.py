"""Sets of elements, and how many fall into a bin."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, wrap_dim
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED, Computes
from ..dispatch.registration import composite, op
from .absent_gradients import no_derivative


def _unique_kernel(self: Any) -> tuple[Array, Array, Array]:
    values, inverse, counts = np.unique(self.reshape(-1), return_inverse=True, return_counts=True, equal_nan=False)
    return values, inverse.reshape(self.shape).astype(np.int64), counts.astype(np.int64)


def _rows(self: Any, dim: int) -> tuple[Array, int]:
    """The slices along `dim`, each as a row; and the dimension."""
    d = wrap_dim(dim, self.ndim)
    if self.size == 0 and any(n == 0 for i, n in enumerate(self.shape) if i != d):
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    count = self.shape[d] if self.ndim else 1
    return np.moveaxis(self, d, 0).reshape(count, self.size // count if count else 0), d


def _picked(self: Any, d: int, which: Array) -> Array:
    return np.ascontiguousarray(np.take(self, which, axis=d)) if self.ndim else self.copy()


def _unique_dim_kernel(self: Any, dim: int) -> tuple[Array, Array, Array]:
    rows, d = _rows(self, dim)
    order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))
    return _runs(self, d, rows, order)


def _runs(self: Any, d: int, rows: Array, order: Array) -> tuple[Array, Array, Array]:
    """The first of each run of equal rows in this order; the run of each row; the length of each run."""
    ordered = rows[order]
    starts = np.ones(len(rows), bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    inverse = np.empty(len(rows), np.int64)
    inverse[order] = np.cumsum(starts) - 1
    places = np.flatnonzero(starts)
    return _picked(self, d, order[places]), inverse, np.diff(np.append(places, len(rows))).astype(np.int64)


def _unique_consecutive_kernel(self: Any, dim: int | None) -> tuple[Array, Array, Array]:
    if dim is not None:
        rows, d = _rows(self, dim)
        return _runs(self, d, rows, np.arange(len(rows)))
    flat = self.reshape(-1)
    values, inverse, counts = _runs(flat, 0, flat.reshape(-1, 1), np.arange(flat.size))
    return values, inverse.reshape(self.shape), counts


def _register(name: str, node: str, kernel: Any, leak: Any) -> Any:
    return op(
        name, computes=ANY_DTYPE, out=RESIZED, node=node, method=False, function=False, outputs=tuple,
        nondifferentiable=(1, 2), self=no_derivative(name), leak=leak,
    )(kernel)  # fmt: skip


def _leak_of_flat(self: Tensor) -> int:
    return int(self._array.size > 0)


def _leak_of_rows(self: Tensor, dim: int) -> tuple[int, ...]:
    return (0, 0, 1)


def _leak_of_runs(self: Tensor, dim: int | None) -> tuple[int, ...]:
    return (0, 0, 1) if dim is not None and self.dim() != 1 else (1, 1, 2) if self._array.size else (0, 0, 0)


_unique = _register("_unique2", "Unique2Backward0", _unique_kernel, _leak_of_flat)
_unique_dim = _register("unique_dim", "UniqueDimBackward0", _unique_dim_kernel, _leak_of_rows)
_unique_consecutive = _register(
    "unique_consecutive", "UniqueConsecutiveBackward0", _unique_consecutive_kernel, _leak_of_runs
)


def _chosen(found: tuple[Tensor, ...], return_inverse: bool, return_counts: bool) -> Any:
    """What `unique` returns: the values alone, or a tuple with what else was asked for."""
    wanted = (True, return_inverse, return_counts)
    chosen = tuple(t for t, asked in zip(found, wanted, strict=True) if asked)
    return chosen if len(chosen) > 1 else chosen[0]


@composite("unique")
def unique(
    self: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements, or slices along `dim`, in order; on demand where each stands, and how often it occurs."""
    found = _unique(self) if dim is None else _unique_dim(self, dim)
    return _chosen(found, return_inverse, return_counts)


@composite("unique_consecutive")
def unique_consecutive(
    self: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first element, or slice along `dim`, of each run of equal ones; on demand the run of each, and its length."""
    return _chosen(_unique_consecutive(self, dim), return_inverse, return_counts)


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
