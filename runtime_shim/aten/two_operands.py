"""Functions of two operands: remainders, angles and distances, logarithms of sums.

Derivatives as in derivatives.yaml and FunctionsManual.cpp.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.array_kinds import elementwise, packed
from ..core.dtypes import Array, NumpyDtype, result_type, wrap_dim
from ..core.error_texts import UnsupportedError, require_tensors
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, OPS, RESIZED, Computes, DtypeRefusal, OutRule, same_dtype
from ..dispatch.op_node import recorded_write
from ..dispatch.registration import composite, op
from ..dispatch.writing_layers import store
from .elementwise import conj, mul_scalar
from .reductions import dims_of, restore
from .ufunc_makers import FLOAT, binary, cast, computation_dtype, no_autograd_kernel, unary


def _sign_like(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    return grad * (result / self).masked_fill_(self == 0, 0)


binary(
    "copysign",
    np.copysign,
    number_first=False,
    result=FLOAT,
    computes=Computes("bif"),
    numbers=True,
    fast_scalar=False,
    number_node="CopysignBackward1",
    self=_sign_like,
    other=lambda grad, other_shape: FUNCTIONS["zeros"](other_shape, dtype=grad.dtype),
)
binary(
    "nextafter",
    np.nextafter,
    computes=Computes("f"),
    self=lambda grad, self, other: FUNCTIONS["where"](self == other, 0.0, grad),
    other=lambda grad, other_shape: FUNCTIONS["zeros"](other_shape, dtype=grad.dtype),
)
binary("gcd", np.gcd, computes=Computes("i"), fast_scalar=False)
binary("lcm", lambda a, b: np.abs(np.lcm(a, b)), computes=Computes("i"), fast_scalar=False)


def _number_first(name: str, ufunc: Any, wins: Any) -> None:
    """fmax and fmin: a number goes before NaN."""
    refusal = DtypeRefusal("c", RuntimeError, f"{name} not implemented for complex tensors.")
    binary(
        name,
        ufunc,
        computes=Computes("bif", refusals=(refusal,)),
        inplace_form=False,
        self=lambda grad, self, other: grad.masked_fill(~(wins(self, other) | other.isnan()), 0),
        other=lambda grad, self, other: grad.masked_fill(wins(self, other) | other.isnan(), 0),
    )


_number_first("fmax", np.fmax, lambda a, b: a >= b)
_number_first("fmin", np.fmin, lambda a, b: a <= b)


def _heaviside(a: Tensor, b: Tensor) -> Any:
    return elementwise(np.where(a == 0, b, (a > 0).astype(a.dtype)), a, b)


_heaviside_of_one_kind = binary(
    "heaviside",
    _heaviside,
    computes=ANY_DTYPE,
    fast_scalar=False,
    node="NotImplemented",
    self=no_autograd_kernel("heaviside"),
    other=no_autograd_kernel("heaviside"),
    recorded_in_place=recorded_write(
        "heaviside",
        "NotImplemented",
        lambda self, other: self,
        self=no_autograd_kernel("heaviside_"),
        other=no_autograd_kernel("heaviside_"),
    ),
)


def _check_heaviside(self: Tensor, values: Tensor, out: Tensor | None) -> None:
    if (
        self._array.dtype.kind == "c"
        or values._array.dtype.kind == "c"
        or (out is not None and out._array.dtype.kind == "c")
    ):
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if self._array.dtype != values._array.dtype or (out is not None and out._array.dtype != self._array.dtype):
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


@composite("heaviside")
def heaviside(self: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """0 below zero, 1 above it, and `values` at it."""
    require_tensors("heaviside", self=self, values=values)
    _check_heaviside(self, values, out)
    return _heaviside_of_one_kind(self, values) if out is None else _heaviside_of_one_kind(self, values, out=out)


_heaviside_in_place = vars(Tensor)["heaviside_"]


@composite("heaviside_", function=False)
def heaviside_(self: Tensor, values: Tensor) -> Tensor:
    require_tensors("heaviside_", self=self, values=values)
    _check_heaviside(self, values, None)
    return _heaviside_in_place(self, values)


def _wide(*operands: object) -> dtypes.dtype:
    arrays = [t._array if isinstance(t, Tensor) else t for t in operands]
    return dtypes.complex128 if result_type(*arrays).kind == "c" else dtypes.float64


@composite("float_power")
def float_power(self: Tensor, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """A power computed in float64, or complex128."""
    require_tensors("float_power", **{p: t for p, t in (("self", self), ("exponent", exponent)) if t is None})
    target = _wide(self, exponent)
    if out is not None and out.dtype is not target:
        raise RuntimeError(
            f"the output given to float_power has dtype {out.dtype.scalar_name} but the operation's result requires "
            f"dtype {target.scalar_name}"
        )
    base, power = (t.to(target) if isinstance(t, Tensor) else t for t in (self, exponent))
    if not isinstance(base, Tensor) and target.is_complex:
        base = complex(base)
    return FUNCTIONS["pow"](base, power) if out is None else FUNCTIONS["pow"](base, power, out=out)


@composite("float_power_", function=False)
def float_power_(self: Tensor, exponent: object) -> Tensor:
    if exponent is None:
        require_tensors("float_power_", self=self, exponent=exponent)
    target = _wide(self, exponent)
    if self.dtype is not target:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.scalar_name} but the operation's result requires "
            f"dtype {target.scalar_name}"
        )
    return self.pow_(exponent.to(target) if isinstance(exponent, Tensor) else exponent)


def _ldexp_castable(title: str, want: NumpyDtype, got: NumpyDtype) -> None:
    if not dtypes.can_cast(want, got):
        raise RuntimeError(f"ldexp can't be cast to the desired output type {dtypes.BY_CHAR[got.char].scalar_name}")


def _ldexp_in_place(self: Any, other: Any) -> None:
    found = np.asarray(OPS["ldexp"].kernel(self, other))
    _ldexp_castable("ldexp_", found.dtype, self.dtype)
    store(self, found)


@op(
    "ldexp",
    computes=ANY_DTYPE,
    inplace=True,
    inplace_kernel=_ldexp_in_place,
    out=OutRule(_ldexp_castable),
    self=lambda grad, other: grad * conj(FUNCTIONS["pow"](2.0, other)),
    other=lambda grad, result: mul_scalar(grad * conj(result), math.log(2)),
)
def ldexp(self: Array, other: Array) -> Array:
    """`self * 2 ** other`"""
    common = computation_dtype(FLOAT, self, other)
    dtypes.broadcast_shapes(self.shape, other.shape)
    scaled = cast(self, common)
    if other.dtype.kind in "biu" and common.kind == "f":
        found = np.ldexp(scaled, other.astype(np.int32))  # exact where the power alone would overflow
    else:
        found = scaled * np.exp2(cast(other, common))
    return elementwise(found, self, other)


@composite("broadcast_shapes", method=False)
def broadcast_shapes(*shapes: Any) -> dtypes.Size:
    """The shape that all the shapes broadcast to; RuntimeError if they don't."""
    found: tuple[int, ...] = ()
    for shape in shapes:
        given = (shape,) if isinstance(shape, int) else tuple(shape)
        for size in given:
            if size < 0:
                raise RuntimeError(
                    f"Trying to create tensor with negative dimension ({size}): ({size})"
                )  # fmt: skip
        try:
            found = dtypes.broadcast_shapes(found, given)
        except RuntimeError:
            raise RuntimeError(
                "Shape mismatch: objects cannot be broadcast to a single shape"
            ) from None  # fmt: skip
    return dtypes.Size(found)


