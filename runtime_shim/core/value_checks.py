"""Checks of values: `torch._check` and its kin, `finfo` and `iinfo`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .tensor import Tensor

_UNNAMED = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
    "enhancement request to PyTorch.)"
)


def _check_with(error_type: type[Exception], cond: object, message: Callable[[], object] | None) -> None:
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


def _check(cond: object, message: Callable[[], Any] | None = None) -> None:
    """Raises RuntimeError with what `message()` gives unless `cond` holds, and TypeError if that is no bool."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: object, message: Callable[[], Any] | None = None) -> None:
    """`_check` that raises IndexError."""
    _check_with(IndexError, cond, message)


def _check_value(cond: object, message: Callable[[], object] | None = None) -> None:
    """`_check` that raises ValueError."""
    _check_with(ValueError, cond, message)


def _check_type(cond: object, message: Callable[[], object] | None = None) -> None:
    """`_check` that raises TypeError."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: object, message: Callable[[], object] | None = None) -> None:
    """`_check` that raises NotImplementedError."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: int, message: Callable[[], object] | None = None, *, max: int | None = None) -> None:
    """`_check` that `i` is not negative, and at most `max`."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all(cond: object, message: Callable[[], object] | None = None) -> None:
    """`_check` that all elements of a tensor of truth values are true; TypeError for another."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not dtypes.bool_:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check(bool(cond._array.all()), message)


class _Limits:
    __slots__ = ("_dtype", "_found")

    _dtype: dtypes.dtype
    _found: Any

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._dtype is self._dtype

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch.{type(self).__name__}' objects is not writable")

    @property
    def bits(self) -> int:
        return int(self._found.bits)

    @property
    def dtype(self) -> str:
        return str(self._dtype).removeprefix("torch.")


def _made(cls: type[_Limits], dtype: object, found: object) -> object:
    made = object.__new__(cls)
    object.__setattr__(made, "_dtype", dtype)
    object.__setattr__(made, "_found", found)
    return made


def _dtype(title: str, given: Any) -> dtypes.dtype:
    """The dtype that is given, or that of a type of Python's."""
    found = dtypes.OF_PYTHON.get(given) if isinstance(given, type) else given
    if not isinstance(found, dtypes.dtype):
        raise TypeError(f"{title}(): argument 'type' (position 1) must be torch.dtype, not {type(given).__name__}")
    return found


class finfo(_Limits):
    """The limits of a floating dtype, the default one if none is given; of a complex dtype, those of its parts."""

    __slots__ = ()
    __module__ = "torch"

    def __new__(cls, type: Any = None) -> Any:
        if type is None:
            type = dtypes.get_default_dtype()
        type = _dtype("finfo", type)
        if not (type.is_floating_point or type.is_complex):
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        found = dtypes.floating_limits(type.numpy)
        return _made(cls, dtypes.BY_CHAR[found.dtype.char], found)

    @property
    def eps(self) -> float:
        return float(self._found.eps)

    @property
    def max(self) -> float:
        return float(self._found.max)

    @property
    def min(self) -> float:
        return float(self._found.min)

    @property
    def tiny(self) -> float:
        return float(self._found.tiny)

    smallest_normal = tiny

    @property
    def resolution(self) -> float:
        return 10.0 ** -int(self._found.precision)

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in names)}, dtype={self.dtype})"


class iinfo(_Limits):
    """The limits of a dtype of integers."""

    __slots__ = ()
    __module__ = "torch"

    def __new__(cls, type: Any) -> Any:
        type = _dtype("iinfo", type)
        if type is dtypes.bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if type.is_floating_point or type.is_complex:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        return _made(cls, type, np.iinfo(type.numpy))

    @property
    def max(self) -> int:
        return int(self._found.max)

    @property
    def min(self) -> int:
        return int(self._found.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
