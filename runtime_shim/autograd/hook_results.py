"""What hooks may return in the place of gradients (torch/csrc/autograd/python_hook.cpp)."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..tape.nodes import Grads


def check_replacement(hook: Any, given: Tensor | None, found: Any) -> None:
    """RuntimeError unless what a hook returned has the dtype and the shape of what it was given."""
    if given is None or not isinstance(found, Tensor):
        return
    name = getattr(hook, "__name__", "<unknown>")
    if found._array.dtype != given._array.dtype:
        raise RuntimeError(f"hook '{name}' has changed the type of value (was {given.type()} got {found.type()})")
    if found._array.shape != given._array.shape:
        raise RuntimeError(f"hook '{name}' has changed the size of value")


def as_given(hook: Any, found: Any, given: Grads) -> Grads:
    """What a node's hook returned, as a list. RuntimeError unless it is as many values as the hook was given, of the
    same dtypes and shapes."""
    values = [found] if isinstance(found, Tensor) else list(found)
    if len(values) != len(given):
        name = getattr(hook, "__name__", "<unknown>")
        raise RuntimeError(
            f"hook '{name}' has returned an incorrect number of values (got {len(values)}, but expected {len(given)})"
        )
    for value, one in zip(values, given, strict=True):
        check_replacement(hook, one, value)
    return values
