"""numpy's names of parameters, which PyTorch's argument parser takes beside its own.

Source: numpy_compatibility_arg_names in torch/csrc/utils/python_arg_parser.cpp.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

_NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}
_OWN = {name: own for own, names in _NAMES.items() for name in names}

#: Functions that PyTorch defines in Python, with the names that stand there.
_OF_PYTHON = frozenset({"norm", "split", "unique", "unique_consecutive", "cdist", "tensordot"})


def numpy_name(parameter: str, kwargs: dict[str, Any]) -> str | None:
    """The name among `kwargs` that means a parameter which isn't there by its own; `self` is called input as well."""
    for name in ("input", *_NAMES["input"]) if parameter == "self" else _NAMES.get(parameter, ()):
        if name in kwargs:
            return name
    return None


def with_numpy_names(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes numpy's names of dimensions as well; `call` itself if it has no dimensions.

    That of `other` is left out, for the sake of products, whose calls it would slow down.
    """
    code = call.__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    meant = {given: own for given, own in _OWN.items() if own in parameters and given not in parameters}
    if not {"dim", "keepdim"} & {*meant.values()} or name in _OF_PYTHON or name.startswith("__"):
        return call

    @wraps(call)
    def function(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            return call(*args)
        for given in meant.keys() & kwargs.keys():
            kwargs.setdefault(meant[given], kwargs.pop(given))
        return call(*args, **kwargs)

    return function
