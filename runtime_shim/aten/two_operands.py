"""Less common functions of two operands. Derivatives as in derivatives.yaml."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.argument_errors import require_tensors
from ..core.dtypes import Array, result_type
from ..core.function_table import FUNCTIONS
from ..core.reordered_array import elementwise
from ..core.tensor import Tensor
from ..dispatch.inplace_layers import store
from ..dispatch.op_description import ANY_DTYPE, OPS, Computes, DtypeRefusal, OutRule
from ..dispatch.op_node import recorded_write
from ..dispatch.registration import composite, op
from .absent_gradients import no_autograd_kernel
from .elementwise import conj, mul_scalar
from .ufunc_makers import FLOAT, binary, cast, computation_dtype, unary


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


def _heaviside(a: Any, b: Any) -> Any:
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


def _wide(*operands: Any) -> dtypes.dtype:
    arrays = [t._array if isinstance(t, Tensor) else t for t in operands]
    return dtypes.complex128 if result_type(*arrays).kind == "c" else dtypes.float64


@composite("float_power")
def float_power(self: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
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
def float_power_(self: Tensor, exponent: Any) -> Tensor:
    if exponent is None:
        require_tensors("float_power_", self=self, exponent=exponent)
    target = _wide(self, exponent)
    if self.dtype is not target:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.scalar_name} but the operation's result requires "
            f"dtype {target.scalar_name}"
        )
    return self.pow_(exponent.to(target) if isinstance(exponent, Tensor) else exponent)


def _ldexp_castable(title: str, want: np.dtype[Any], got: np.dtype[Any]) -> None:
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
def ldexp(self: Any, other: Any) -> Array:
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


def _signbit(a: Any) -> Any:
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
