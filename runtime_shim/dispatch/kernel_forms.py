"""Forms of kernels: by numpy's names of their arguments, for bfloat16, and the function that calls an op.

Source: numpy_compatibility_arg_names in torch/csrc/utils/python_arg_parser.cpp.

Nothing here runs before a program asks for the first bfloat16 tensor; then the kernels of all ops, and of those that
come later, are wrapped in the conversion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from types import FunctionType
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.function_table import AnyFunction


def by_position(kernel: Callable[..., object]) -> AnyFunction:
    """`kernel`, to be called with all its parameters by position."""
    code = kernel.__code__
    if not code.co_kwonlyargcount:
        return kernel
    code = code.replace(co_argcount=code.co_argcount + code.co_kwonlyargcount, co_kwonlyargcount=0)
    made = FunctionType(code, kernel.__globals__, kernel.__name__, None, kernel.__closure__)
    made.__module__, made.__qualname__ = kernel.__module__, kernel.__qualname__
    return made


_NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}
_OWN = {name: own for own, names in _NAMES.items() for name in names}

#: Functions that PyTorch defines in Python, with the names that are there.
_OF_PYTHON = frozenset({"norm", "split", "unique", "unique_consecutive", "cdist", "tensordot"})


def numpy_name(parameter: str, kwargs: dict[str, object]) -> str | None:
    """The name among `kwargs` that means a parameter which isn't there by its own; `self` is called input as well."""
    for name in ("input", *_NAMES["input"]) if parameter == "self" else _NAMES.get(parameter, ()):
        if name in kwargs:
            return name
    return None


def with_numpy_names(name: str, call: Callable[..., object]) -> AnyFunction:
    """A function that takes numpy's names of dimensions as well; `call` itself if it has no dimensions.

    That of `other` is left out, for the sake of products, whose calls it would slow down.
    """
    code = call.__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    meant = {given: own for given, own in _OWN.items() if own in parameters and given not in parameters}
    if not {"dim", "keepdim"} & {*meant.values()} or name in _OF_PYTHON or name.startswith("__"):
        return call

    @wraps(call)
    def function(*args: object, **kwargs: object) -> Any:
        if not kwargs:
            return call(*args)
        for given in meant.keys() & kwargs.keys():
            kwargs.setdefault(meant[given], kwargs.pop(given))
        return call(*args, **kwargs)

    return function


_ndarray = np.ndarray
FLOAT32 = np.dtype(np.float32)


def _arrays(args: Any) -> Iterator[Any]:
    for a in args:
        if isinstance(a, _ndarray):
            yield a
        elif type(a) in (list, tuple):
            yield from _arrays(a)


def _computed_in_float32(args: object) -> bool:
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


def widened(kernel: Callable[..., object], scales: bool) -> AnyFunction:
    """`kernel`, wrapped in the conversion. If it `scales` its second operand, PyTorch rounds after that as well."""

    def call(*args: object) -> Any:
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
