"""What a gradient and what hooks make of it must be: its shape, its dtype, its kind."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import BY_CHAR
from ..core.tensor import Tensor
from ..tape.nodes import Grads


def expandable_to(shape: tuple[int, ...], desired: tuple[int, ...]) -> bool:
    if len(shape) > len(desired):
        return False
    return all(size in (1, target) for size, target in zip(reversed(shape), reversed(desired), strict=False))


def sum_to(t: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Sum over the dimensions along which `shape` was broadcast to the shape of `t`."""
    if not shape:
        return t.sum()
    have = t._array.shape
    lead = len(have) - len(shape)
    dims = list(range(lead)) + [i for i in range(lead, len(have)) if shape[i - lead] == 1 and have[i] != 1]
    if dims:
        t = t.sum(dims, keepdim=True)
    return t.view(shape) if lead > 0 else t


def gradient_in_dtype(grad: Tensor, dtype: Any) -> Tensor:
    """In the dtype of what it is a gradient of; the real part if that is real."""
    if grad._array.dtype.kind == "c" and dtype.kind != "c":
        grad = grad.real
    found: Tensor = grad.to(BY_CHAR[dtype.char])
    return found


def check_replacement(hook: object, given: Tensor | None, found: object) -> None:
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
