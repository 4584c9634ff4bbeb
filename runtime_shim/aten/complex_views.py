"""Views of complex tensors as real ones and back, and the views of at least one dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor, attach
from ..dispatch.registration import publish
from ..dispatch.view_layers import view_op
from .parts import select
from .views import reshape, strided_array, unsqueeze


@view_op("view_as_real", method=False, self=lambda grad: view_as_complex(grad.contiguous()))
def view_as_real(self: Any) -> Array:
    array: Array = self
    if array.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    real = np.dtype(np.float32 if array.itemsize == 8 else np.float64)
    return array[..., None].view(real)


@view_op("view_as_complex", method=False, self=lambda grad: view_as_real(grad))
def view_as_complex(self: Any) -> Array:
    array: Array = self
    if array.dtype.kind != "f" or array.itemsize < 4:
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
            "scalar type: "
            f"{dtypes.of(array).scalar_name}"
        )
    if array.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if array.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    kind = np.dtype(np.complex64 if array.itemsize == 4 else np.complex128)
    if array.size == 0:  # numpy gives it strides of 0
        return np.empty(array.shape[:-1], kind)
    if array.strides[-1] != array.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    strides = array.strides[:-1]
    if any(stride % (2 * array.itemsize) for stride, n in zip(strides, array.shape, strict=False) if n != 1):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    # That of a dimension of size 1 needn't be a number of whole elements, which PyTorch's strides count.
    whole = [stride // kind.itemsize * kind.itemsize for stride in strides]
    if whole != list(strides):
        return strided_array(array, (*array.shape[:-1], 2), (*whole, array.itemsize)).view(kind)[..., 0]
    return array.view(kind)[..., 0]


def _real(self: Tensor) -> Tensor:
    return select(view_as_real(self), -1, 0) if self._array.dtype.kind == "c" else self


def _imag(self: Tensor) -> Tensor:
    if self._array.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return select(view_as_real(self), -1, 1)


def _write_part(part: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Any], None]:
    def write(self: Tensor, value: Any) -> None:
        part(self).copy_(value) if isinstance(value, Tensor) else part(self).fill_(value)

    return write


attach("real", property(_real, _write_part(_real)))
attach("imag", property(_imag, _write_part(_imag)))
FUNCTIONS["real"], FUNCTIONS["imag"] = _real, _imag


def _each(view: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    """The view of a tensor, or a tuple with that of each of several tensors."""

    def call(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return view(tensors[0])
        given = tensors[0] if len(tensors) == 1 else tensors
        return tuple(view(t) for t in given)

    return call


def _atleast_1d(self: Tensor) -> Tensor:
    return self if self._array.ndim else reshape(self, (1,))


def _atleast_2d(self: Tensor) -> Tensor:
    if self._array.ndim >= 2:
        return self
    return unsqueeze(self, 0) if self._array.ndim else reshape(self, (1, 1))


def _atleast_3d(self: Tensor) -> Tensor:
    n = self._array.ndim
    if n >= 3:
        return self
    if n == 2:
        return unsqueeze(self, -1)
    return unsqueeze(unsqueeze(self, 0), -1) if n else reshape(self, (1, 1, 1))


for _name, _view in (("atleast_1d", _atleast_1d), ("atleast_2d", _atleast_2d), ("atleast_3d", _atleast_3d)):
    publish(_name, _each(_view))
