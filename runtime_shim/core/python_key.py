"""Classes of tensors that are asked in the place of kernels, by their `__torch_dispatch__`.

Their tensors have the key PYTHON. The layers see it where they would run a kernel, and so they know nothing of the
classes. What asks them is in `utils`, above the ops, and is imported with the first such tensor.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from .thread_state import PYTHON, tls


class _Asking:
    """What stands in the place of kernels for such tensors; filled by `utils.asked_classes`."""

    functional: Callable[..., Any]
    write: Callable[..., Callable[[], None]]
    view: Callable[..., Any]
    views: Callable[..., Any]
    out: Callable[..., Any]
    by_name: Callable[..., Any]
    ask: Callable[..., Any]


ASKING = _Asking()


def asked(t: Any) -> bool:
    """Whether a tensor's class is asked now."""
    return bool(t._keys & ~tls.state.excluded & PYTHON)


def disabled_torch_dispatch(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The op as it is on plain tensors, for Tensor itself and for classes that opt out of `__torch_dispatch__`."""
    state = tls.state
    before, modes = state.excluded, state.dispatch_modes
    state.excluded, state.dispatch_modes = before | PYTHON, []
    try:
        return func(*args, **(kwargs or {}))
    finally:
        state.excluded, state.dispatch_modes = before, modes


def wants_to_be_asked(cls: type) -> bool:
    return getattr(cls, "__torch_dispatch__", disabled_torch_dispatch) is not disabled_torch_dispatch


def prepare() -> None:
    """From now on there may be such tensors."""
    importlib.import_module("guardfix.runtime_shim.utils.asked_classes")
