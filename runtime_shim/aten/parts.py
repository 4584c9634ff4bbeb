"""Views of parts of a tensor: select, slice, diagonal, unfold."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import Array, sizes, wrap_dim
from ..core.reordered_array import marked
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import composite, op
from ..dispatch.view_layers import view_op
from .views import strided_array, window


def _select_back(grad: Tensor, self_shape: tuple[int, ...], dim: int, index: int) -> Tensor:
    return select_backward(grad, self_shape, dim, index)


@op(
    "select_backward",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    self=lambda grad, dim, index: grad.select(dim, index),
)
def select_backward(self: Any, shape: tuple[int, ...], dim: int, index: int) -> Array:
    found: Array = np.zeros(shape, self.dtype)
    found[(slice(None),) * wrap_dim(dim, len(shape)) + (index,)] = self
    return found


@view_op("select", self=_select_back)
def select(self: Any, dim: int, index: int) -> Array:
    return selected(self, dim, index)


def selected(array: Array, dim: int, index: int) -> Array:
    if array.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, array.ndim)
    index = int(index)
    if not -array.shape[d] <= index < array.shape[d]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {sizes(array.shape)} at dimension {d}"
        )
    return array[(slice(None),) * d + (index, Ellipsis)]


@op(
    "slice_backward",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    self=lambda grad, dim, start, end, step: slice_(grad, dim, start, end, step),
)
def slice_backward(self: Any, shape: tuple[int, ...], dim: int, start: Any, end: Any, step: int) -> Array:
    found: Array = np.zeros(shape, self.dtype)
    found[(slice(None),) * wrap_dim(dim, len(shape)) + (slice(start, end, step),)] = self
    return found


@view_op(
    "slice",
    method=False,
    function=False,
    self=lambda grad, self_shape, dim, start, end, step: slice_backward(grad, self_shape, dim, start, end, step),
)
def slice_(self: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Array:
    return sliced(self, dim, start, end, step)


def sliced(array: Array, dim: int, start: Any, end: Any, step: int) -> Array:
    if array.ndim == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    found = array[(slice(None),) * wrap_dim(dim, array.ndim) + (slice(start, end, step),)]
    return found if step == 1 else marked(found)


def _narrowed(array: Array, dim: int, start: Any, length: int) -> tuple[int, int]:
    """Where the part starts and ends."""
    if array.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    size = array.shape[wrap_dim(dim, array.ndim)]
    if isinstance(start, Tensor) and (start._array.ndim or start._array.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    start = int(start)
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    if start < 0:
        start += size
    if start > size - length:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return start, start + length


@composite("narrow")
def narrow(self: Tensor, dim: int, start: Any, length: int) -> Tensor:
    return slice_(self, dim, *_narrowed(self._array, dim, start, length), 1)


def _narrow_back(grad: Tensor, self_shape: tuple[int, ...], dim: int, start: int, length: int) -> Tensor:
    first = start + self_shape[dim] if start < 0 else start
    return slice_backward(grad, self_shape, dim, first, first + length, 1)


@op("narrow_copy", computes=ANY_DTYPE, out=RESIZED, self=_narrow_back)
def narrow_copy(self: Any, dim: int, start: int, length: int) -> Array:
    first, end = _narrowed(self, dim, start, length)
    found: Array = self[(slice(None),) * wrap_dim(dim, self.ndim) + (slice(first, end),)].copy(order="C")
    return found


@view_op(
    "diagonal",
    self=lambda grad, self_shape, offset, dim1, dim2: diagonal_backward(grad, self_shape, offset, dim1, dim2),
)
def diagonal(self: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    return diagonal_of(self, offset, dim1, dim2)


def diagonal_of(array: Array, offset: int, dim1: int, dim2: int) -> Array:
    """Like numpy's diagonal, but writable."""
    a, b = wrap_dim(dim1, array.ndim), wrap_dim(dim2, array.ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rest = [d for d in range(array.ndim) if d not in (a, b)]
    moved = array.transpose(*rest, a, b)
    moved = moved[..., offset:] if offset >= 0 else moved[..., -offset:, :]
    n = min(moved.shape[-2:])
    return window(moved, (*moved.shape[:-2], n), (*moved.strides[:-2], moved.strides[-2] + moved.strides[-1]))


@op(
    "diagonal_backward",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    self=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
)
def diagonal_backward(self: Any, shape: tuple[int, ...], offset: int, dim1: int, dim2: int) -> Array:
    found: Array = np.zeros(shape, self.dtype)
    diagonal_of(found, offset, dim1, dim2)[...] = self
    return found


@view_op(
    "unfold",
    function=False,
    self=lambda grad, self_shape, dimension, size, step: unfold_backward(grad, self_shape, dimension, size, step),
)
def unfold(self: Any, dimension: int, size: int, step: int) -> Array:
    array: Array = self
    d = wrap_dim(dimension, array.ndim)
    have = array.shape[d] if array.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > have:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {have} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if array.ndim == 0:
        return strided_array(array, (size,), (array.itemsize,))
    shape = (*array.shape[:d], (have - size) // step + 1, *array.shape[d + 1 :], size)
    strides = (*array.strides[:d], array.strides[d] * step, *array.strides[d + 1 :], array.strides[d])
    return window(array, shape, strides)


@op(
    "unfold_backward",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    self=lambda grad, dimension, size, step: grad.unfold(dimension, size, step),
)
def unfold_backward(self: Any, shape: tuple[int, ...], dimension: int, size: int, step: int) -> Array:
    found: Array = np.zeros(shape, self.dtype)
    if not shape:
        return np.asarray(self.sum(dtype=self.dtype))  # of one element, or of none
    d = wrap_dim(dimension, len(shape))
    for i in range(self.shape[d]):
        part = found[(slice(None),) * d + (slice(i * step, i * step + size),)]
        part += np.moveaxis(self[(slice(None),) * d + (i,)], -1, d)
    return found
