"""Views of parts of a tensor: select, slice, diagonal, unfold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.array_kinds import marked
from ..core.dtypes import Array, sizes, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..core.thread_state import tls
from ..dispatch.functional_layers import functional
from ..dispatch.op_node import describe_recording
from ..dispatch.registration import composite, inner_op
from ..dispatch.view_layers import make_views, view_op
from .views import strided_array, window


def _select_back(grad: Tensor, self_shape: tuple[int, ...], dim: int, index: int) -> Tensor:
    return select_backward(grad, self_shape, dim, index)


@inner_op("select_backward", self=lambda grad, dim, index: grad.select(dim, index))
def select_backward(self: Array, shape: tuple[int, ...], dim: int, index: int) -> Array:
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


@inner_op("slice_backward", self=lambda grad, dim, start, end, step: slice_(grad, dim, start, end, step))
def slice_backward(self: Array, shape: tuple[int, ...], dim: int, start: Array, end: Array, step: int) -> Array:
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


def sliced(array: Array, dim: int, start: object, end: object, step: int) -> Array:
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
def narrow(self: Tensor, dim: int, start: object, length: int) -> Tensor:
    return slice_(self, dim, *_narrowed(self._array, dim, start, length), 1)


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


@inner_op("diagonal_backward", self=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2))
def diagonal_backward(self: Array, shape: tuple[int, ...], offset: int, dim1: int, dim2: int) -> Array:
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


@inner_op("unfold_backward", self=lambda grad, dimension, size, step: grad.unfold(dimension, size, step))
def unfold_backward(self: Array, shape: tuple[int, ...], dimension: int, size: int, step: int) -> Array:
    found: Array = np.zeros(shape, self.dtype)
    if not shape:
        return np.asarray(self.sum(dtype=self.dtype))  # of one element, or of none
    d = wrap_dim(dimension, len(shape))
    for i in range(self.shape[d]):
        part = found[(slice(None),) * d + (slice(i * step, i * step + size),)]
        part += np.moveaxis(self[(slice(None),) * d + (i,)], -1, d)
    return found


def _zeros_like_window(grads: Sequence[Tensor | None]) -> Tensor:
    return next(g for g in grads if g is not None)


def _unbind_back(grads: Sequence[Any], self_shape: tuple[int, ...], dim: int) -> Tensor:
    like = _zeros_like_window(grads)
    return FUNCTIONS["stack"]([FUNCTIONS["zeros_like"](like) if g is None else g for g in grads], dim)


def _split_back(grads: Sequence[Any], self_shape: tuple[int, ...], split_size: object, dim: int) -> Tensor:
    like = _zeros_like_window(grads)
    d = wrap_dim(dim, len(self_shape))
    parts = []
    for g, n in zip(grads, split_lengths(self_shape[d], split_size), strict=True):
        shape = (*self_shape[:d], n, *self_shape[d + 1 :])
        parts.append(FUNCTIONS["zeros"](shape, dtype=like.dtype) if g is None else g)
    return FUNCTIONS["cat"](parts, d)


UNBIND = describe_recording("unbind", lambda self, dim: self, {"self": _unbind_back})
SPLIT = describe_recording("split", lambda self, split_size, dim: self, {"self": _split_back})
SPLIT_WITH_SIZES = describe_recording("split_with_sizes", lambda self, split_size, dim: self, {"self": _split_back})


def split_lengths(size: int, split_size: Any) -> list[int]:
    if not isinstance(split_size, int):
        return list(split_size)
    if split_size == 0:
        return [0]
    count = max((size + split_size - 1) // split_size, 1)
    return [split_size] * (count - 1) + [size - split_size * (count - 1)]


def _pieces(array: Array, lengths: Sequence[int], dim: int) -> list[Array]:
    lead = (slice(None),) * dim
    found, start = [], 0
    for n in lengths:
        part = (*lead, slice(start, start + n))
        found.append(array[part])
        start += n
    return found


@composite("unbind")
def unbind(self: Tensor, dim: int = 0, *, axis: int | None = None) -> tuple[Tensor, ...]:
    """Views of the slices along one dimension; they may not be written to where that would be recorded."""
    dim = dim if axis is None else axis
    array: Any = self._array
    d = wrap_dim(dim, array.ndim)
    if array.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    lead = (slice(None),) * d
    parts = [(*lead, i, Ellipsis) for i in range(array.shape[d])]
    return tuple(make_views(UNBIND, self, [array[part] for part in parts], (dim,)))


def _check_split(self: Tensor, split_size: Any, dim: int) -> list[int]:
    if self._array.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    size = self._array.shape[wrap_dim(dim, self._array.ndim)]
    if isinstance(split_size, int):
        if split_size < 0:
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
        if split_size == 0 and size != 0:
            raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
        return split_lengths(size, split_size)
    if any(n < 0 for n in split_size):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={sizes(split_size)}"
        )
    if sum(split_size) != size:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {dim}), "
            f"but got split_sizes={sizes(split_size)}"
        )
    return list(split_size)


@composite("split")
def split(self: Tensor, split_size: object, dim: int = 0) -> tuple[Tensor, ...]:
    if not isinstance(self, Tensor):
        raise AttributeError(f"'{type(self).__name__}' object has no attribute 'split'")
    lengths = _check_split(self, split_size, dim)
    chosen = SPLIT if isinstance(split_size, int) else SPLIT_WITH_SIZES
    d = wrap_dim(dim, self._array.ndim)
    return tuple(make_views(chosen, self, _pieces(self._array, lengths, d), (split_size, dim)))


@composite("split_with_sizes")
def split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    return split(self, list(split_sizes), dim)


@composite("chunk")
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    if self._array.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = self._array.shape[wrap_dim(dim, self._array.ndim)]
    each = (size + chunks - 1) // chunks
    if each == 0 and size == 0:
        return split(self, [0] * chunks, dim)
    return split(self, each, dim)


def _sections(given: Tensor) -> Any:
    start = "tensor_split expected tensor_indices_or_sections to"
    if given._array.ndim > 1:
        raise RuntimeError(
            f"{start} be a zero-dimensional or one-dimensional tensor, but got a tensor with {given._array.ndim} dims"
        )
    if given.dtype is not dtypes.int64:
        raise RuntimeError(f"{start} have dtype of long, but got {given.dtype.scalar_name}")
    return given.tolist()


@composite("tensor_split")
def tensor_split(
    self: Tensor, indices_or_sections: Any = None, dim: int = 0, *, sections: Any = None, indices: Any = None
) -> tuple[Tensor, ...]:
    """Views of parts: as many as `sections`, of nearly the same size, or parted at `indices`."""
    if self._array.ndim == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    d = wrap_dim(dim, self._array.ndim)
    size = self._array.shape[d]
    given = sections if sections is not None else indices if indices is not None else indices_or_sections
    indices_or_sections = _sections(given) if isinstance(given, Tensor) else given
    if isinstance(indices_or_sections, int) and indices_or_sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {indices_or_sections}")
    if isinstance(indices_or_sections, int):
        least, extra = divmod(size, indices_or_sections)
        ends, bounds = 0, []
        for i in range(indices_or_sections - 1):
            ends += least + (i < extra)
            bounds.append(ends)
    else:
        bounds = [int(i) for i in indices_or_sections]
    starts, stops = [0, *bounds], [*bounds, size]
    return tuple(slice_(self, d, a, b, 1) for a, b in zip(starts, stops, strict=True))


def _list_outputs(found: Sequence[Tensor]) -> tuple[Tensor, ...]:
    return tuple(found)


def _copies(self: Any, split_size: Any, dim: int = 0) -> tuple[Array, ...]:
    d = wrap_dim(dim, self.ndim)
    return tuple(p.copy() for p in _pieces(self, split_lengths(self.shape[d], split_size), d))


@composite("unsafe_split")
def unsafe_split(self: Tensor, split_size: object, dim: int = 0) -> tuple[Tensor, ...]:
    """Like split, but autograd does not know that the pieces are views."""
    lengths = _check_split(self, split_size, dim)
    pieces = _pieces(self._array, lengths, wrap_dim(dim, self._array.ndim))
    found: Sequence[Tensor] = functional(UNSAFE_SPLIT, tls.state, (self, split_size, dim))
    for made, piece in zip(found, pieces, strict=True):
        made._array, made._storage = piece, self._storage
    return tuple(found)


@composite("unsafe_split_with_sizes")
def unsafe_split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    return unsafe_split(self, list(split_sizes), dim)


UNSAFE_SPLIT = describe_recording("unsafe_split", _copies, {"self": _split_back}, below=split, outputs=_list_outputs)


@composite("unsafe_chunk")
def unsafe_chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    size = self._array.shape[wrap_dim(dim, self._array.ndim)]
    return unsafe_split(self, (size + chunks - 1) // chunks, dim)
