"""`torch.compiler`: nothing is compiled, so functions that are not to be stay what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["allow_in_graph", "disable", "is_compiling", "is_dynamo_compiling", "reset"]


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function itself; usable as a decorator with and without arguments."""
    return (lambda function: function) if fn is None else fn


def allow_in_graph(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def is_compiling() -> bool:
    return False


is_dynamo_compiling = is_compiling


def reset() -> None:
    """Forget what was compiled."""
