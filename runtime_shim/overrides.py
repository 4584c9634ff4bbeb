"""`torch.overrides`: functions that ask their arguments, and modes, by `__torch_function__`.

Source: torch/overrides.py of 2.13. Importing this module makes the shim see also classes with a `__torch_function__`
that are no tensors.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .core.tensor import Tensor
from .core.thread_state import tls
from .dispatch import function_overrides as _dispatch
from .dispatch.function_overrides import (
    ALL_DISABLED,
    ENABLED,
    asks,
    overloaded,
    signature_of,
    watch_for_classes,
)

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
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


def has_torch_function_unary(obj: Any) -> bool:
    return has_torch_function((obj,))


def has_torch_function_variadic(*args: Any) -> bool:
    return has_torch_function(args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
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


def wrap_torch_function(dispatcher: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a function one that asks the arguments that `dispatcher` picks out."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor, or has a `__torch_function__`."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


# -- modes
# ------------------------------------------------------------------------------------------------------------


class TorchFunctionMode:
    """Inside, functions of this thread call `__torch_function__(func, types, args, kwargs)`, whose result is theirs."""

    inner: TorchFunctionMode

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        _push_mode(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _pop_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
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
# ------------------------------------------------------------------------------------------------------------


def _collected() -> dict[Any, str]:
    """The functions that ask, and their names."""
    _dispatch.REPLACEMENTS.begin()
    try:
        return dict(_dispatch.PLACES)
    finally:
        _dispatch.REPLACEMENTS.end()


def resolve_name(f: Any) -> str | None:
    """The name under which a function can be found, as `torch.add`; None if it is none that asks."""
    return _collected().get(f)


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether a function is a method of Tensor, or stands for one of its properties."""
    return (_collected().get(func) or "").startswith("torch.Tensor.") or getattr(func, "__name__", "") == "__get__"


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """The functions that ask, by the namespace in which they are."""
    import importlib

    found: dict[Any, list[Callable[..., Any]]] = {}
    for function, name in _collected().items():
        namespace: Any = importlib.import_module("guardfix.runtime_shim")
        for part in name.removeprefix("torch").strip(".").split(".")[:-1]:
            if isinstance(vars(Tensor).get(part), property):
                break
            namespace = getattr(namespace, part)
        found.setdefault(namespace, []).append(function)
    return found


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Those whose results stay as they are for the default `__torch_function__` of subclasses."""
    return {Tensor._base.__get__, Tensor.grad.__get__}


def get_ignored_functions() -> set[Callable[..., Any]]:
    """Functions that never ask."""
    from .aten import FUNCTIONS

    silent = {FUNCTIONS[name] for name in _dispatch.SILENT_FUNCTIONS if name in FUNCTIONS}
    return silent | {vars(Tensor)[name] for name in _dispatch.SILENT if callable(vars(Tensor).get(name))}


def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """For each function that asks, one with its parameters that returns -1."""
    return {function: _answering(function) for function in _collected()}


def _answering(function: Callable[..., Any]) -> Callable[..., Any]:
    try:
        signature = signature_of(function)
    except (TypeError, ValueError):
        signature = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)])

    def answer(*args: Any, **kwargs: Any) -> int:
        return -1

    answer.__signature__ = signature  # type: ignore[attr-defined]
    return answer


def __getattr__(name: str) -> Any:
    from .core.supported_names import missing_attribute

    raise missing_attribute("torch.overrides", name)
