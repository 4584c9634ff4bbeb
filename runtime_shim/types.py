"""`torch.types`: names for annotations."""

from __future__ import annotations

from typing import Any, TypeAlias, Union

from .core.device import device as _device
from .core.device import layout as _layout
from .core.dtypes import Size
from .core.dtypes import dtype as _dtype
from .core.tensor import Tensor

_int, _float, _bool, _str = int, float, bool, str
_complex, _bytes = complex, bytes
_size: TypeAlias = Union[Size, list[int], tuple[int, ...]]  # noqa: UP007
_TensorOrTensors: TypeAlias = Union[Tensor, tuple[Tensor, ...]]  # noqa: UP007
Number: TypeAlias = Union[int, float, bool]  # noqa: UP007
_Number = (int, float, bool)
Device: TypeAlias = Union[_device, str, int, None]  # noqa: UP007
IntLikeType, FloatLikeType, BoolLikeType = int, float, bool
FileLike: TypeAlias = Any

__all__ = ["Device", "FileLike", "Number", "Size", "Tensor", "_dtype", "_layout"]
