"""Subclasses of Tensor: their default `__torch_function__`, how tensors become their instances, and the guards that
switch asking off.
"""

from __future__ import annotations

from typing import Any

from ..core import tensor as core_tensor
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor, attach
from ..core.thread_state import tls
from .function_overrides import ALL_DISABLED, SUBCLASSES_DISABLED

# -- the default of Tensor


def _keeps_class(function: object) -> bool:
    return function not in (Tensor._base.__get__, Tensor.grad.__get__)


def converted(found: object, cls: type) -> Any:
    """A result as instances of a subclass."""
    if cls is Tensor:
        return found
    if isinstance(found, Tensor) and not isinstance(found, cls):
        return found.as_subclass(cls)
    if isinstance(found, (tuple, list)) and any(isinstance(f, (Tensor, tuple, list)) for f in found):
        parts = [converted(f, cls) for f in found]
        if type(found) in (list, tuple):
            return type(found)(parts)
        return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    return found


def _torch_function(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """What a subclass of Tensor is asked if it says nothing of its own: the results are of the subclass."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    state = tls.state
    before, state.function_off = state.function_off, max(state.function_off, SUBCLASSES_DISABLED)
    try:
        found = func(*args, **(kwargs or {}))
    finally:
        state.function_off = before
    if isinstance(found, bool | int | float | str) or found is None or not _keeps_class(func):
        return found
    return converted(found, cls)


attach("__torch_function__", classmethod(_torch_function))


# -- switching it off


class DisableTorchFunctionSubclass:
    """Inside, subclasses are not asked; modes are."""

    level = SUBCLASSES_DISABLED

    def __enter__(self) -> None:
        self.before = tls.state.function_off
        tls.state.function_off = max(self.before, self.level)

    def __exit__(self, *exc: object) -> None:
        tls.state.function_off = self.before


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """Inside, neither subclasses nor modes are asked."""

    level = ALL_DISABLED


def as_subclass(self: Tensor, cls: type[Tensor]) -> Any:
    """An alias of the tensor, with its history, as an instance of a subclass of Tensor."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise _no_subclass(cls)
    state = tls.state
    before, state.function_off = state.function_off, ALL_DISABLED
    try:
        made = FUNCTIONS["alias"](self)
    finally:
        state.function_off = before
    return core_tensor.of_class(made, cls)


attach("as_subclass", as_subclass)


def _make_subclass(cls: type, data: Tensor, require_grad: bool = False, **more: object) -> Any:
    """`data` without its history, as an instance of a subclass."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise _no_subclass(cls)
    if not isinstance(data, Tensor):
        raise TypeError(f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {type(data).__name__}")
    counter = None if data._version_counter is None else [0]
    made = core_tensor.alias(data, data._array, data._keys, counter)
    if require_grad:
        core_tensor.set_requires_grad(made, True)
    return core_tensor.of_class(made, cls)


Tensor._make_subclass = staticmethod(_make_subclass)  # type: ignore[attr-defined]


def _no_subclass(cls: object) -> TypeError:
    if not isinstance(cls, type):
        return TypeError(f"cls must be a type (got {type(cls).__name__})")
    return TypeError(
        "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your "
        "class inherits from Tensor."
    )
