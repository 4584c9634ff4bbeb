"""Tensors of an archive: storages are read once and shared, sizes, strides and offsets are checked against
them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.account import brief
from ..core.pickle_machine import Global
from .script_errors import ArchiveError
from .torchscript_archive import Archive

DTYPE_CODES: dict[int, str] = {
    0: "uint8",
    1: "int8",
    2: "int16",
    3: "int32",
    4: "int64",
    5: "float16",
    6: "float32",
    7: "float64",
    8: "complex32",
    9: "complex64",
    10: "complex128",
    11: "bool",
    15: "bfloat16",
}
"""TorchScript's integers for dtypes (`c10/core/ScalarType.h`) and the names the backend has for them."""

STORAGES: dict[str, tuple[str, int]] = {
    "ByteStorage": ("uint8", 1),
    "CharStorage": ("int8", 1),
    "ShortStorage": ("int16", 2),
    "IntStorage": ("int32", 4),
    "LongStorage": ("int64", 8),
    "HalfStorage": ("float16", 2),
    "FloatStorage": ("float32", 4),
    "DoubleStorage": ("float64", 8),
    "ComplexFloatStorage": ("complex64", 8),
    "ComplexDoubleStorage": ("complex128", 16),
    "BoolStorage": ("bool", 1),
    "BFloat16Storage": ("bfloat16", 2),
}
"""The types of storages: the dtype, and the bytes of an element."""
_DIFFERENTIABLE = {"float16", "float32", "float64", "complex64", "complex128", "bfloat16"}


@dataclass(frozen=True, eq=False)
class Storage:
    """One record of elements, as a flat tensor of the backend."""

    flat: Any
    dtype: str
    item_size: int
    length: int


class TensorReader:
    """Makes the tensors of one pickle, whose storages are the records below `folder` ("data" or
    "constants").
    """

    def __init__(self, archive: Archive, folder: str, backend: Any, byte_order: str, map_location: str | None) -> None:
        self._archive = archive
        self._folder = folder
        self._backend = backend
        self._swap = byte_order != sys.byteorder
        self._map_location = map_location
        self._storages: dict[str, Storage] = {}

    def storage(self, persistent_id: Any) -> Storage:
        """The storage of `("storage", type, key, location, number of elements)`."""
        match persistent_id:
            case ("storage", Global("torch", kind), str(key), str(location), int(length)):
                pass
            case _:
                raise ArchiveError("a persistent id is not one of a storage")
        if kind not in STORAGES:
            raise ArchiveError(f"storages of type torch.{kind} are not supported; supported: {', '.join(STORAGES)}")
        if not (key.isascii() and key.isdigit()):
            raise ArchiveError(f"the storage key {brief(key)} is not a number")
        dtype, item_size = STORAGES[kind]
        known = self._storages.get(key)
        if known is not None:
            if (known.dtype, known.length) != (dtype, length):
                raise ArchiveError(f"storage {key} is declared twice with different types or lengths")
            return known
        if location != "cpu" and self._map_location is None:
            raise ArchiveError(f"storage {key} was saved on {brief(location)}; pass map_location='cpu' to load it here")
        record = f"{self._folder}/{key}"
        if record not in self._archive:
            raise ArchiveError("the record of this storage is missing", record=record)
        size = self._archive.size(record)
        if length < 0 or size != length * item_size:
            raise ArchiveError(
                f"holds {size} bytes, but {length} elements of {dtype} need {length * item_size}",
                record=record,
            )
        flat = self._flat(self._archive.read(record), dtype, item_size, record)
        self._storages[key] = Storage(flat, dtype, item_size, length)
        return self._storages[key]

    def _flat(self, data: bytes, dtype: str, item_size: int, record: str) -> Any:
        if self._swap:
            unit = item_size // 2 if dtype.startswith("complex") else item_size
            data = np.frombuffer(data, dtype=f"V{unit}").view(f"u{unit}").byteswap().tobytes() if unit > 1 else data
        if dtype == "bfloat16":
            if not hasattr(self._backend, "bfloat16") or not hasattr(self._backend, "frombuffer"):
                raise ArchiveError(
                    "the backend has no bfloat16; convert the model with .float() before saving", record=record
                )
            if not data:
                return self._backend.empty([0], dtype=self._backend.bfloat16)
            return self._backend.frombuffer(bytearray(data), dtype=self._backend.bfloat16)
        elements: npt.NDArray[Any] = np.frombuffer(data, dtype=np.uint8 if dtype == "bool" else dtype)
        # A copy is writable; of a bool, only zero and not zero are known to the arithmetic that follows.
        elements = elements != 0 if dtype == "bool" else elements.copy()
        return self._backend.from_numpy(elements)

    def rebuild(
        self,
        storage: Any,
        offset: Any,
        size: Any,
        stride: Any,
        requires_grad: Any,
        hooks: Any,
        metadata: Any = None,
    ) -> Any:
        """A tensor over a storage: PyTorch's `_rebuild_tensor_v2`. Neither a view nor sharing a version
        counter.
        """
        if not isinstance(storage, Storage):
            raise ArchiveError("a tensor without a storage")
        if not (_naturals((offset,)) and _naturals(size) and _naturals(stride) and len(size) == len(stride)):
            raise ArchiveError(f"a tensor with offset {brief(offset)}, sizes {brief(size)} and strides {brief(stride)}")
        if hooks or metadata:
            raise ArchiveError("a tensor with backward hooks, or a conjugate view: use resolve_conj() before saving")
        numel = 1
        for extent in size:
            numel *= extent
        if numel * storage.item_size > self._archive.limits.tensor:
            raise ArchiveError(f"a tensor of {numel} elements; at most {self._archive.limits.tensor} bytes are loaded")
        last = offset + sum((extent - 1) * step for extent, step in zip(size, stride, strict=True))
        if (numel and last >= storage.length) or offset > storage.length:
            raise ArchiveError(
                f"a tensor with offset {offset}, sizes {size} and strides {stride} leaves its storage of "
                f"{storage.length} elements"
            )
        if requires_grad and storage.dtype not in _DIFFERENTIABLE:
            raise ArchiveError(f"a tensor of {storage.dtype} that requires grad")
        tensor = storage.flat.as_strided(list(size), list(stride), offset).data
        return tensor.requires_grad_(True) if requires_grad else tensor


def _naturals(values: Any) -> bool:
    return (
        isinstance(values, tuple)
        and len(values) <= 64
        and all(type(value) is int and 0 <= value < 1 << 62 for value in values)
    )