def _signbit(a: Tensor) -> Any:
    return np.signbit(a) if a.dtype.kind == "f" else np.zeros_like(a) if a.dtype.kind == "b" else np.less(a, 0)


unary(
    "signbit",
    _signbit,
    inplace_form=False,
    computes=Computes(
        "bif", refusals=(DtypeRefusal("c", RuntimeError, "signbit is not implemented for complex tensors."),)
    ),
    leak=lambda self: int(self._array.dtype.kind == "b"),
)


def _angle(a: Tensor) -> Any:
    if a.dtype.kind == "c":
        return packed(np.asarray(np.arctan2(a.imag, a.real)))
    return elementwise(np.where(np.isnan(a), a, np.where(a < 0, a.dtype.type(math.pi), a.dtype.type(0))), a)


def _angle_gradient(grad: Tensor, self: Tensor) -> Tensor:
    if not self.is_complex():
        return FUNCTIONS["zeros_like"](self)
    found: Tensor = FUNCTIONS["where"](self == 0.0, 0.0, grad * self / self.abs().pow(2) * 1j)
    return found


unary("angle", _angle, computes=ANY_DTYPE, result=FLOAT, inplace_form=False, self=_angle_gradient)


def _sinc(a: Tensor) -> Any:
    x = a * a.dtype.type(math.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        return elementwise(np.where(a == 0, a.dtype.type(1), np.sin(x) / x), a)


def _sinc_gradient(grad: Tensor, self: Tensor) -> Tensor:
    by_pi, squared_by_pi = self * math.pi, self * self * math.pi
    slope = ((by_pi * by_pi.cos() - by_pi.sin()) / squared_by_pi).conj()
    where, is_zero = FUNCTIONS["where"], squared_by_pi == 0.0
    # At 0 the slope's own derivative is nan, as PyTorch's is; that by `grad` isn't.
    chosen: Tensor = where(is_zero, 0.0, grad * where(is_zero, 0.0, slope))
    return chosen


unary("sinc", _sinc, computes=ANY_DTYPE, result=FLOAT, self=_sinc_gradient)
FUNCTIONS["special_sinc"] = FUNCTIONS["sinc"]


# -- complex numbers of two real ones


_PARTS_OUT = OutRule(
    same_dtype(
        "Expected object of scalar type {want.scalar_name} but got scalar type {got.scalar_name} for argument 'out'"
    )
)


def _complex_kind(one: Array, other: Array) -> NumpyDtype:
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


def _of_parts(real: Array, imag: Array, kind: NumpyDtype) -> Array:
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
def _complex(real: Array, imag: Array) -> Array:
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
def _polar(abs: Array, angle: Array) -> Array:
    """Complex numbers of these absolute values and angles."""
    kind = _complex_kind(abs, angle)
    return _of_parts(abs * np.cos(angle), abs * np.sin(angle), kind)


@op(
    "hypot",
    inplace=True,
    self=lambda grad, self, result: grad * (self / result),
    other=lambda grad, other, result: grad * (other / result),
)
def hypot(self: Array, other: Array) -> Array:
    return np.hypot(self, other)


_add: Any = np.add
_maximum: Any = np.maximum


def _log_add(x: Any, y: Any) -> Any:
    """Of complex numbers, the one with the smaller real part put off the other; as in ATen/native/cpu/LogAddExp.h."""
    if x.dtype.kind != "c":
        return np.logaddexp(x, y)
    with np.errstate(all="ignore"):
        x_is_less = x.real < y.real
        low, high = np.where(x_is_less, x, y), np.where(x_is_less, y, x)
        found = np.log1p(np.exp(low - high)) + high
        same = np.isinf(low.real) & (low.real == high.real)
        found = np.where(same, np.where(low.real < 0, low, np.log(np.exp(low) + np.exp(high))), found)
        no_number: Any = complex(np.nan, np.nan)
        return np.where(np.isnan(x) | np.isnan(y), no_number, found).astype(x.dtype, copy=False)


@op(
    "logaddexp",
    computes=Computes("fc", promotes=True),
    self=lambda grad, self, other: grad / conj((other - self).exp() + 1),
    other=lambda grad, self, other: grad / conj((self - other).exp() + 1),
)
def logaddexp(self: Array, other: Array) -> Array:
    found: Array = _log_add(self, other)
    return found


def _back_through_places(grad: Tensor, self: Tensor, result: Tensor, dim: int) -> Tensor:
    """By logarithms, which don't overflow; those of real numbers of the positive and the negative part apart."""
    if not grad._array.ndim or not grad._array.size:
        return grad

    def from_the_end(logarithm: Tensor) -> Tensor:
        return (FUNCTIONS["logcumsumexp"]((logarithm - result).flip(dim), dim).flip(dim) + self).exp()

    if grad.is_complex():
        return from_the_end(grad.conj().log()).conj()
    size = grad.abs().log()
    # The lowest number stands for the logarithm of 0, which has no gradient.
    lowest = float(np.finfo(grad._array.dtype).min)
    where = FUNCTIONS["where"]
    return from_the_end(where(grad > 0, size, lowest)) - from_the_end(where(grad < 0, size, lowest))


@op(
    "logcumsumexp",
    computes=Computes("fc", "logcumsumexp_out_cpu"),
    out=RESIZED,
    leak=lambda self, dim: int(not self._array.ndim),
    self=_back_through_places,
)
def logcumsumexp(self: Array, dim: int) -> Array:
    axis = wrap_dim(dim, self.ndim)
    if self.ndim == 0:
        return self.copy()
    if self.dtype.kind != "c":
        return packed(np.logaddexp.accumulate(self, axis=axis))
    found = np.array(self, order="C", subok=False)
    places = np.moveaxis(found, axis, 0)
    for i in range(1, len(places)):
        places[i] = _log_add(places[i - 1], places[i])
    return packed(found)


@op(
    "logsumexp",
    computes=ANY_DTYPE,
    out=RESIZED,
    leak=1,
    refuses="logsumexp",
    self=lambda grad, self, result, dim, keepdim: (
        restore(grad, self._array.shape, dim, keepdim)
        * conj((self - restore(result, self._array.shape, dim, keepdim)).exp())
    ),
)
def logsumexp(self: Array, dim: Array, keepdim: bool = False) -> Array:
    if self.dtype.kind in "biu":
        self = self.astype(dtypes.get_default_dtype().numpy)
    axes = dims_of(dim, self.ndim)
    top = _maximum.reduce(self.real, axis=axes, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0).astype(top.dtype)
    with np.errstate(all="ignore"):
        found = np.log(_add.reduce(np.exp(self - top), axis=axes, keepdims=True)) + top
    return packed(found if keepdim else found.squeeze(axes))
