"""A pickle machine for what TorchScript's pickler writes (`torch/csrc/jit/serialization/pickler.cpp`) and
no more.

The standard unpickler looks up and calls whatever a file names. This one knows a closed set of opcodes, and a
name in the file is looked up in a table of builders; a name that is not there ends the load before anything
is called. `pickletools` decodes, this module executes.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .script_errors import ArchiveError


@dataclass(frozen=True)
class Global:
    """A name in a pickle, as data: `torch FloatStorage` is never imported."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class Instances(Protocol):
    """Makes the archive's own classes."""

    def new(self, name: str) -> Any:
        """An empty instance of the class with this qualified name."""

    def build(self, instance: Any, state: Any) -> None:
        """Gives an instance its state."""

    def enumerator(self, name: str, value: Any) -> Any:
        """The member of an enumeration with this value."""


class Malformed(Exception):
    """The pickle is not one that PyTorch writes; the message says why."""


Builder = Callable[..., Any]
_MARK = object()
_KEYS = (str, int, float, complex, bool)


class PickleMachine:
    """Executes one record.

    `builders` maps "module name" to a function of the reduce arguments; `storage` makes the value of a
    persistent id; `instances` makes script classes.
    """

    def __init__(self, builders: Mapping[str, Builder], storage: Callable[[Any], Any], instances: Instances) -> None:
        self._builders = builders
        self._storage = storage
        self._instances = instances
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def load(self, data: bytes) -> Any:
        """The value of a pickle. Raises Malformed, or what a builder raises (ArchiveError)."""
        self._stack = []
        self._memo = {}
        try:
            for opcode, argument, position in pickletools.genops(data):
                execute = _OPCODES.get(opcode.name)
                if execute is None:
                    raise Malformed(f"opcode {opcode.name} at byte {position} is not one that TorchScript writes")
                try:
                    execute(self, argument)
                except (IndexError, KeyError, TypeError, ValueError, RecursionError) as error:
                    raise Malformed(f"opcode {opcode.name} at byte {position}: {error}") from error
        except (
            ValueError,
            OverflowError,
            MemoryError,
        ) as error:  # genops: unknown opcode, truncated argument
            raise Malformed(f"not a complete pickle: {error}") from error
        if len(self._stack) != 1:
            raise Malformed(f"leaves {len(self._stack)} values where one is expected")
        return self._stack[0]

    # Each method below is one opcode.

    def _nothing(self, _: Any) -> None:
        pass

    def _push(self, value: Any) -> None:
        self._stack.append(value)

    def _mark(self, _: Any) -> None:
        self._stack.append(_MARK)

    def _pop_to_mark(self) -> list[Any]:
        for index in range(len(self._stack) - 1, -1, -1):
            if self._stack[index] is _MARK:
                values = self._stack[index + 1 :]
                del self._stack[index:]
                return values
        raise ValueError("no MARK on the stack")

    def _pop(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise ValueError("a value is missing")
        return value

    def _get(self, key: int) -> None:
        self._stack.append(self._memo[key])

    def _put(self, key: int) -> None:
        value = self._pop()
        self._stack.append(value)
        self._memo[key] = value

    def _tuple(self, _: Any) -> None:
        self._stack.append(tuple(self._pop_to_mark()))

    def _small_tuple(self, length: int) -> None:
        values = [self._pop() for _ in range(length)]
        self._stack.append(tuple(reversed(values)))

    def _global(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        name_of = Global(module, name)
        storage = module == "torch" and name.endswith("Storage")
        if not (storage or module.startswith("__torch__") or argument in self._builders):
            raise Malformed(f"names {name_of}, which no TorchScript archive needs: refused, nothing was called")
        self._stack.append(name_of)

    def _reduce(self, _: Any) -> None:
        arguments = self._pop()
        function = self._pop()
        if not isinstance(function, Global):
            raise ValueError("REDUCE needs a name")
        if function.module.startswith("__torch__"):  # an enumerator: the argument is its value, in no tuple
            self._stack.append(self._instances.enumerator(str(function), arguments))
            return
        if not isinstance(arguments, tuple):
            raise ValueError("REDUCE needs a tuple")
        builder = self._builders.get(f"{function.module} {function.name}")
        if builder is None:
            raise ValueError(f"{function} cannot be called")
        self._stack.append(builder(*arguments))

    def _new(self, _: Any) -> None:
        arguments = self._pop()
        cls = self._pop()
        if not isinstance(cls, Global) or not cls.module.startswith("__torch__") or arguments != ():
            raise ValueError("NEWOBJ needs a class of the archive and no arguments")
        self._stack.append(self._instances.new(str(cls)))

    def _build(self, _: Any) -> None:
        state = self._pop()
        instance = self._pop()
        self._instances.build(instance, state)
        self._stack.append(instance)

    def _set_items(self, _: Any) -> None:
        items = self._pop_to_mark()
        target = self._pop()
        if not isinstance(target, dict) or len(items) % 2:
            raise ValueError("SETITEMS needs a dict and pairs")
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, _KEYS):
                raise ValueError(f"a dict key of type {type(key).__name__}")
            target[key] = value
        self._stack.append(target)

    def _set_item(self, _: Any) -> None:
        value = self._pop()
        key = self._pop()
        self._stack += [_MARK, key, value]
        self._set_items(None)

    def _appends(self, _: Any) -> None:
        items = self._pop_to_mark()
        target = self._pop()
        if not isinstance(target, list):
            raise ValueError("APPENDS needs a list")
        target.extend(items)
        self._stack.append(target)

    def _append(self, _: Any) -> None:
        item = self._pop()
        self._stack += [_MARK, item]
        self._appends(None)

    def _persistent(self, _: Any) -> None:
        self._stack.append(self._storage(self._pop()))


def _protocol(machine: PickleMachine, version: int) -> None:
    if version != 2:
        raise Malformed(f"pickle protocol {version}; TorchScript writes 2")


_Opcode = Callable[[PickleMachine, Any], None]
_M = PickleMachine
_OPCODES: dict[str, _Opcode] = {
    "PROTO": _protocol,
    "STOP": _M._nothing,
    "NONE": lambda machine, _: machine._push(None),
    "NEWTRUE": lambda machine, _: machine._push(True),
    "NEWFALSE": lambda machine, _: machine._push(False),
    **dict.fromkeys(
        ["BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINSTRING", "BINSTRING"],
        _M._push,
    ),
    "MARK": _M._mark,
    "EMPTY_TUPLE": lambda machine, _: machine._push(()),
    "TUPLE": _M._tuple,
    "TUPLE1": lambda machine, _: machine._small_tuple(1),
    "TUPLE2": lambda machine, _: machine._small_tuple(2),
    "TUPLE3": lambda machine, _: machine._small_tuple(3),
    "EMPTY_LIST": lambda machine, _: machine._push([]),
    "APPEND": _M._append,
    "APPENDS": _M._appends,
    "EMPTY_DICT": lambda machine, _: machine._push({}),
    "SETITEM": _M._set_item,
    "SETITEMS": _M._set_items,
    "BINPUT": _M._put,
    "LONG_BINPUT": _M._put,
    "BINGET": _M._get,
    "LONG_BINGET": _M._get,
    "GLOBAL": _M._global,
    "REDUCE": _M._reduce,
    "NEWOBJ": _M._new,
    "BUILD": _M._build,
    "BINPERSID": _M._persistent,
}


def unpickle(
    data: bytes,
    record: str,
    builders: Mapping[str, Builder],
    storage: Callable[[Any], Any],
    instances: Instances,
) -> Any:
    """The value of the pickle `data`; `record` names it in errors. Raises ArchiveError."""
    try:
        return PickleMachine(builders, storage, instances).load(data)
    except Malformed as error:
        raise ArchiveError(str(error), record=record) from error
    except ArchiveError as error:
        if error.record is None:
            error.record = record
        raise
