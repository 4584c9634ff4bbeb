"""The functions of an op: its kernel, to be called by position, and those that are made for it."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


class OpCode:
    """The functions that an op gets when it has been called a few times; see `op_code`."""

    __slots__ = ("calls", "direct", "record", "run", "view")

    def __init__(self) -> None:
        self.calls = 0
        self.direct: Callable[..., Any] | None = None  # all that the kernel does on floating arrays of one dtype
        self.view: Callable[..., Any] | None = None
        self.run: Callable[..., Any] | None = None
        self.record: Callable[..., Any] | None = None


def by_position(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """`kernel`, to be called with all its parameters by position."""
    code = kernel.__code__
    if not code.co_kwonlyargcount:
        return kernel
    code = code.replace(co_argcount=code.co_argcount + code.co_kwonlyargcount, co_kwonlyargcount=0)
    made = FunctionType(code, kernel.__globals__, kernel.__name__, None, kernel.__closure__)
    made.__module__, made.__qualname__ = kernel.__module__, kernel.__qualname__
    return made
