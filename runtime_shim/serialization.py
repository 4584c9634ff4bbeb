"""`torch.serialization`: save and load.

A file is a pickle in the shim's own format. The zip files that PyTorch's `save` writes can be loaded as well. By
default `load` executes a pickle by its own machine that calls nothing of what the file names: storages are
made of bytes of a known kind, and a tensor's sizes, strides and offset must lie in its storage.
"""

from __future__ import annotations

import os
import pickle
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .aten.copies import parts_to_pickle, rebuild
from .core import dtypes, pickle_machine
from .core.device import device, is_known
from .core.dtypes import NumpyDtype
from .core.function_table import AnyFunction
from .core.pickle_machine import CalledByName, Global, Malformed, Opcode, PickleMachine, in_set, naturals, of_kind
from .core.resource_budget import Account, Budget, LimitReached, brief, pay, paying_into
from .core.tensor import Tensor
from .jit.archived_tensors import ZIP, load_saved
from .jit.script_values import ArchiveError
from .nn.parameter import rebuild_buffer, rebuild_parameter

_PROTOCOL = 4


class _Pickler(pickle.Pickler):
    """Writes arrays as kind, shape, order and bytes, so that nothing of numpy is named in the file."""

    def reducer_override(self, obj: object) -> Any:
        if isinstance(obj, np.ndarray) and obj.dtype.char in dtypes.BY_CHAR:
            order: Literal["C", "F"] = "F" if obj.flags.f_contiguous and not obj.flags.c_contiguous else "C"
            return stored_array, (dtypes.of(obj).name, obj.shape, order, obj.tobytes(order))
        if isinstance(obj, Tensor):
            return parts_to_pickle(obj)
        if isinstance(obj, np.generic) and obj.dtype.char in dtypes.BY_CHAR:
            return stored_number, (dtypes.BY_CHAR[obj.dtype.char].name, obj.tobytes())
        return NotImplemented


def stored_array(kind: str, shape: tuple[int, ...], order: str, data: bytes) -> np.ndarray[Any, Any]:
    """The array that `save` took apart. Raises ValueError when the bytes don't fit the shape."""
    dtype = _kind(kind)
    if not (naturals(shape) and order in ("C", "F") and isinstance(data, bytes)):
        raise ValueError("an array that is not made of a kind, a shape, an order and bytes")
    count = 1
    for extent in shape:
        count *= extent
    if count * dtype.itemsize != len(data):
        raise ValueError(f"{len(data)} bytes for an array of shape {list(shape)} of {kind}")
    pay(1, len(data))
    flat = np.frombuffer(bytearray(data), dtype.numpy) if data else np.empty(0, dtype.numpy)
    if dtype.name == "bool":
        flat = flat.view(np.uint8) != 0  # other bytes than 0 and 1 aren't bools to numpy's arithmetic
    return flat.reshape(shape, order="F" if order == "F" else "C")


def stored_number(kind: str, data: bytes) -> Any:
    """A number of numpy's. Raises ValueError when the bytes are not those of one."""
    return stored_array(kind, (), "C", data)[()]


def _kind(name: object) -> dtypes.dtype:
    found = next((known for known in (*dtypes.ALL, dtypes.bfloat16) if known.name == name), None)
    if found is None:
        raise ValueError(f"{brief(name)} is not a dtype")
    return found


def save(obj: Any, f: Any, pickle_module: Any = pickle, pickle_protocol: int = 2, **kwargs: Any) -> None:
    """Write `obj` to a path or binary file; the format is the shim's own (a pickle), not PyTorch's."""
    if hasattr(f, "write"):
        _Pickler(f, _PROTOCOL).dump(obj)
    else:
        with open(f, "wb") as file:
            save(obj, file)


@dataclass(frozen=True)
class LoadLimits:
    """What a file may ask for while it is loaded; in each case so much, and so much more for each of its bytes."""

    steps: int = 1_000_000
    steps_per_byte: int = 1
    size: int = 64 << 20
    """Bytes of all values that are made."""
    size_per_byte: int = 16
    seconds: float = 1.5
    bytes_per_second: int = 4 << 20

    def budget(self, size: int) -> Budget:
        """For a file of so many bytes."""
        return Budget(
            self.steps + self.steps_per_byte * size,
            self.size + self.size_per_byte * size,
            self.seconds + size / self.bytes_per_second,
        )


