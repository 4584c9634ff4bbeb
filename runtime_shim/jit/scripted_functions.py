"""`torch.jit.script`, and the names that mark functions for it. Source of the words: torch/jit/_script.py of 2.13."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..core.error_texts import UnsupportedError
from ..futures import Future
from ..nn.module import Module
from .call_recorder import TracerWarning
from .checked_functions import ScriptFunction, is_scripting, scripted_function
from .scripted_modules import (
    RecursiveScriptModule,
    ScriptModule,
    freeze,
    optimize_for_inference,
    script_method,
    scripted_module,
)
from .traced_modules import TracedModule, TracingCheckError, trace_module
from .traced_modules import traced as trace


def script(
    obj: object, optimize: object = None, _frames_up: int = 0, _rcb: object = None, example_inputs: object = None
) -> Any:
    """A ScriptFunction of a Python function, a RecursiveScriptModule of a module; classes are returned as they are.

    NotSupportedError or RuntimeError if the function, or one that it calls, is not TorchScript; OSError if the source
    is not available.
    """
    if isinstance(obj, (ScriptFunction, RecursiveScriptModule)) or inspect.isclass(obj):
        return obj
    if isinstance(obj, Module):
        return scripted_module(obj)
    if not inspect.isfunction(obj):
        raise UnsupportedError(
            f"the shim's torch.jit.script takes functions and modules, and was given a {type(obj).__name__}"
        )
    return scripted_function(obj, ())


# ---- names that mark functions for the compiler


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Marks a function that scripted code calls as Python. With or without arguments."""
    if callable(drop):
        drop._torchscript_modifier = "ignore"
        return drop

    def mark(function: Any) -> Any:
        function._torchscript_modifier = "ignore"
        return function

    return mark


def unused(fn: Any) -> Any:
    """Marks a function that scripted code must not call."""
    fn._torchscript_modifier = "unused"
    return fn


def export(fn: Any) -> Any:
    """Marks a method that is compiled though `forward` doesn't call it."""
    fn._torchscript_modifier = "export"
    return fn


def annotate(the_type: object, the_value: object) -> object:
    """`the_value`, which TorchScript takes to be of `the_type`."""
    return the_value


def script_if_tracing(fn: object) -> object:
    """`fn`: the shim doesn't trace."""
    return fn


_script_if_tracing = script_if_tracing


def is_tracing() -> bool:
    return False


def _overload(func: object) -> object:
    """Marks one of several declarations of a function; the last one has the body."""
    return func


def fork(func: Callable[..., object], *args: object, **kwargs: object) -> Future[object]:
    """A future of `func(*args, **kwargs)`, which is done; raises what the function raises."""
    made: Future[object] = Future()
    made.set_result(func(*args, **kwargs))
    return made


def wait(future: Future[object]) -> object:
    """The result of a forked task. TypeError for anything else."""
    if not isinstance(future, Future):
        raise TypeError(f"wait(): incompatible function arguments: expected a Future, got {type(future).__name__}")
    return future.wait()


_fork, _wait = fork, wait


__all__ = [
    "RecursiveScriptModule", "ScriptFunction", "ScriptModule", "TracedModule", "TracerWarning", "TracingCheckError",
    "freeze", "is_scripting", "optimize_for_inference", "script", "script_method", "trace", "trace_module",
]  # fmt: skip
