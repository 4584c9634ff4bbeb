"""The zip files of PyTorch's `torch.save`: tensors, containers and numbers, with weights only.

They are archives as those of `torch.jit.save`, without code. A name in the pickle stands for something in a closed
table here; any other one is refused by that name.
"""

from __future__ import annotations

import importlib
import io
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..core import dtypes, pickled_values
from ..core.device import device
from ..core.pickle_machine import Global, Opcode, PickleMachine
from ..core.pickled_values import of_kind
from ..core.thread_state import ADINPLACEORVIEW, tls
from ..nn.parameter import Parameter
from .archived_tensors import TensorReader
from .script_errors import ArchiveError
from .torchscript_archive import Archive, ArchiveLimits

ZIP = b"PK\x03\x04"
"""How a zip file with something in it begins."""
_KEYS = (str, int, float, complex, bool, bytes, tuple, type(None), dtypes.dtype, device)


def load_saved(data: bytes, map_location: Any) -> Any:
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
        shim = importlib.import_module("guardfix.runtime_shim")
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
_OPCODES: dict[str, Opcode] = {**pickled_values.OPCODES, "BINPERSID": PickleMachine.persistent}


class _SavedNames:
    """What the names in such a file mean."""

    def __init__(self, reader: TensorReader) -> None:
        self.persistent = reader.storage

        def rebuilt(*arguments: Any) -> Any:
            made = reader.rebuild(*arguments)
            if made._version_counter is not None and not tls.state.excluded & ADINPLACEORVIEW:
                made._version_counter[0] += 1  # PyTorch calls `set_`
            return made

        self._calls: dict[str, Callable[..., Any]] = {
            "torch._utils _rebuild_tensor_v2": rebuilt,
            "torch._utils _rebuild_parameter": _parameter,
            **pickled_values.CALLS,
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

    def call(self, name: Global, arguments: Any) -> Any:
        function = self._calls.get(name.key)
        if function is None or not isinstance(arguments, tuple):
            raise ValueError(f"{name} is not called like that")
        return function(*arguments)

    def new(self, name: Global, arguments: Any) -> Any:
        if name.key in ("torch Size", "collections OrderedDict"):
            return self.call(name, arguments)
        raise ValueError(f"{name} is not made like that")

    def build(self, instance: Any, state: Any) -> None:
        if type(instance) is OrderedDict and isinstance(state, dict) and state.keys() == {"_metadata"}:
            instance.__dict__["_metadata"] = of_kind(OrderedDict, state["_metadata"])
            return
        raise ArchiveError(f"a state for a {type(instance).__name__}, which torch.load of the shim doesn't read")


def _parameter(data: Any, requires_grad: Any, hooks: Any) -> Parameter:
    if type(data) is Parameter or not hasattr(data, "requires_grad_") or not isinstance(requires_grad, bool):
        raise ValueError("a parameter that is not made of a tensor and whether it requires grad")
    if hooks:
        raise ArchiveError("a parameter with backward hooks: remove them before saving")
    return Parameter(data, requires_grad)


def _size(extents: Any = ()) -> dtypes.Size:
    if isinstance(extents, tuple) and all(type(extent) is int and abs(extent) < 1 << 62 for extent in extents):
        return dtypes.Size(extents)
    raise ValueError("a size that is not made of numbers")
