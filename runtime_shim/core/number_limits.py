"""`torch.finfo` and `torch.iinfo`: the limits of the numbers of a dtype. Wording of torch/csrc/TypeInfo.cpp."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes


class _Limits:
    __slots__ = ("_dtype", "_found")

    _dtype: dtypes.dtype
    _found: Any

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._dtype is self._dtype

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch.{type(self).__name__}' objects is not writable")

    @property
    def bits(self) -> int:
        return int(self._found.bits)

    @property
    def dtype(self) -> str:
        return str(self._dtype).removeprefix("torch.")


def _made(cls: type[_Limits], dtype: Any, found: Any) -> Any:
    made = object.__new__(cls)
    object.__setattr__(made, "_dtype", dtype)
    object.__setattr__(made, "_found", found)
    return made


def _check_type(title: str, dtype: Any) -> None:
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"{title}(): argument 'type' (position 1) must be torch.dtype, not {type(dtype).__name__}")


class finfo(_Limits):
    """The limits of a floating dtype, the default one if none is given; of a complex dtype, those of its parts."""

    __slots__ = ()
    __module__ = "torch"

    def __new__(cls, type: Any = None) -> Any:
        if type is None:
            type = dtypes.get_default_dtype()
        _check_type("finfo", type)
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
        _check_type("iinfo", type)
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
