"""Whether tensors share memory, and a storage that becomes larger with all tensors that share it."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np

from ..core import error_texts
from ..core.dtypes import Array
from ..core.memory_layout import byte_range, non_overlapping_and_dense, same_memory
from ..core.tensor import Tensor, address, new_tensor


def assert_no_overlap(self: Tensor, args: tuple[Any, ...]) -> None:
    """Refuse to write where elements share memory with each other or, partly, with an input."""
    array = self._array
    if not array.size:
        return
    if 0 in array.strides and any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)):
        raise RuntimeError(error_texts.WRITE_OVERLAP)
    for other in args[1:]:
        if isinstance(other, Tensor) and other._storage is self._storage and other._array is not array:
            if not (array.size and other._array.size and non_overlapping_and_dense(self)):
                continue
            if not non_overlapping_and_dense(other):
                continue
            mine, theirs = byte_range(self), byte_range(other)
            if mine == theirs and same_memory(self, other) and self._array.strides == other._array.strides:
                continue
            if mine[0] < theirs[1] and theirs[0] < mine[1]:
                raise RuntimeError(error_texts.PARTIAL_OVERLAP)


def may_share(a: Tensor, b: Tensor) -> bool:
    """Whether they are one tensor, or dense ones that overlap in memory, wholly or in part."""
    if a is b:
        return True
    if a._storage is not b._storage or not (a._array.size and b._array.size):
        return False
    if not (non_overlapping_and_dense(a) and non_overlapping_and_dense(b)):
        return False
    mine, theirs = byte_range(a), byte_range(b)
    return mine[0] < theirs[1] and theirs[0] < mine[1]


def resize_storage(t: Tensor, shape: tuple[int, ...]) -> None:
    """Give `t` a contiguous shape over its own storage, from where it starts; a storage too small grows."""
    root = t._storage[1]
    count = int(np.prod(shape, dtype=np.int64))
    offset = t.storage_offset()
    if root.dtype == t._array.dtype and root.flags.c_contiguous and root.size >= offset + count:
        t._array = root.reshape(-1)[offset : offset + count].reshape(shape)
        return
    if not root.flags.forc:  # not memory of its own, as what is expanded
        grown = np.zeros(offset + count, t._array.dtype)
        if root.dtype == t._array.dtype:
            flat = root.reshape(-1)[: offset + count]
            grown[: flat.size] = flat
        t._storage = [t._storage[0], grown]
        t._array = grown[offset:].reshape(shape)
        return
    shared = _references(t) > _ALONE
    memory = _grow(t._storage, (offset + count) * t._array.itemsize, shared)
    t._array = np.ndarray(shape, t._array.dtype, memory, offset * t._array.itemsize)


def _grow(record: list[Any], nbytes: int, shared: bool) -> Array:
    """Move a storage to memory of at least so many bytes, and the tensors that share it as well; the bytes."""
    root = record[1]
    grown = np.zeros(max(root.size, -(-nbytes // root.itemsize)), root.dtype)
    grown[: root.size] = root.ravel(order="K")
    memory = grown.view(np.uint8)
    if shared:  # to find the others takes milliseconds
        start = address(root)
        for other in gc.get_referrers(record):
            if isinstance(other, Tensor) and other._storage is record:
                old = other._array
                array = np.ndarray(old.shape, old.dtype, memory, address(old) - start, old.strides)
                other._array = array if type(old) is np.ndarray else array.view(type(old))
    record[1] = grown
    return memory


def _references(t: Tensor) -> int:
    """References to the storage of `t`, counted always in the same way."""
    return sys.getrefcount(t._storage)


_ALONE = _references(new_tensor(np.zeros(1)))