_OPCODES: dict[str, Opcode] = {
    **pickle_machine.OPCODES,
    "BYTEARRAY8": PickleMachine.push,
    "FROZENSET": PickleMachine.frozen_set,
}
_KEYS = (str, int, float, complex, bool, bytes, tuple, frozenset, type(None), dtypes.dtype, device, np.generic)
_SHIM = __name__.rpartition(".")[0]


class _FileNames(CalledByName):
    """What the names in a file of `save` mean: the shim's own, and plain containers and numbers."""

    def __init__(self) -> None:
        self._storages: dict[int, tuple[Any, list[Any]]] = {}
        own: dict[str, AnyFunction] = {
            "aten.copies rebuild": self._tensor(rebuild),
            "aten.pickling rebuild": self._tensor(rebuild),  # in files of older versions
            "nn.parameter rebuild_parameter": self._tensor(rebuild_parameter),
            "nn.parameter rebuild_buffer": self._tensor(rebuild_buffer),
            "core.dtypes by_name": _kind,
            "core.device device": lambda: device("cpu"),
            "nn.state_dict StateDict": lambda: OrderedDict(),  # in files of older versions
            "serialization stored_array": stored_array,
            "serialization stored_number": stored_number,
        }
        self._calls: dict[str, AnyFunction] = {
            **{f"{_SHIM}.{name}": function for name, function in own.items()},
            **pickle_machine.CALLS,
            **pickle_machine.built_in(
                {
                    "frozenset": lambda values: frozenset(in_set(values)),
                    "slice": slice,
                    "range": lambda *bounds: range(*(of_kind(int, bound) for bound in bounds)),
                }
            ),
            "collections defaultdict": lambda factory=None: defaultdict(_factory(factory)),
        }

    def known(self, name: Global) -> bool:
        if name.key in self._calls or name.key == _SIZE or name.key in _FACTORIES:
            return True
        raise pickle.UnpicklingError(
            "Weights only load failed. The file is not trusted: it refers to the global "
            f"{name}, which is not among those that torch.load reads by default. If you trust where "
            "the file comes from, call torch.load(..., weights_only=False), which can run any code in it."
        )

    def new(self, name: Global, arguments: Any) -> Any:
        if name.key == _SIZE and len(arguments) == 1 and naturals(arguments[0]):
            return dtypes.Size(arguments[0])
        if name.key == f"{_SHIM}.core.device device" and arguments == ():
            return device("cpu")
        raise ValueError(f"{name} is not made like that")

    def build(self, instance: object, state: object) -> None:
        if isinstance(instance, device) and isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):
            name, index = state[1].get("type"), state[1].get("index")
            if is_known(name):
                instance.type, instance.index = str(name), None if index is None else of_kind(int, index)
                return
        if type(instance) is OrderedDict and isinstance(state, dict) and state.keys() == {"_metadata"}:
            vars(instance)["_metadata"] = of_kind(OrderedDict, state["_metadata"])
            return
        raise ValueError(f"a state for a {type(instance).__name__}")

    def persistent(self, key: object) -> Any:
        raise ValueError("persistent ids are not written here")

    def _tensor(self, make: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def checked(storage: object, window: object, flag: object, attributes: object) -> Tensor:
            own = self._storage(storage)
            dtype = _checked_window(own[1], window)
            if not isinstance(flag, bool) or (flag and dtype.kind not in "fcV"):
                raise ValueError(f"a tensor of {dtypes.BY_CHAR[dtype.char].name} whose requires_grad is {brief(flag)}")
            if not isinstance(attributes, dict) or not all(type(name) is str for name in attributes):
                raise ValueError("a tensor's attributes that aren't a dict of names")
            pay(len(attributes), pickle_machine.ENTRY * len(attributes))
            taken = next((name for name in attributes if hasattr(Tensor, name)), None)
            if taken is not None:
                raise ValueError(f"an attribute of a tensor called {brief(taken)}, which would hide its own")
            return make(own, window, flag, attributes)

        return checked

    def _storage(self, given: object) -> list[Any]:
        """The record that tensors of one storage share: one for each list of the file."""
        known = self._storages.get(id(given))
        if known is not None:
            return known[1]
        match given:
            case [int(writes), np.ndarray() as array] if type(given) is list and array.dtype.char in dtypes.BY_CHAR:
                own = [writes, array]
            case _:
                raise ValueError("a storage that is not one")
        self._storages[id(given)] = given, own
        return own


def _checked_window(root: np.ndarray[Any, Any], window: object) -> NumpyDtype:
    """numpy's dtype of a tensor whose shape, strides and offset, in bytes, stay in the storage. Raises ValueError."""
    match window:
        case (tuple(shape), tuple(strides), int(offset), *named) if (
            len(named) <= 1
            and naturals(shape)
            and naturals(strides)
            and naturals((offset,))
            and len(shape) == len(strides)
        ):
            dtype = _kind(named[0]).numpy if named else root.dtype
        case _:
            raise ValueError("a tensor that is not made of sizes, strides and an offset")
    count = 1
    for extent in shape:
        count *= extent
    if count == 0:
        return dtype
    item = dtype.itemsize
    last = offset + sum((extent - 1) * step for extent, step in zip(shape, strides, strict=True)) + item
    if last > root.nbytes or offset % item or any(step % item for step in strides):
        raise ValueError(
            f"a tensor with offset {offset}, sizes {list(shape)} and strides {list(strides)} in bytes leaves its "
            f"storage of {root.nbytes} bytes"
        )
    if count * item > root.nbytes:  # strides of zero
        pay(1, count * item)
    return dtype


_SIZE = f"{_SHIM}.core.dtypes Size"
_FACTORIES: dict[str, Any] = {
    f"{module} {kind.__name__}": kind
    for module in ("builtins", "__builtin__")
    for kind in (int, float, str, list, dict, set)
}


def _factory(named: object) -> Any:
    if named is None:
        return None
    if isinstance(named, Global) and named.key in _FACTORIES:
        return _FACTORIES[named.key]
    raise ValueError("a defaultdict of something else than numbers, texts and containers")


_LEGACY = 0x1950A86A20F9469CFC6C
"""What files of PyTorch's older format, before the zip files, begin with."""


def _checked_format(found: object) -> Any:
    if type(found) is int and found == _LEGACY:
        raise pickle.UnpicklingError(
            "a file in the format of torch.save before PyTorch 1.6, which isn't read here: load it with PyTorch "
            "and save it again, without _use_new_zipfile_serialization=False"
        )
    return found


def _is_zip(f: Any) -> bool:
    """Whether the file goes on like a zip file."""
    if not getattr(f, "seekable", bool)():
        return False
    start = f.read(len(ZIP))
    f.seek(-len(start), os.SEEK_CUR)
    return bool(start == ZIP)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    limits: LoadLimits | None = None,
    **kwargs: Any,
) -> Any:
    """Read what `save` wrote: tensors, containers and numbers alone, unless `weights_only` is false.

    Of the zip files of PyTorch's `torch.save` only such values are read in any case; `map_location` may be "cpu", for
    files saved on another device. `limits` bounds what the file may ask for. pickle.UnpicklingError if it asks for
    more, names anything else or is damaged. With `weights_only=False` a file of `save` can run code.
    """
    if not hasattr(f, "read"):
        with open(f, "rb") as file:
            return load(file, map_location, weights_only=weights_only, limits=limits)
    if weights_only is False and not _is_zip(f):
        return _checked_format(pickle.load(f))
    data = f.read()
    if not isinstance(data, bytes):
        raise TypeError("torch.load needs a path or a file opened in binary mode")
    machine = PickleMachine(_OPCODES, _FileNames(), _KEYS)
    try:
        with paying_into(Account((limits or LoadLimits()).budget(len(data)))):
            if data.startswith(ZIP):
                return load_saved(data, map_location)
            found = _checked_format(machine.load(data))
    except (Malformed, LimitReached, ArchiveError) as error:
        name = getattr(f, "name", None)
        where = f"{os.fspath(name)}: " if isinstance(name, (str, os.PathLike)) else ""
        raise pickle.UnpicklingError(f"{where}{error}") from error
    if machine.end < len(data) and getattr(f, "seekable", bool)():
        f.seek(machine.end - len(data), os.SEEK_CUR)  # several values may be in one file
    return found
