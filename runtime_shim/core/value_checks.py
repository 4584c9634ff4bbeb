"""`torch._check` and its kin, which code calls to refuse values. Source: torch/__init__.py of 2.13."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import dtypes
from .tensor import Tensor

_UNNAMED = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
    "enhancement request to PyTorch.)"
)


def _check_with(error_type: type[Exception], cond: Any, message: Callable[[], Any] | None) -> None:
    if isinstance(cond, Tensor):
        raise TypeError(
            "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() to assert "
            "that all elements are true."
        )
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(_UNNAMED if message is None else str(message()))


def _check(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """Raises RuntimeError with what `message()` gives unless `cond` holds, and TypeError if that is no bool."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """`_check` that raises IndexError."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """`_check` that raises ValueError."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """`_check` that raises TypeError."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """`_check` that raises NotImplementedError."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: int, message: Callable[[], Any] | None = None, *, max: int | None = None) -> None:
    """`_check` that `i` is not negative, and at most `max`."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """`_check` that all elements of a tensor of truth values are true; TypeError for another."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not dtypes.bool_:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check(bool(cond._array.all()), message)
