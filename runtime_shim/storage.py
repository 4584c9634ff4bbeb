"""The memory behind tensors, as `untyped_storage()` shows it."""

from __future__ import annotations

from typing import Any

from guardfix.runtime_shim._tensor import address


class UntypedStorage:
    """A handle on a storage record. `writes` is the true write counter: no guard switches it off."""

    __slots__ = ("_record",)

    def __init__(self, record: list[Any]) -> None:
        self._record = record

    @property
    def writes(self) -> int:
        return int(self._record[0])

    def data_ptr(self) -> int:
        return address(self._record[1])

    def nbytes(self) -> int:
        return int(self._record[1].nbytes)

    size = __len__ = nbytes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and other._record is self._record

    def __hash__(self) -> int:
        return id(self._record)
