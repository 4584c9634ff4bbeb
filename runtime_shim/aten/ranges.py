"""Ranges of numbers, and grids made of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, NumpyDtype
from ..core.tensor import Tensor
from ..dispatch.registration import composite
from .creation import factory, finish, numpy_dtype


@composite("frombuffer", method=False)
def frombuffer(
    buffer: Any, *, dtype: dtypes.dtype, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A tensor of one dimension that shares the memory of a buffer."""
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, itemsize = view.nbytes, dtype.itemsize
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count > 0 and count * itemsize > length - offset:
        raise ValueError(
            f"requested buffer length ({count} * {itemsize} bytes) after offset ({offset} bytes) must not be greater "
            f"than actual buffer length ({length} bytes)"
        )
    if count < 0 and (length - offset) % itemsize:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element size "
            f"({itemsize})"
        )
    if view.readonly:
        warnings.warn(
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can "
            "write to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the "
            "buffer to protect its data or make it writable before converting it to a tensor. This type of warning "
            "will be suppressed for the rest of this program.",
            UserWarning,
            stacklevel=3,
        )
    return finish(np.frombuffer(buffer, dtype.numpy, max(count, -1), offset), requires_grad)


@factory("arange", ranged=True)
def arange(
    start: Any = 0, end: Any = None, step: Any = 1, *, dtype: dtypes.dtype | None = None, out: Tensor | None = None
) -> Array:
    if end is None:
        start, end = 0, start
    start, end, step = (x.item() if isinstance(x, Tensor) else x for x in (start, end, step))
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (step > 0 and start > end) or (step < 0 and start < end):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    floating = any(isinstance(x, float) for x in (start, end, step))
    default = dtypes.get_default_dtype().numpy if floating else np.dtype(np.int64)
    count = int(np.ceil((end - start) / step))
    target = numpy_dtype(dtype, default)
    written = target if out is None else out._array.dtype
    if written.kind in "bc":
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{dtypes.BY_CHAR[written.char].scalar_name}'")
    if target.kind in "iu" and not floating:
        return np.arange(start, end, step).astype(target)
    return (start + np.arange(count) * step).astype(target)


@factory("linspace", ranged=True)
def linspace(
    start: Any, end: Any, steps: int, *, dtype: dtypes.dtype | None = None, out: Tensor | None = None
) -> Array:
    start, end = _bounds("linspace", start, end, steps)
    return np.linspace(start, end, steps).astype(_spaced_dtype("linspace", start, end, dtype, out))


def _bounds(name: str, start: object, end: object, steps: int) -> tuple[object, object]:
    """The first and the last value as numbers; RuntimeError for tensors with dimensions, or fewer than no steps."""
    for which, value in (("start", start), ("end", end)):
        if isinstance(value, Tensor) and value.dim():
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {which} with {value.dim()} "
                "dimension(s)."
            )
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    first, last = (v.item() if isinstance(v, Tensor) else v for v in (start, end))
    return first, last


def _spaced_dtype(name: str, start: object, end: object, dtype: dtypes.dtype | None, out: Tensor | None) -> NumpyDtype:
    if out is not None:
        return numpy_dtype(dtype or out.dtype)
    if isinstance(start, complex) or isinstance(end, complex):
        if dtype is not None and not dtype.is_complex:
            raise RuntimeError(f"torch.{name}(): inferred dtype ComplexFloat can't be safely cast to passed dtype "
                               f"{dtype.scalar_name}")  # fmt: skip
        return numpy_dtype(dtype or dtypes.get_default_dtype().to_complex())
    return numpy_dtype(dtype)


@factory("logspace", ranged=True)
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: dtypes.dtype | None = None,
    out: Tensor | None = None,
) -> Array:
    start, end = _bounds("logspace", start, end, steps)
    return np.logspace(start, end, steps, base=base).astype(_spaced_dtype("logspace", start, end, dtype, out))


@factory("eye")
def eye(n: int, m: int | None = None, *, dtype: dtypes.dtype | None = None) -> Array:
    for name, value in (("n", n), ("m", m)):
        if value is not None and value < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {value}")
    return np.eye(n, m, dtype=numpy_dtype(dtype))


def _axes(tensors: tuple[Any, ...], name: str) -> list[Tensor]:
    """The tensors, given one by one or as one sequence."""
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tuple(tensors[0])
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return list(tensors)


@composite("meshgrid", method=False)
def meshgrid(*tensors: object, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Each axis expanded over the grid of all, as views: the first axis first ("ij"), or the second ("xy")."""
    axes = _axes(tensors, "meshgrid")
    for axis in axes:
        if axis._array.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {axis}")
        if axis._array.dtype != axes[0]._array.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swapped = indexing == "xy" and len(axes) > 1
    if swapped:
        axes[0], axes[1] = axes[1], axes[0]
    shape = [axis._array.size for axis in axes]
    grids = [
        axis.view([-1 if i == place else 1 for i in range(len(axes))]).expand(shape) for place, axis in enumerate(axes)
    ]
    if swapped:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)
