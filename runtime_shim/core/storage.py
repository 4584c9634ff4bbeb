"""The memory behind tensors, as `untyped_storage()` shows it: bytes, which programs may read and write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .device import CPU
from .dtypes import Array
from .tensor import Tensor, address, attach


class UntypedStorage:
    """A handle on a storage record. `writes` is the true write counter: no guard switches it off."""

    __slots__ = ("_record",)
    #: What `fill_` takes.
    _elements: type = int

    is_cuda = is_sparse = False

    def __init__(self, content: int | Sequence[int] = 0) -> None:
        """So many bytes, or those of a sequence."""
        given = [np.uint8(int(b) & 255) for b in content] if isinstance(content, Sequence) else content
        self._record: list[Any] = [0, np.zeros(given, np.uint8) if isinstance(given, int) else np.array(given)]

    @classmethod
    def of(cls, record: list[Any]) -> UntypedStorage:
        """The handle on a tensor's storage."""
        made = cls.__new__(cls)
        made._record = record
        return made

    @property
    def writes(self) -> int:
        return int(self._record[0])

    @property
    def device(self) -> Any:
        return CPU

    def data_ptr(self) -> int:
        """The address; 0 of a storage without bytes."""
        root = self._record[1]
        return address(root) if root.size else 0

    def nbytes(self) -> int:
        return int(self._record[1].nbytes)

    def __sizeof__(self) -> int:
        return 48 + self.nbytes()  # PyTorch's object, without what the garbage collector adds

    def element_size(self) -> int:
        return 1

    def size(self) -> int:
        """Elements: of an untyped storage, bytes."""
        return self.nbytes() // self.element_size()

    def __len__(self) -> int:
        return self.size()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and other._record is self._record

    def __hash__(self) -> int:
        return id(self._record)

    # -- elements
    # ----------------------------------------------------------------------------------------------

    def _flat(self) -> Array:
        """The elements in the order of the memory."""
        root = self._record[1]
        if not root.flags.forc:
            raise NotImplementedError("the shim has no elements of a storage with gaps; supported: storages without")
        return np.ndarray((root.nbytes,), np.uint8, root if root.flags.c_contiguous else root.T)

    def tolist(self) -> list[Any]:
        return self._flat().tolist()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __contains__(self, value: object) -> bool:
        return value in self.tolist()

    def _place(self, index: Any) -> Any:
        if isinstance(index, slice):
            return index
        if isinstance(index, bool) or not hasattr(index, "__index__"):
            raise TypeError(f"can't index a torch.UntypedStorage with {type(index).__name__}")
        size = self.size()
        if not -size <= index < size:
            raise IndexError(f"index {index} out of range for storage of size {size}")
        return index

    def __getitem__(self, index: Any) -> Any:
        found = self._flat()[self._place(index)]
        return UntypedStorage.of([0, found]) if isinstance(index, slice) else found.item()

    def __setitem__(self, index: object, value: object) -> None:
        flat = self._flat()
        flat[self._place(index)] = self._element(value)
        self._record[0] += 1

    def _element(self, value: object) -> object:
        if type(value) is not int:
            raise RuntimeError(f"fill_ expects int, but got {type(value).__name__}")
        return value & 255

    def fill_(self, value: object) -> UntypedStorage:
        """Write to each element. No version counts this, only the storage's own count does."""
        self._flat()[...] = self._element(value)
        self._record[0] += 1
        return self

    def copy_(self, source: UntypedStorage, non_blocking: bool | None = None) -> UntypedStorage:
        if source.nbytes() != self.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes"
            )
        self._flat()[...] = source._flat()
        self._record[0] += 1
        return self

    def clone(self) -> UntypedStorage:
        return UntypedStorage.of([0, self._flat().copy()])

    def cpu(self) -> UntypedStorage:
        return self

    def resize_(self, size: int) -> UntypedStorage:
        """Accepts only the current size: otherwise, tensors would keep memory that the storage no longer owns."""
        if size != self.nbytes():
            raise NotImplementedError(
                "the shim has no storage that changes its size below its tensors; supported: Tensor.resize_"
            )
        return self

    def is_shared(self) -> bool:
        return False

    def is_pinned(self, device: object = None) -> bool:
        return False

    def type(self, dtype: object = None) -> str:
        return "torch.storage.UntypedStorage"

    def __str__(self) -> str:
        return "\n".join([*(f" {element}" for element in self), f"[{self._title()} of size {self.size()}]"])

    __repr__ = __str__

    def _title(self) -> str:
        return "torch.storage.UntypedStorage(device=cpu)"


def untyped_storage(self: Tensor) -> UntypedStorage:
    """The storage: its address, its size in bytes, and the true count of writes to it."""
    return UntypedStorage.of(self._storage)


attach("untyped_storage", untyped_storage)
