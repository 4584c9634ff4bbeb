"""Numbers, texts and containers in pickles: what their names mean in every format that has weights only."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from .account import pay, pay_for_hashes, weight
from .pickle_machine import VALUE_OPCODES, WIDEST_KEY, Opcode, PickleMachine, protocols

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


def of_kind(kind: type, value: Any) -> Any:
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


def _latin(text: Any, encoding: Any) -> bytes:
    """How protocols below 3 write bytes."""
    if not isinstance(text, str) or encoding != "latin1":
        raise ValueError("an encoding that pickle does not use")
    pay(1, len(text))
    return text.encode("latin1")


def _bytearray(data: Any = b"") -> bytearray:
    pay(1, len(of_kind(bytes, data)))
    return bytearray(data)


def _counter(counts: Any = None) -> Counter[Any]:
    values = of_kind(dict, {} if counts is None else counts)
    pay(sum(weight(key, WIDEST_KEY) for key in values), ENTRY * len(values))
    pay_for_hashes(values)
    return Counter(values)


_BUILT_IN: dict[str, Callable[..., Any]] = {
    "set": lambda values: set(in_set(values)),
    "complex": lambda real, imaginary: complex(of_kind(float, real), of_kind(float, imaginary)),
    "bytearray": _bytearray,
}


def built_in(calls: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The functions by the names of both modules: protocols below 3 call it `__builtin__`."""
    return {f"{module} {name}": call for module in ("builtins", "__builtin__") for name, call in calls.items()}


CALLS: dict[str, Callable[..., Any]] = {
    **built_in(_BUILT_IN),
    "collections OrderedDict": lambda: OrderedDict(),
    "collections Counter": _counter,
    "_codecs encode": _latin,
}
"""What each name makes of its arguments."""
