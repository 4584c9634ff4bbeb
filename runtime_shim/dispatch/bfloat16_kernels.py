"""Kernels on bfloat16: computed in float32 and rounded once, as PyTorch's are.

Nothing here runs before a program asks for the first bfloat16 tensor; then the kernels of all ops, and of those that
come later, are put behind the conversion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import dtypes

_ndarray = np.ndarray
FLOAT32 = np.dtype(np.float32)


def _arrays(args: Any) -> Iterator[Any]:
    for a in args:
        if isinstance(a, _ndarray):
            yield a
        elif type(a) in (list, tuple):
            yield from _arrays(a)


def _computed_in_float32(args: Any) -> bool:
    """Whether all that is floating among the arguments is bfloat16, but for numbers in tensors beside dimensions.

    What is mixed goes to the kernel as it is: it promotes by itself, or refuses.
    """
    found, others = -1, 0
    for a in _arrays(args):
        kind = a.dtype.kind
        if kind == "V":
            found = max(found, a.ndim)
        elif kind in "fc":
            if a.ndim or kind == "c":
                return False
            others = 1
    return found >= others


def _wide(value: Any) -> Any:
    if isinstance(value, _ndarray):
        return value.astype(FLOAT32) if value.dtype.kind == "V" else value
    if type(value) in (list, tuple):
        return type(value)(_wide(v) for v in value)
    return dtypes.float32 if value is dtypes.bfloat16 else value


def _narrow(value: Any) -> Any:
    if isinstance(value, _ndarray | np.generic):
        return np.asarray(value).astype(dtypes.bfloat16.numpy) if value.dtype == FLOAT32 else value
    return type(value)(_narrow(v) for v in value) if type(value) in (list, tuple) else value


def widened(kernel: Callable[..., Any], scales: bool) -> Callable[..., Any]:
    """`kernel` behind the conversion. If it `scales` its second operand, PyTorch rounds after that as well."""

    def call(*args: Any) -> Any:
        if (scales and len(args) == 3 and args[2] != 1) or not _computed_in_float32(args):
            return kernel(*args)
        found = kernel(*map(_wide, args))
        asked = [a for a in args if isinstance(a, dtypes.dtype)]
        return found if asked and dtypes.bfloat16 not in asked else _narrow(found)

    call.__module__, call.__qualname__ = kernel.__module__, kernel.__qualname__
    return call


def widened_in_place(kernel: Callable[..., None], scales: bool) -> Callable[..., None]:
    def call(target: Any, *args: Any) -> None:
        if (scales and len(args) == 2 and args[1] != 1) or not _computed_in_float32((target, *args)):
            kernel(target, *args)
            return
        wide = _wide(target)
        kernel(wide, *map(_wide, args))
        if wide is not target:
            np.copyto(target, wide, casting="unsafe")

    return call


def widen(op: Any) -> None:
    """Let the kernels of an op compute on bfloat16."""
    scales = op.params == ("self", "other", "alpha")
    object.__setattr__(op, "kernel", widened(op.kernel, scales))
    if op.inplace_kernel is not None:
        object.__setattr__(op, "inplace_kernel", widened_in_place(op.inplace_kernel, scales))
