"""Tensors of archives: those of `torch.jit.save`, and the zip files of `torch.save` with weights only.

They are archives as those of `torch.jit.save`, without code. A name in the pickle stands for something in a closed
table here; any other one is refused by that name.
"""

from __future__ import annotations

import io
import sys
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core import dtypes, pickle_machine
from ..core.device import device
from ..core.function_table import AnyFunction
from ..core.late_modules import late_module
from ..core.pickle_machine import CalledByName, Global, Opcode, PickleMachine, naturals, of_kind
from ..core.resource_budget import brief
from ..core.thread_state import ADINPLACEORVIEW, tls
from ..nn.parameter import Parameter
from .script_values import ArchiveError
from .torchscript_archive import Archive, ArchiveLimits

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
    """Makes the tensors of one pickle, whose storages are the records below `folder` ("data" or "constants")."""

    def __init__(self, archive: Archive, folder: str, backend: Any, byte_order: str, map_location: str | None) -> None:
        self._archive = archive
        self._folder = folder
        self._backend = backend
        self._swap = byte_order != sys.byteorder
        self._map_location = map_location
        self._storages: dict[str, Storage] = {}

    def storage(self, persistent_id: object) -> Storage:
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
        """A tensor over a storage: PyTorch's `_rebuild_tensor_v2`. Neither a view nor sharing a version counter."""
        if not isinstance(storage, Storage):
            raise ArchiveError("a tensor without a storage")
        if not (naturals((offset,)) and naturals(size) and naturals(stride) and len(size) == len(stride)):
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


ZIP = b"PK\x03\x04"
"""How a zip file with something in it begins."""
_KEYS = (str, int, float, complex, bool, bytes, tuple, type(None), dtypes.dtype, device)


def load_saved(data: bytes, map_location: object) -> object:
    """The value in the bytes of a file of PyTorch's `torch.save`.

    Raises ArchiveError and Malformed, LimitReached when that is more than the account allows that is paid into, and
    ValueError for another `map_location` than the CPU.
    """
    if map_location is not None and str(map_location) not in ("cpu", "cpu:0"):
        raise ValueError(f"map_location={map_location!r}: only 'cpu' is supported")
    with Archive(io.BytesIO(data), "", ArchiveLimits()) as archive:
        if "data.pkl" not in archive:
            raise ArchiveError("no data.pkl, which a file of torch.save has")
        if "constants.pkl" in archive:
            raise ArchiveError("an archive of torch.jit.save, which torch.jit.load reads")
        order = archive.read("byteorder")[:20].decode("latin-1") if "byteorder" in archive else "little"
        if order not in ("little", "big"):
            raise ArchiveError(f"byte order {order!r}, neither little nor big", record="byteorder")
        shim = late_module()
        reader = TensorReader(archive, "data", shim, order, None if map_location is None else "cpu")
        return _Machine(_OPCODES, _SavedNames(reader), _KEYS).load(archive.read("data.pkl"))


class _Machine(PickleMachine):
    """A dtype's name is the dtype itself."""

    def _name(self, name: Global) -> None:
        found = _DTYPES.get(name.name) if name.module == "torch" else None
        if found is None:
            super()._name(name)
        else:
            self.push(found)


_DTYPES = {known.name: known for known in (*dtypes.ALL, dtypes.bfloat16)}
_OPCODES: dict[str, Opcode] = {**pickle_machine.OPCODES, "BINPERSID": PickleMachine.persistent}


class _SavedNames(CalledByName):
    """What the names in such a file mean."""

    def __init__(self, reader: TensorReader) -> None:
        self.persistent = reader.storage

        def rebuilt(*arguments: Any) -> Any:
            made = reader.rebuild(*arguments)
            if made._version_counter is not None and not tls.state.excluded & ADINPLACEORVIEW:
                made._version_counter[0] += 1  # PyTorch calls `set_`
            return made

        self._calls: dict[str, AnyFunction] = {
            "torch._utils _rebuild_tensor_v2": rebuilt,
            "torch._utils _rebuild_parameter": _parameter,
            **pickle_machine.CALLS,
            "torch Size": _size,
            "torch device": lambda kind, index=None: (
                device(of_kind(str, kind)) if index is None else device(kind, index)
            ),
        }

    def known(self, name: Global) -> bool:
        if name.key in self._calls or (name.module == "torch" and name.name.endswith("Storage")):
            return True
        raise ArchiveError(
            f"Weights only load failed. The file refers to the global {name}, which is not among those that "
            "torch.load of the shim reads: save a state dict of plain tensors"
        )

    def new(self, name: Global, arguments: object) -> Any:
        if name.key in ("torch Size", "collections OrderedDict"):
            return self.call(name, arguments)
        raise ValueError(f"{name} is not made like that")

    def build(self, instance: object, state: object) -> None:
        if type(instance) is OrderedDict and isinstance(state, dict) and state.keys() == {"_metadata"}:
            instance.__dict__["_metadata"] = of_kind(OrderedDict, state["_metadata"])
            return
        raise ArchiveError(f"a state for a {type(instance).__name__}, which torch.load of the shim doesn't read")


def _parameter(data: object, requires_grad: object, hooks: object) -> Parameter:
    if type(data) is Parameter or not hasattr(data, "requires_grad_") or not isinstance(requires_grad, bool):
        raise ValueError("a parameter that is not made of a tensor and whether it requires grad")
    if hooks:
        raise ArchiveError("a parameter with backward hooks: remove them before saving")
    return Parameter(data, requires_grad)


def _size(extents: object = ()) -> dtypes.Size:
    if isinstance(extents, tuple) and all(type(extent) is int and abs(extent) < 1 << 62 for extent in extents):
        return dtypes.Size(extents)
    raise ValueError("a size that is not made of numbers")
