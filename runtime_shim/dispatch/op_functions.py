"""Kernels as the layers call them."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


def by_position(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """`kernel`, to be called with all its parameters by position."""
    code = kernel.__code__
    if not code.co_kwonlyargcount:
        return kernel
    code = code.replace(co_argcount=code.co_argcount + code.co_kwonlyargcount, co_kwonlyargcount=0)
    made = FunctionType(code, kernel.__globals__, kernel.__name__, None, kernel.__closure__)
    made.__module__, made.__qualname__ = kernel.__module__, kernel.__qualname__
    return made
