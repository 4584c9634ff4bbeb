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
from ..core.tensor import Tensor, new_tensor
from ..dispatch.op_description import ANY_DTYPE, Computes, DtypeRefusal
from ..dispatch.registration import composite, publish
from .ufunc_makers import FLOAT, binary, cast


def _xlogy(x: Any, y: Any, out: Any = None) -> Any:
    with np.errstate(all="ignore"):
        return np.where(np.isnan(y), y, np.where(x == 0, np.zeros_like(x), x * np.log(y)))


def _sign_like(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    where = FUNCTIONS["where"]
    return where(self == 0, 0.0, grad * (result / self))


binary(
    "copysign",
    np.copysign,
    number_first=False,
    result=FLOAT,
    computes=Computes("bif"),
    numbers=True,
    fast_scalar=False,
    self=_sign_like,
    other=lambda grad: FUNCTIONS["zeros_like"](grad),
)
binary(
    "nextafter",
    np.nextafter,
    computes=Computes("f"),
    self=lambda grad: _not_implemented("nextafter"),
    other=lambda grad: _not_implemented("nextafter"),
)
binary("gcd", np.gcd, computes=Computes("i"), fast_scalar=False)
binary("lcm", lambda a, b: np.abs(np.lcm(a, b)), computes=Computes("i"), fast_scalar=False)
binary(
    "xlogy",
    _xlogy,
    result=FLOAT,
    computes=Computes("bif"),
    numbers=True,
    fast_scalar=False,
    self=lambda grad, self, other: (
        grad
        * FUNCTIONS["where"](
            (self == 0.0) & (other <= 0), 0.0, other.log() if isinstance(other, Tensor) else math.log(other)
        )
    ),
    other=lambda grad, self, other: grad * self / other,
)


def _not_implemented(name: str) -> Tensor:
    raise RuntimeError(f"derivative for aten::{name} is not implemented")


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
    self=lambda grad: _not_implemented("heaviside"),
    other=lambda grad: _not_implemented("heaviside"),
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


@composite("ldexp")
def ldexp(self: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`self * 2 ** other`"""
    require_tensors("ldexp", self=self, other=other)
    power = FUNCTIONS["pow"](2.0, other)
    return FUNCTIONS["mul"](self, power) if out is None else FUNCTIONS["mul"](self, power, out=out)


@composite("ldexp_", function=False)
def ldexp_(self: Tensor, other: Tensor) -> Tensor:
    require_tensors("ldexp_", self=self, other=other)
    return self.mul_(FUNCTIONS["pow"](2.0, other))


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


@composite("trapezoid", method=False)
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integral along a dimension by the trapezoidal rule."""
    n = y.size(dim)
    if n == 0:
        return y.sum(dim)
    return (_widths(y, x, dx, dim) * (y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1))).sum(dim) / 2.0


@composite("cumulative_trapezoid", method=False)
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integrals along a dimension up to each place, by the trapezoidal rule."""
    n = y.size(dim)
    if n == 0:
        return y
    return (_widths(y, x, dx, dim) * (y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1))).cumsum(dim) / 2.0


def _widths(y: Tensor, x: Tensor | None, dx: Any, dim: int) -> Any:
    if x is None:
        return 1 if dx is None else dx
    name = "trapezoid"
    if x.dtype is dtypes.bool_ or y.dtype is dtypes.bool_:
        raise RuntimeError(f"{name}: received a bool input for `x` or `y`, but bool is not supported")
    if x.dim() == 1:
        if x.size(0) != y.size(dim):
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        shape = [1] * y.dim()
        shape[dim] = x.size(0)
        x = x.view(shape)
    n = x.size(dim)
    return x.narrow(dim, 1, n - 1) - x.narrow(dim, 0, n - 1)


publish("trapz", trapezoid, method=False)


@composite("signbit", method=True)
def signbit(self: Tensor) -> Tensor:
    """Whether the sign is negative, that of -0.0 too."""
    array: Array = self._array
    if array.dtype.kind == "c":
        raise RuntimeError("signbit is not implemented for complex tensors.")
    return new_tensor(np.signbit(array) if array.dtype.kind == "f" else np.asarray(cast(array, array.dtype) < 0))
