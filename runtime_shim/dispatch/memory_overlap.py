"""Whether tensors share memory, wholly or in part."""

from __future__ import annotations

from typing import Any

from ..core import error_texts
from ..core.memory_layout import byte_range, non_overlapping_and_dense, same_memory
from ..core.tensor import Tensor


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
