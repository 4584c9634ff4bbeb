"""A pickle machine that calls nothing of what a file names.

The standard unpickler looks up and calls whatever a file names. This one knows a closed set of opcodes, and a
name in the file is looked up in a table of builders; a name that is not there ends the load before anything
is called. `pickletools` decodes, this module executes.
"""

from __future__ import annotations

import pickletools
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .resource_budget import LimitReached, pay, pay_for_hashes, weight


@dataclass(frozen=True)
class Global:
    """A name in a pickle, as data: `torch FloatStorage` is never imported."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def key(self) -> str:
        """As the table of builders has it."""
        return f"{self.module} {self.name}"


class Malformed(Exception):
    """A pickle that is not of the kind that is read; the message says why."""


Builder = Callable[..., Any]


class Names(Protocol):
    """What the names in a file mean."""

    def known(self, name: Global) -> bool:
        """Whether the file may use the name. May raise what says why not."""

    def call(self, name: Global, arguments: object) -> Any:
        """The value of REDUCE; raises ValueError when the arguments do not fit."""

    def new(self, name: Global, arguments: object) -> Any:
        """The value of NEWOBJ."""

    def build(self, instance: object, state: object) -> None:
        """Gives an instance its state."""

    def persistent(self, key: object) -> Any:
        """The value of a persistent id."""


class CalledByName:
    """The part of `Names` that calls: a function of a table, by its name."""

    _calls: Mapping[str, Callable[..., Any]]

    def call(self, name: Global, arguments: object) -> Any:
        function = self._calls.get(name.key)
        if function is None or not isinstance(arguments, tuple):
            raise ValueError(f"{name} is not called like that")
        return function(*arguments)


def naturals(values: object) -> bool:
    """Whether the values are a tuple of sizes, strides or offsets that a tensor may have."""
    return (
        isinstance(values, tuple)
        and len(values) <= 64
        and all(type(value) is int and 0 <= value < 1 << 62 for value in values)
    )


_MARK = object()
_KEYS = (str, int, float, complex, bool)
WIDEST_KEY = 1000
"""Parts of a tuple that is a key or is in a set: Python computes its hash again each time."""
_POINTER = 8


class PickleMachine:
    """Executes one record: `opcodes` are those that it may hold."""

    def __init__(self, opcodes: Mapping[str, Opcode], names: Names, keys: tuple[type, ...] = _KEYS) -> None:
        self._opcodes = opcodes
        self._names = names
        self._keys = keys
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._hashes: dict[tuple[int, int], int] = {}
        """How many keys of one hash a container holds: Python compares a new one with each of them."""
        self.end = 0
        """Where the pickle ended in the data that was loaded."""

    def load(self, data: bytes) -> Any:
        """The value of a pickle. Raises `Malformed`, `LimitReached`, and what the names raise."""
        self._stack = []
        self._memo = {}
        self._hashes = {}
        try:
            for opcode, argument, position in pickletools.genops(data):
                execute = self._opcodes.get(opcode.name)
                if execute is None:
                    raise Malformed(f"opcode {opcode.name} at byte {position} is not one that is written here")
                try:
                    pay(1, len(argument) if isinstance(argument, (str, bytes)) else 0)
                    execute(self, argument)
                except LimitReached as error:
                    raise LimitReached(f"opcode {opcode.name} at byte {position}: {error}") from error
                except (IndexError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
                    raise Malformed(f"opcode {opcode.name} at byte {position}: {error}") from error
                self.end = (position or 0) + 1  # when it is STOP
        except (ValueError, OverflowError, MemoryError) as error:  # genops: unknown opcode, truncated argument
            raise Malformed(f"not a complete pickle: {error}") from error
        if len(self._stack) != 1:
            raise Malformed(f"leaves {len(self._stack)} values where one is expected")
        if self._stack[0] is _MARK:
            raise Malformed("leaves a mark, and a value is missing")
        return self._pop()

    # Each method below is one opcode.

    def nothing(self, _: object) -> None:
        pass

    def push(self, value: object) -> None:
        self._stack.append(value)

    def mark(self, _: object) -> None:
        self._stack.append(_MARK)

    def _pop_to_mark(self) -> list[object]:
        for index in range(len(self._stack) - 1, -1, -1):
            if self._stack[index] is _MARK:
                values = self._stack[index + 1 :]
                del self._stack[index:]
                pay(len(values), _POINTER * len(values))
                return values
        raise ValueError("no MARK on the stack")

    def _pop(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise ValueError("a value is missing")
        return value

    def get(self, key: int) -> None:
        self._stack.append(self._memo[key])

    def put(self, key: int) -> None:
        value = self._pop()
        self._stack.append(value)
        self._memo[key] = value

    def memoize(self, _: object) -> None:
        self.put(len(self._memo))

    def full_tuple(self, _: object) -> None:
        self._stack.append(tuple(self._pop_to_mark()))

    def small_tuple(self, length: int) -> None:
        values = [self._pop() for _ in range(length)]
        self._stack.append(tuple(reversed(values)))

    def name(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self._name(Global(module, name))

    def stack_name(self, _: object) -> None:
        name, module = self._pop(), self._pop()
        if not (isinstance(module, str) and isinstance(name, str)):
            raise ValueError("a name that is not text")
        self._name(Global(module, name))

    def _name(self, name: Global) -> None:
        if not self._names.known(name):
            raise Malformed(f"names {name}, which is not needed here: refused, nothing was called")
        self._stack.append(name)

    def reduce(self, _: object) -> None:
        arguments = self._pop()
        function = self._pop()
        if not isinstance(function, Global):
            raise ValueError("REDUCE needs a name")
        self._stack.append(self._names.call(function, arguments))

    def new(self, _: object) -> None:
        arguments = self._pop()
        cls = self._pop()
        if not isinstance(cls, Global):
            raise ValueError("NEWOBJ needs a name")
        self._stack.append(self._names.new(cls, arguments))

    def build(self, _: object) -> None:
        state = self._pop()
        instance = self._pop()
        self._names.build(instance, state)
        self._stack.append(instance)

    def set_items(self, _: object) -> None:
        items = self._pop_to_mark()
        target = self._pop()
        if not isinstance(target, dict) or len(items) % 2:
            raise ValueError("SETITEMS needs a dict and pairs")
        for key, value in zip(items[::2], items[1::2], strict=True):
            self._check_key(key, target)
            target[key] = value
        self._stack.append(target)

    def set_item(self, _: object) -> None:
        value = self._pop()
        key = self._pop()
        self._stack += [_MARK, key, value]
        self.set_items(None)

    def _check_key(self, key: object, target: object) -> None:
        pay()
        if not isinstance(key, self._keys):
            raise ValueError(f"a key of type {type(key).__name__}")
        if isinstance(key, (tuple, frozenset)):
            weight(key, WIDEST_KEY)
        if not isinstance(key, (str, bytes)):  # the hashes of these are salted
            place = id(target), hash(key)
            others = self._hashes.get(place, 0)
            pay(others)
            self._hashes[place] = others + 1

    def add_items(self, _: object) -> None:
        items = self._pop_to_mark()
        target = self._pop()
        if not isinstance(target, set):
            raise ValueError("ADDITEMS needs a set")
        self._fill(target, items)
        self._stack.append(target)

    def frozen_set(self, _: object) -> None:
        found: set[object] = set()
        self._fill(found, self._pop_to_mark())
        self._stack.append(frozenset(found))

    def _fill(self, target: set[object], items: list[object]) -> None:
        for item in items:
            self._check_key(item, target)
            target.add(item)

    def appends(self, _: object) -> None:
        items = self._pop_to_mark()
        target = self._pop()
        if not isinstance(target, list):
            raise ValueError("APPENDS needs a list")
        target.extend(items)
        self._stack.append(target)

    def append(self, _: object) -> None:
        item = self._pop()
        self._stack += [_MARK, item]
        self.appends(None)

    def persistent(self, _: object) -> None:
        self._stack.append(self._names.persistent(self._pop()))


Opcode = Callable[[PickleMachine, Any], None]
_M = PickleMachine


def protocols(*versions: int) -> Opcode:
    """The opcode PROTO, for these versions."""

    def protocol(machine: PickleMachine, version: int) -> None:
        if version not in versions:
            raise Malformed(f"pickle protocol {version}; {' or '.join(map(str, versions))} is written here")

    return protocol


VALUE_OPCODES: dict[str, Opcode] = {
    "STOP": _M.nothing,
    "NONE": lambda machine, _: machine.push(None),
    "NEWTRUE": lambda machine, _: machine.push(True),
    "NEWFALSE": lambda machine, _: machine.push(False),
    **dict.fromkeys(["BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE"], _M.push),
    "MARK": _M.mark,
    "EMPTY_TUPLE": lambda machine, _: machine.push(()),
    "TUPLE": _M.full_tuple,
    "TUPLE1": lambda machine, _: machine.small_tuple(1),
    "TUPLE2": lambda machine, _: machine.small_tuple(2),
    "TUPLE3": lambda machine, _: machine.small_tuple(3),
    "EMPTY_LIST": lambda machine, _: machine.push([]),
    "APPEND": _M.append,
    "APPENDS": _M.appends,
    "EMPTY_DICT": lambda machine, _: machine.push({}),
    "SETITEM": _M.set_item,
    "SETITEMS": _M.set_items,
    "BINPUT": _M.put,
    "LONG_BINPUT": _M.put,
    "BINGET": _M.get,
    "LONG_BINGET": _M.get,
    "GLOBAL": _M.name,
    "REDUCE": _M.reduce,
    "NEWOBJ": _M.new,
    "BUILD": _M.build,
}
"""What every pickle of plain values has, whichever program wrote it."""


OPCODES: dict[str, Opcode] = {
    **VALUE_OPCODES,
    "PROTO": protocols(2, 3, 4, 5),
    "FRAME": PickleMachine.nothing,
    "MEMOIZE": PickleMachine.memoize,
    "STACK_GLOBAL": PickleMachine.stack_name,
    **dict.fromkeys(
        ["SHORT_BINUNICODE", "BINUNICODE8", "SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "LONG4"], PickleMachine.push
    ),
    "EMPTY_SET": lambda machine, _: machine.push(set()),
    "ADDITEMS": PickleMachine.add_items,
}


def of_kind(kind: type, value: object) -> Any:
    """The value. Raises ValueError when it is of another type, be it a subclass."""
    if type(value) is kind:
        return value
    raise ValueError(f"{type(value).__name__} where {kind.__name__} is expected")


ENTRY = 100
"""Bytes that an element of a set or a dict takes in it, at most."""


def in_set(values: Any) -> list[Any]:
    """The elements of a set. Raises ValueError for anything but numbers and texts; pays for them and their hashes."""
    pay(len(of_kind(list, values)), ENTRY * len(values))
    for value in values:
        if not isinstance(value, (str, int, float, complex, bool, bytes, type(None))):
            raise ValueError(f"a {type(value).__name__} in a set")
    pay_for_hashes(values)
    return list(values)


def _latin(text: object, encoding: object) -> bytes:
    """How protocols below 3 write bytes."""
    if not isinstance(text, str) or encoding != "latin1":
        raise ValueError("an encoding that pickle does not use")
    pay(1, len(text))
    return text.encode("latin1")


def _bytearray(data: Any = b"") -> bytearray:
    pay(1, len(of_kind(bytes, data)))
    return bytearray(data)


def _counter(counts: object = None) -> Counter[object]:
    values = of_kind(dict, {} if counts is None else counts)
    pay(sum(weight(key, WIDEST_KEY) for key in values), ENTRY * len(values))
    pay_for_hashes(values)
    return Counter(values)


_BUILT_IN: dict[str, Callable[..., Any]] = {
    "set": lambda values: set(in_set(values)),
    "complex": lambda real, imaginary: complex(of_kind(float, real), of_kind(float, imaginary)),
    "bytearray": _bytearray,
}


def built_in(calls: dict[str, Callable[..., object]]) -> dict[str, Callable[..., Any]]:
    """The functions by the names of both modules: protocols below 3 call it `__builtin__`."""
    return {f"{module} {name}": call for module in ("builtins", "__builtin__") for name, call in calls.items()}


CALLS: dict[str, Callable[..., Any]] = {
    **built_in(_BUILT_IN),
    "collections OrderedDict": lambda: OrderedDict(),
    "collections Counter": _counter,
    "_codecs encode": _latin,
}
"""What each name makes of its arguments."""
