"""Calls by the names of their arguments: from an op, whose parameters `torch_ops` has in order, to the Python function
that takes the same ones in another order or under another name, and back.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from inspect import Parameter
from typing import Any

from guardfix.torch_ops.op_table import ops

from ...core.function_table import AnyFunction
from ...dispatch.function_overrides import signature_of
from .call_registry import REDUCTION_NAMES

_RENAMED = {"self": "input", "train": "training", "indices": "input"}
"""Parameters of ops that Python's functions call otherwise."""
_FLOATS = frozenset("p eps momentum label_smoothing dropout_p".split())


@functools.cache
def parameters_of(op: str) -> tuple[str, ...]:
    """The parameters of an op in order, as Python's functions call them, without those that only a keyword gives."""
    names = [argument.name for argument in ops(op, "c")[0].arguments if not argument.keyword_only]
    return tuple(name if _RENAMED.get(name) in names else _RENAMED.get(name, name) for name in names)


@functools.cache
def _accepted(function: Callable[..., object]) -> frozenset[str] | None:
    """The parameters of a function; None for one that takes all, or is written in C."""
    try:
        parameters = signature_of(function).parameters
    except ValueError:
        return None
    takes_all = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    return None if takes_all else frozenset(parameters)


def call_by_names(op: str, function: Callable[..., object], **more: object) -> AnyFunction:
    """What takes the arguments of an op and calls the function; what the function doesn't take is of no account."""
    accepted = _accepted(function)

    def call(*values: Any, **given: Any) -> Any:
        names = parameters_of(op)
        if len(values) > len(names):
            raise TypeError(f"{op}() takes {len(names)} arguments but {len(values)} were given")
        keywords = {**dict(zip(names, values, strict=False)), **given}
        if "reduction" in keywords:
            keywords["reduction"] = REDUCTION_NAMES[keywords["reduction"]]
        if keywords.get("stride") == []:
            del keywords["stride"]
        if keywords.get("padding_idx") == -1:
            del keywords["padding_idx"]
        return function(
            **{name: value for name, value in keywords.items() if accepted is None or name in accepted}, **more
        )

    return call


def spelled_by_names(op: str, function: AnyFunction, args: Any, kwargs: Any) -> tuple[Any, ...] | None:
    """The op that a call of the function comes to, and its arguments in order. None if it has no such form."""
    parameters = parameters_of(op)
    taken = signature_of(function).parameters
    if "args" in taken:  # what is registered as an op takes what the op takes
        values = {**dict(zip(parameters, args, strict=False)), **kwargs}
    else:
        bound = signature_of(function).bind(*args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
    inplace = values.pop("inplace", False)
    for name, value in values.items():
        if name not in parameters and (name not in taken or not _is_default(value, taken[name].default)):
            return None
    spelled = []
    for name in parameters:
        if name in values:
            value = values[name]
            if name == "reduction":
                value = REDUCTION_NAMES.index(value)
            elif name in _FLOATS:
                value = float(value)
            elif name == "stride" and value is None:
                value = values["kernel_size"]
            elif name == "padding_idx":
                value = -1 if value is None else value % values["weight"].size(0)
            elif isinstance(value, tuple):
                value = [*value]
            spelled.append(value)
        elif name.startswith("cudnn_"):
            spelled.append(False)
        else:
            break
    return (op + "_" * bool(inplace), *spelled)


def _is_default(value: object, default: object) -> bool:
    return value is default or (isinstance(value, int | float | str) and bool(value == default))
