"""What is observed of values: modes, medians, quantiles, bins, sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..core import dtypes
from ..core.array_kinds import packed
from ..core.dtypes import Array, int64, wrap_dim
from ..core.error_texts import invalid_combination, public_call
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED, Computes, OutRule, same_dtype
from ..dispatch.registration import composite, inner_op, op
from .elementwise import mul_scalar
from .extremes import _at_index, pair
from .ufunc_makers import no_derivative


def _so_far(name: str, better: Callable[[Any, Any], Any]) -> None:
    def kernel(self: Any, dim: int) -> tuple[Array, Array]:
        """The best element up to each place of a dimension, and the last index of it."""
        axis = wrap_dim(dim, self.ndim)
        if self.ndim == 0:
            return self.copy(), np.zeros((), np.int64)
        if self.size:
            refuse(self.dtype)
        moved = np.moveaxis(np.asarray(self), axis, 0)
        places = np.zeros(moved.shape, np.int64)
        for i in range(1, len(moved)):
            best = np.take_along_axis(moved, places[i - 1 : i], 0)[0]
            places[i] = np.where(better(moved[i], best) | np.isnan(moved[i]), i, places[i - 1])
        indices = np.ascontiguousarray(np.moveaxis(places, 0, axis))
        return packed(np.take_along_axis(self, indices, axis)), indices

    refuse = Computes("bif").refuse(name)
    op(
        name,
        computes=ANY_DTYPE,
        out=OutRule(same_dtype("expected scalar_type {want.scalar_name} but found {got.scalar_name}")),
        outputs=pair(name),
        nondifferentiable=(1,),
        leak=1,
        self=_so_far_gradient,
    )(kernel)


def _so_far_gradient(grads: list[object], self: Tensor, result: list[object], dim: int) -> Tensor:
    if not self._array.size:
        return self
    found: Tensor = FUNCTIONS["zeros"](self._array.shape, dtype=self.dtype).scatter_add_(dim, result[1], grads[0])
    return found


_so_far("cummax", lambda new, best: new >= best)
_so_far("cummin", lambda new, best: new <= best)


def _most_frequent(row: Any) -> Any:
    """Where the most frequent value of a row is last; each NaN is its own value."""
    counts = np.unique(row, return_counts=True, equal_nan=False)[1]
    chosen = counts.argmax()
    return np.argsort(row, kind="stable")[counts[: chosen + 1].sum() - 1]


_refuse_mode = Computes("bif").refuse("mode")


_MODE = "expected scalar type '{want.scalar_name}' but got '{got.scalar_name}' for "


@op(
    "mode",
    computes=ANY_DTYPE,
    out=tuple(OutRule(same_dtype(f"{_MODE}{what} output"), resized_first=True) for what in ("values", "indices")),
    outputs=pair("mode"),
    nondifferentiable=(1,),
    leak=lambda self, dim=-1, keepdim=False: 0 if keepdim else 2,
    self=_at_index,
)
def mode(self: Array, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """The most frequent value along a dimension, the smallest of several, and the last index of it."""
    axis = wrap_dim(dim, self.ndim)
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    if not self.size:
        if not self.shape[axis]:
            raise IndexError(f"mode(): Expected reduction dim {axis} to have non-zero size.")
        rest = self.shape[:axis] + (1,) * keepdim + self.shape[axis + 1 :]
        return np.empty(rest, self.dtype), np.empty(rest, np.int64)
    _refuse_mode(self.dtype)
    indices = np.expand_dims(np.asarray(np.apply_along_axis(_most_frequent, axis, np.asarray(self)), np.int64), axis)
    values = np.take_along_axis(np.asarray(self), indices, axis)
    return (values, indices) if keepdim else (values.squeeze(axis), indices.squeeze(axis))


@composite("cuda", function=False)
def cuda(self: Tensor, *args: object, **kwargs: object) -> NoReturn:
    """Always raises: there is no GPU."""
    raise AssertionError("Torch not compiled with CUDA enabled")


@composite("pin_memory", function=False)
def pin_memory(self: Tensor, *args: object) -> NoReturn:
    """Always raises: pinning memory needs an accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


@composite("is_pinned", function=False)
def is_pinned(self: Tensor, *args: object) -> bool:
    return False


@composite("share_memory_", function=False)
def share_memory_(self: Tensor) -> Tensor:
    """The tensor itself: what other processes would see of it is in their own copy."""
    return self


@composite("is_shared", function=False)
def is_shared(self: Tensor) -> bool:
    return False


def _ranked(self: Any, d: int, rank: Any, keepdim: bool) -> tuple[Array, Array]:
    """The element of that rank along a dimension, and where it is; `rank` may differ from row to row."""
    order = np.argsort(self, axis=d, kind="stable")
    places = np.take_along_axis(order, rank, axis=d)
    values = np.take_along_axis(self, places, axis=d)
    return (values, places) if keepdim else (values.squeeze(d), places.squeeze(d))


