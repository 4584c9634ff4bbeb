"""`torch._jit_internal`: what packages import for their annotations, and what TorchScript would take apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Dict, Final, List, Optional, Tuple, Union  # noqa: UP035

from .core.function_table import AnyFunction
from .core.supported_names import refuses_missing
from .jit.annotations import BroadcastingList1, BroadcastingList2, BroadcastingList3
from .jit.scripted_functions import _overload, export, ignore, is_scripting, unused

__all__ = [
    "BroadcastingList1", "BroadcastingList2", "BroadcastingList3",
    "Dict", "Final", "List", "Optional", "Tuple", "Union", "_overload", "boolean_dispatch", "export", "ignore",
    "is_scripting", "unused",
]  # fmt: skip


def boolean_dispatch(
    arg_name: str,
    arg_index: int,
    default: bool,
    if_true: Callable[..., object],
    if_false: Callable[..., object],
    module_name: str,
    func_name: str,
) -> AnyFunction:
    """The function that calls one of two, as an argument says."""

    def called(*args: object, **kwargs: object) -> object:
        chosen = kwargs[arg_name] if arg_name in kwargs else args[arg_index] if arg_index < len(args) else default
        return (if_true if chosen else if_false)(*args, **kwargs)

    called.__name__, called.__module__ = func_name, module_name
    return called


def _copy_to_script_wrapper(fn: object) -> object:
    return fn


__getattr__ = refuses_missing("torch._jit_internal")
