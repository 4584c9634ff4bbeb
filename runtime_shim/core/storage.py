"""The memory behind tensors, as `untyped_storage()` shows it."""

from __future__ import annotations

from typing import Any

from .stand_in_array import StandInArray
from .tensor import Tensor, address, attach


class UntypedStorage:
    """A handle on a storage record. `writes` is the true write counter: no guard switches it off."""

    __slots__ = ("_record",)

    def __init__(self, record: list[Any]) -> None:
        self._record = record

    @property
    def writes(self) -> int:
        return int(self._record[0])

    def data_ptr(self) -> int:
        """The address; 0 of a storage without bytes."""
        root = self._record[1]
        if type(root) is StandInArray:
            raise RuntimeError("Attempted to access the data pointer on an invalid python storage.")
        return address(root) if root.size else 0

    def nbytes(self) -> int:
        return int(self._record[1].nbytes)

    def size(self) -> int:
        """Bytes."""
        return self.nbytes()

    def __len__(self) -> int:
        return self.size()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and other._record is self._record

    def __hash__(self) -> int:
        return id(self._record)


def untyped_storage(self: Tensor) -> UntypedStorage:
    """The storage: its address, its size in bytes, and the true count of writes to it."""
    return UntypedStorage(self._storage)


attach("untyped_storage", untyped_storage)
