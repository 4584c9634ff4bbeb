"""`torch.overrides`: functions that ask their arguments, and modes, by `__torch_function__`.

Source: torch/overrides.py of 2.13. Importing this module makes the shim see also classes with a `__torch_function__`
that are no tensors.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .core.function_table import AnyFunction
from .core.supported_names import refuses_missing
from .core.tensor import Tensor
from .core.thread_state import tls
from .dispatch import function_overrides as _dispatch
from .dispatch.function_overrides import (
    ALL_DISABLED,
    ENABLED,
    asks,
    overloaded,
    watch_for_classes,
)

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "wrap_torch_function",
]

watch_for_classes()


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether a function has to ask a mode or one of its arguments."""
    state = tls.state
    if state.function_off == ALL_DISABLED:
        return False
    if state.function_modes:
        return True
    return state.function_off == ENABLED and any(asks(type(argument)) for argument in relevant_args)


def has_torch_function_unary(obj: object) -> bool:
    return has_torch_function((obj,))


def has_torch_function_variadic(*args: object) -> bool:
    return has_torch_function(args)


def handle_torch_function(
    public_api: AnyFunction, relevant_args: Iterable[Any], *args: object, **kwargs: object
) -> Any:
    """What the mode or the first of the arguments that is asked makes of a call. TypeError when none makes anything
    of it.
    """
    asked = overloaded(relevant_args)
    types = tuple(type(value) for value in asked)
    state = tls.state
    mode = None
    if state.function_modes and state.function_off != ALL_DISABLED:
        with _pop_mode_temporarily() as mode:
            found = mode.__torch_function__(public_api, types, args, kwargs)
        if found is not NotImplemented:
            return found
    for argument in asked:
        found = type(argument).__torch_function__(public_api, types, args, kwargs)
        if found is not NotImplemented:
            return found
    name = f"{public_api.__module__}.{public_api.__name__}"
    message = (
        f"no implementation found for '{name}' on types that implement __torch_function__: "
        f"{[type(argument) for argument in asked]}"
    )
    if mode is not None:
        message += f" nor was it found on the currently active mode {mode}"
    raise TypeError(message)


def wrap_torch_function(dispatcher: AnyFunction) -> Callable[[AnyFunction], AnyFunction]:
    """Makes a function one that asks the arguments that `dispatcher` picks out."""

    def decorate(function: AnyFunction) -> AnyFunction:
        @functools.wraps(function)
        def wrapped(*args: object, **kwargs: object) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp: object) -> bool:
    """Whether it is a tensor, or has a `__torch_function__`."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


# -- modes


class TorchFunctionMode:
    """Inside, functions of this thread call `__torch_function__(func, types, args, kwargs)`, whose result is theirs."""

    inner: TorchFunctionMode

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func: object, types: object, args: tuple[Any, ...] = (), kwargs: object = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        _push_mode(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _pop_mode()

    @classmethod
    def push(cls, *args: object, **kwargs: object) -> Any:
        warnings.warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`", stacklevel=2)
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that calls what it is asked about."""

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _push_mode(mode: TorchFunctionMode) -> None:
    _dispatch.REPLACEMENTS.begin()
    tls.state.function_modes.append(mode)


def _pop_mode() -> TorchFunctionMode:
    mode: TorchFunctionMode = tls.state.function_modes.pop()
    _dispatch.REPLACEMENTS.end()
    return mode


@contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    modes = tls.state.function_modes
    mode = modes.pop()
    try:
        yield mode
    finally:
        modes.append(mode)


def _get_current_function_mode() -> TorchFunctionMode | None:
    modes = tls.state.function_modes
    return modes[-1] if modes else None


def _get_current_function_mode_stack() -> list[TorchFunctionMode]:
    return list(tls.state.function_modes)


@contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """Nothing to do: in the shim, a mode that is asked may always call functions that ask the modes around it."""
    yield


# -- which functions there are


__getattr__ = refuses_missing("torch.overrides")
