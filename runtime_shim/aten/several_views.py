"""Ops that return several views of one tensor: unbind, split, chunk and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import dtypes
from ..core.dtypes import Array, sizes, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..core.thread_state import tls
from ..dispatch.functional_layers import functional
from ..dispatch.op_node import describe_recording
from ..dispatch.registration import composite
from ..dispatch.view_layers import make_views
from .parts import slice_


def _zeros_like_window(grads: Sequence[Tensor | None]) -> Tensor:
    return next(g for g in grads if g is not None)


def _unbind_back(grads: Sequence[Any], self_shape: tuple[int, ...], dim: int) -> Tensor:
    like = _zeros_like_window(grads)
    return FUNCTIONS["stack"]([FUNCTIONS["zeros_like"](like) if g is None else g for g in grads], dim)


def _split_back(grads: Sequence[Any], self_shape: tuple[int, ...], split_size: Any, dim: int) -> Tensor:
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
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at "
            "dimension "
            f"{dim}), but got split_sizes={sizes(split_size)}"
        )
    return list(split_size)


@composite("split")
def split(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
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
def unsafe_split(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
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
