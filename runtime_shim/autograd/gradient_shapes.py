"""Gradients in the shape and the dtype of what they are gradients of."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import BY_CHAR
from ..core.tensor import Tensor


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