@op(
    "kthvalue",
    computes=Computes("if", "kthvalue_cpu"),
    out=RESIZED,
    outputs=pair("kthvalue"),
    leak=1,
    nondifferentiable=(1,),
    self=_at_index,
)
def kthvalue(self: Array, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The `k`-th least element along `dim`, counted from 1, and its index."""
    d = wrap_dim(dim, self.ndim)
    if self.ndim and self.size == 0 and self.shape[d] == 0:
        raise IndexError(f"kthvalue(): Expected reduction dim {d} to have non-zero size.")
    if not 1 <= k <= (self.shape[d] if self.ndim else 1):
        raise RuntimeError("kthvalue(): selected number k out of range for dimension " + str(d))
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    shape = [*self.shape[:d], 1, *self.shape[d + 1 :]]
    return _ranked(self, d, np.full(shape, k - 1, np.int64), keepdim)


_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")
_ROUNDED = {"lower": "floor_", "higher": "ceil_", "nearest": "round_"}


def _quantile(self: Tensor, q: object, dim: int | None, keepdim: bool, interpolation: str, name: str) -> Tensor:
    """Source: quantile_compute in ATen/native/Sorting.cpp, whose in-place ops leave their marks on the result."""
    if not isinstance(q, Tensor | int | float):
        called = public_call()
        raise invalid_combination(name, called[2] if called else (self, q))
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    array = self._array
    if array.size == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if array.dtype not in (np.float32, np.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if not isinstance(q, Tensor) and not 0 <= q <= 1:
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
    ranked = q if isinstance(q, Tensor) else FUNCTIONS["full"]((), q, dtype=self.dtype)
    if ranked._array.dtype != array.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if ranked._array.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if ((ranked._array < 0) | (ranked._array > 1)).any():
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    d = 0 if dim is None else wrap_dim(dim, array.ndim)
    if dim is None:
        ordered = self.flatten().sort()[0]
    elif d == array.ndim - 1:
        ordered = self.sort()[0]
    else:
        ordered = self.unsqueeze(-1).transpose(d, -1).sort()[0]
    count = ordered.size(-1)
    kept = list(array.shape) if dim is not None else []
    if keepdim:
        kept = [1 if dim is None or i == d else n for i, n in enumerate(array.shape)]
    elif kept:
        del kept[d]
    ordered = ordered.view([*kept, count])
    values = _interpolated(ordered, _ranks(ordered, ranked, name), interpolation)
    if ranked._array.ndim == 0:
        return values.squeeze_(-1)
    return values.unsqueeze_(0).transpose_(0, -1).squeeze_(-1)


def _ranks(ordered: Tensor, q: Tensor, name: str) -> Tensor:
    """Where the quantiles are among the ordered elements, between two of them; the last ones are NaN."""
    numbers = ordered.isnan()
    if name == "nanquantile":
        found: Tensor = q * (numbers.logical_not_().sum(-1, True) - 1)
        return found.masked_fill_(found < 0, 0)
    last = ordered.size(-1) - 1
    ranks, any_nan = FUNCTIONS["broadcast_tensors"](mul_scalar(q, last), numbers.any(-1, True))
    return ranks.masked_fill(any_nan, last)


def _interpolated(ordered: Tensor, ranks: Tensor, interpolation: str) -> Tensor:
    if interpolation in _ROUNDED:
        getattr(ranks, _ROUNDED[interpolation])()
    below = ranks.to(int64)
    values: Tensor = ordered.gather(-1, below)
    if interpolation in ("linear", "midpoint"):
        weights = FUNCTIONS["full_like"](ranks, 0.5) if interpolation == "midpoint" else ranks - below
        values.lerp_(ordered.gather(-1, ranks.ceil_().to(int64)), weights)
    return values


@composite("quantile", out=RESIZED)
def quantile(
    self: Tensor, q: object, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The elements at the ranks `q`, from 0 to 1; a tensor of several ranks gives a first dimension of them."""
    return _quantile(self, q, dim, keepdim, interpolation, "quantile")


@composite("nanquantile", out=RESIZED)
def nanquantile(
    self: Tensor, q: object, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The same of the elements that are numbers."""
    return _quantile(self, q, dim, keepdim, interpolation, "nanquantile")


def _unique_kernel(self: Tensor) -> tuple[Array, Array, Array]:
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


def _unique_dim_kernel(self: object, dim: int) -> tuple[Array, Array, Array]:
    rows, d = _rows(self, dim)
    order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))
    return _runs(self, d, rows, order)


def _runs(self: object, d: int, rows: Array, order: Array) -> tuple[Array, Array, Array]:
    """The first of each run of equal rows in this order; the run of each row; the length of each run."""
    ordered = rows[order]
    starts = np.ones(len(rows), bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    inverse = np.empty(len(rows), np.int64)
    inverse[order] = np.cumsum(starts) - 1
    places = np.flatnonzero(starts)
    return _picked(self, d, order[places]), inverse, np.diff(np.append(places, len(rows))).astype(np.int64)


def _unique_consecutive_kernel(self: Tensor, dim: int | None) -> tuple[Array, Array, Array]:
    if dim is not None:
        rows, d = _rows(self, dim)
        return _runs(self, d, rows, np.arange(len(rows)))
    flat = self.reshape(-1)
    values, inverse, counts = _runs(flat, 0, flat.reshape(-1, 1), np.arange(flat.size))
    return values, inverse.reshape(self.shape), counts


def _register(name: str, node: str, kernel: Any, leak: Any) -> Any:
    return inner_op(name, node=node, outputs=tuple, nondifferentiable=(1, 2), self=no_derivative(name), leak=leak)(
        kernel
    )


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
    """The distinct elements, or slices along `dim`, in order; on demand where each is, and how often it occurs."""
    found = _unique(self) if dim is None else _unique_dim(self, dim)
    return _chosen(found, return_inverse, return_counts)


@composite("unique_consecutive")
def unique_consecutive(
    self: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first element, or slice along `dim`, of each run of equal ones; on demand the run of each, and its length."""
    return _chosen(_unique_consecutive(self, dim), return_inverse, return_counts)


@op("bincount", computes=ANY_DTYPE, out=RESIZED, tensor_params=("self", "weights"))
def bincount(self: Array, weights: Any = None, minlength: int = 0) -> Array:
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
def histc(self: Array, bins: int = 100, min: Any = 0, max: Any = 0) -> Array:
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
