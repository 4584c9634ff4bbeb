"""Where a tensor lies in memory: its geometry, whether it is dense, what it shares with another; channels last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .array_kinds import ReorderedArray
from .device import channels_last, channels_last_3d
from .dtypes import Array
from .tensor import Tensor, address, attach

#: (shape, strides, storage offset), strides and offset in elements
Geometry = tuple[tuple[int, ...], tuple[int, ...], int]


def geometry(t: Tensor) -> Geometry:
    return t._array.shape, t.stride(), t.storage_offset()


def obeys_layout(grad: Tensor, variable: Tensor) -> bool:
    """Whether `grad` is laid out as `.grad` of `variable` is to be, so that it need not be copied."""
    if not variable._array.size and variable._array.ndim:  # an expanded gradient is copied even then
        return grad._array is grad._storage[1] or any(grad._array.strides)
    if not non_overlapping_and_dense(variable):
        return grad._array.flags.c_contiguous
    # `.data` may have given the variable another shape since: as in PyTorch, the gradient's dimensions count.
    for n, mine, wanted in zip(grad._array.shape, grad.stride(), variable.stride(), strict=False):
        if (mine != wanted) if n != 1 else (mine == 0):
            return False
    return True


def non_overlapping_and_dense(t: Tensor) -> bool:
    array = t._array
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return True
    expected = array.itemsize
    for stride, size in sorted(zip(array.strides, array.shape, strict=True)):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


def viewed_strides(
    have: Sequence[int], strides: Sequence[int], shape: Sequence[int], itemsize: int
) -> tuple[int, ...] | None:
    """The strides, in bytes, of a view in another shape with as many elements; None if there is none.

    Source of the behaviour: computeStride_impl in aten/src/ATen/TensorUtils.cpp.
    """
    if not have:
        return (itemsize,) * len(shape)
    found = [0] * len(shape)
    d = len(shape) - 1
    base = strides[-1]
    together = taken = 1  # elements of the dimensions that lie side by side, and of those made of them
    for i in range(len(have) - 1, -1, -1):
        together *= have[i]
        if i and (have[i - 1] == 1 or strides[i - 1] == together * base):
            continue
        while d >= 0 and (taken < together or shape[d] == 1):
            found[d] = taken * base
            taken *= shape[d]
            d -= 1
        if taken != together:
            return None
        if i:
            base, together, taken = strides[i - 1], 1, 1
    return tuple(found) if d < 0 else None


def same_memory(a: Tensor, b: Tensor) -> bool:
    return a._storage is b._storage and address(a._array) == address(b._array)


def byte_range(t: Tensor) -> tuple[int, int]:
    """First byte and one past the last of a dense tensor."""
    low = address(t._array)
    return low, low + t._array.nbytes


def laid_out_like(found: Array, model: Array) -> Array:
    """`found` with the order of strides that `model` has; a copy only where they differ."""
    if found.flags.c_contiguous and model.flags.c_contiguous and 1 not in model.shape:
        return found
    made = blank_like(model, found.dtype)
    np.copyto(made, found)
    return made


# -- channels last

#: Formats whose channels lie side by side, by rank.
CHANNELS_LAST = {4: channels_last, 5: channels_last_3d}


def _channels_first(array: Array) -> Array:
    """A view of what has channels in its last dimension, with the channels where they are named: second."""
    return array.transpose(0, -1, *range(1, array.ndim - 1))


def _channels_behind(array: Array) -> Array:
    return array.transpose(0, *range(2, array.ndim), 1)


def is_laid_out(array: Array, format: object = None) -> bool:
    """Whether the elements lie in the order of `format` (contiguous by default) without gaps."""
    if format in CHANNELS_LAST.values():
        return CHANNELS_LAST.get(array.ndim) == format and _channels_behind(array).flags.c_contiguous
    return array.flags.c_contiguous


def _is_contiguous(self: Tensor, *, memory_format: object = None) -> bool:
    """Whether the elements lie in order without gaps; with a memory format, in the order of that."""
    return self._array.flags.c_contiguous if memory_format is None else is_laid_out(self._array, memory_format)


attach("is_contiguous", _is_contiguous)


def laid_out(array: Array, format: object) -> Array:
    """A copy in the order of `format`; with `preserve` or None, in that of the array itself as far as it is dense."""
    if format in CHANNELS_LAST.values():
        check_rank(array.ndim, format)
        return _channels_first(_channels_behind(array).copy("C"))
    if format == "contiguous" or (array.flags.c_contiguous and 1 not in array.shape):
        return array.copy("C")
    made = blank_like(array, array.dtype)
    np.copyto(made, array)
    return made


def blank_like(array: Array, dtype: Any) -> Array:
    """New memory in the order of the array's strides: these very strides where it has no gaps."""
    flags = array.flags
    if flags.c_contiguous and 1 not in array.shape:
        return np.empty(array.shape, dtype)
    size = array.itemsize
    strides = tuple([stride // size for stride in array.strides])
    if not (flags.c_contiguous or flags.f_contiguous or _is_dense(array.shape, strides)):
        strides = _dense_strides(array.shape, strides)
    to = np.dtype(dtype).itemsize
    return np.ndarray(array.shape, dtype, strides=[stride * to for stride in strides]).view(ReorderedArray)


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    expected = 1
    for stride, size in sorted((stride, size) for stride, size in zip(strides, shape, strict=True) if size != 1):
        if stride != expected:
            return False
        expected *= size
    return True


def _dense_strides(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a copy without gaps, as `infer_dense_strides` of aten/src/ATen/ExpandUtils.cpp finds them."""
    order = list(range(len(shape) - 1, -1, -1))  # the fastest dimension first
    for i in range(1, len(order)):
        at = i
        for before in range(i - 1, -1, -1):
            a, b = order[before], order[at]
            if not strides[a] or not strides[b]:
                continue  # an expanded dimension may be anywhere
            if strides[a] > strides[b] or (strides[a] == strides[b] and shape[a] > shape[b]):
                order[before], order[at] = b, a
                at = before
            elif strides[a] < strides[b]:
                break
    found, step = [0] * len(shape), 1
    for dim in order:
        found[dim] = step
        step *= max(shape[dim], 1)
    return tuple(found)


def blank(shape: tuple[int, ...], dtype: Any, format: Any) -> Array:
    """Zeros in the order of `format`."""
    if format not in CHANNELS_LAST.values():
        return np.zeros(shape, dtype)
    check_rank(len(shape), format)
    return _channels_first(np.zeros((shape[0], *shape[2:], shape[1]), dtype))


def check_rank(rank: int, format: object) -> None:
    wanted = 4 if format == channels_last else 5
    if rank != wanted:
        raise RuntimeError(f"required rank {wanted} tensor to use {str.__str__(format)} format")


def suggested_format(*arrays: Array) -> object:
    """The channels-last format that a layer's result has: that of the input, or of the weight. Else None.

    Source of the behaviour: is_channels_last_strides_2d in c10/core/MemoryFormat.h.
    """
    for array in arrays:
        if array.ndim in CHANNELS_LAST and not array.flags.c_contiguous and _strides_say_channels_last(array):
            return CHANNELS_LAST[array.ndim]
    return None


def _strides_say_channels_last(array: Array) -> bool:
    least = 0
    if not array.strides[1]:
        return False
    for d in (1, *range(array.ndim - 1, 1, -1), 0):
        size, stride = array.shape[d], array.strides[d] // array.itemsize
        if not size or stride < least:
            return False
        if d == 0 and least == array.strides[1] // array.itemsize:
            return False
        least = stride * size if size > 1 else stride
    return True


def in_common_format(found: Array, models: Sequence[Array]) -> Array:
    """A fresh result in the format that all the inputs have."""
    formats = {suggested_format(model) for model in models}
    return in_format_of(found, models[0]) if len(formats) == 1 else found


def in_format_of(found: Array, *models: Array) -> Array:
    """A layer's fresh result in the format that its inputs suggest."""
    format = suggested_format(*models)
    return found if format is None or CHANNELS_LAST.get(found.ndim) != format else laid_out(found, format)


def by_columns(matrices: Array) -> Array:
    """A copy that lies column by column, as LAPACK leaves matrices."""
    return np.ascontiguousarray(matrices.swapaxes(-2, -1)).swapaxes(-2, -1).view(ReorderedArray)
