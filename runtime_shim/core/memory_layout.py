"""Where a tensor lies in memory: its geometry, whether it is dense, what it shares with another."""

from __future__ import annotations

import numpy as np

from .dtypes import Array
from .tensor import Tensor, address

#: (shape, strides, storage offset), strides and offset in elements
Geometry = tuple[tuple[int, ...], tuple[int, ...], int]


def geometry(t: Tensor) -> Geometry:
    return t._array.shape, t.stride(), t.storage_offset()


def obeys_layout(grad: Tensor, variable: Tensor) -> bool:
    """Whether `grad` is laid out as `.grad` of `variable` is to be, so that it need not be copied."""
    if not non_overlapping_and_dense(variable):
        return grad._array.flags.c_contiguous
    for n, mine, wanted in zip(grad._array.shape, grad.stride(), variable.stride(), strict=True):
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


def same_memory(a: Tensor, b: Tensor) -> bool:
    return a._storage is b._storage and address(a._array) == address(b._array)


def byte_range(t: Tensor) -> tuple[int, int]:
    """First byte and one past the last of a dense tensor."""
    low = address(t._array)
    return low, low + t._array.nbytes


def laid_out_like(found: Array, model: Array) -> Array:
    """`found` with the order of strides that `model` has; a copy only where they differ."""
    if found.flags.c_contiguous and model.flags.c_contiguous:
        return found
    made = np.empty_like(model, dtype=found.dtype, subok=False)
    np.copyto(made, found)
    return made
