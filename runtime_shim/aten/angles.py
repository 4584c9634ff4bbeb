"""Angles and distances.

Derivatives as in derivatives.yaml and FunctionsManual.cpp.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..core.error_texts import UnsupportedError
from ..core.function_table import FUNCTIONS
from ..core.reordered_array import elementwise, packed
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, OutRule, same_dtype
from ..dispatch.registration import op
from .ufunc_makers import FLOAT, unary


def _angle(a: Any) -> Any:
    if a.dtype.kind == "c":
        return packed(np.asarray(np.arctan2(a.imag, a.real)))
    return elementwise(np.where(np.isnan(a), a, np.where(a < 0, a.dtype.type(math.pi), a.dtype.type(0))), a)


def _angle_gradient(grad: Tensor, self: Tensor) -> Tensor:
    if not self.is_complex():
        return FUNCTIONS["zeros_like"](self)
    found: Tensor = FUNCTIONS["where"](self == 0.0, 0.0, grad * self / self.abs().pow(2) * 1j)
    return found


unary("angle", _angle, computes=ANY_DTYPE, result=FLOAT, inplace_form=False, self=_angle_gradient)


def _sinc(a: Any) -> Any:
    x = a * a.dtype.type(math.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        return elementwise(np.where(a == 0, a.dtype.type(1), np.sin(x) / x), a)


def _sinc_gradient(grad: Tensor, self: Tensor) -> Tensor:
    by_pi, squared_by_pi = self * math.pi, self * self * math.pi
    found = grad * ((by_pi * by_pi.cos() - by_pi.sin()) / squared_by_pi).conj()
    chosen: Tensor = FUNCTIONS["where"](squared_by_pi == 0.0, 0.0, found)
    return chosen


unary("sinc", _sinc, computes=ANY_DTYPE, result=FLOAT, self=_sinc_gradient)
FUNCTIONS["special_sinc"] = FUNCTIONS["sinc"]


# -- complex numbers of two real ones
# -----------------------------------------------------------------------------------


_PARTS_OUT = OutRule(
    same_dtype(
        "Expected object of scalar type {want.scalar_name} but got scalar type {got.scalar_name} for argument 'out'"
    )
)


def _complex_kind(one: Array, other: Array) -> np.dtype[Any]:
    """The dtype of complex numbers of these parts; RuntimeError unless both are floating and of one dtype."""
    names = [dtypes.of(a).scalar_name for a in (one, other)]
    if one.dtype.kind != "f" or other.dtype.kind != "f":
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {names[0]} and {names[1]}"
        )
    if one.dtype != other.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {names[0]} but got scalar type {names[1]} for second argument"
        )
    if one.dtype == np.float16:
        raise UnsupportedError("the shim has no complex numbers of half precision; supported: float and double parts")
    return np.dtype(np.complex64 if one.dtype == np.float32 else np.complex128)


def _of_parts(real: Array, imag: Array, kind: np.dtype[Any]) -> Array:
    found = np.empty(dtypes.broadcast_shapes(real.shape, imag.shape), kind)
    found.real, found.imag = real, imag
    return elementwise(found, real, imag)


@op(
    "complex",
    computes=ANY_DTYPE,
    leak=1,
    out=_PARTS_OUT,
    method=False,
    real=lambda grad, real: grad.real,
    imag=lambda grad, imag: grad.imag,
)
def _complex(real: Any, imag: Any) -> Array:
    """Complex numbers of their real and imaginary parts."""
    return _of_parts(real, imag, _complex_kind(real, imag))


@op(
    "polar",
    computes=ANY_DTYPE,
    leak=1,
    out=_PARTS_OUT,
    method=False,
    abs=lambda grad, result: (grad.conj() * result.sgn()).real,
    angle=lambda grad, result: (grad.conj() * (result * 1j)).real,
)
def _polar(abs: Any, angle: Any) -> Array:
    """Complex numbers of these absolute values and angles."""
    kind = _complex_kind(abs, angle)
    return _of_parts(abs * np.cos(angle), abs * np.sin(angle), kind)


@op(
    "hypot",
    inplace=True,
    self=lambda grad, self, result: grad * (self / result),
    other=lambda grad, other, result: grad * (other / result),
)
def hypot(self: Any, other: Any) -> Array:
    return np.hypot(self, other)
