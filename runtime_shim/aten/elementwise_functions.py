"""Elementwise ops of one operand. Derivatives as in derivatives.yaml."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.array_kinds import ZeroArray, elementwise
from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import laid_out_like
from ..core.tensor import Tensor, new_tensor
from ..dispatch.op_description import ANY_DTYPE, OPS, RESIZED, Computes, DtypeRefusal, not_for_complex
from ..dispatch.registration import composite, inner_op, op, publish
from .elementwise import _zeros, conj
from .networks.backward_kernels import sigmoid_backward, tanh_backward
from .ufunc_makers import FLOAT, unary

unary(
    "neg",
    np.negative,
    computes=Computes(
        "ifc",
        refusals=(
            DtypeRefusal(
                "b",
                RuntimeError,
                "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
                "use the `~` or `logical_not()` operator instead.",
            ),
        ),
    ),
    self=lambda grad: -grad,
)
unary("exp", np.exp, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, result: grad * conj(result))
unary(
    "exp2", np.exp2, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, result: grad * conj(result) * float(np.log(2))
)
unary("expm1", np.expm1, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, result: grad * (conj(result) + 1))
unary("log", np.log, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, self: grad / conj(self))
unary("log2", np.log2, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, self: grad / conj(self) / float(np.log(2)))
unary(
    "log10", np.log10, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, self: grad / conj(self) / float(np.log(10))
)
unary(
    "log1p",
    np.log1p,
    computes=ANY_DTYPE,
    node="Log1PBackward0",
    result=FLOAT,
    self=lambda grad, self: grad / conj(self + 1),
)
unary("sqrt", np.sqrt, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, result: grad / (2 * conj(result)))
unary("sin", np.sin, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, self: grad * conj(self.cos()))
unary("cos", np.cos, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, self: grad * -conj(self.sin()))
unary("tan", np.tan, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, result: grad * conj(1 + result * result))
unary(
    "asin", np.arcsin, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, self: grad * conj((1 - self * self).rsqrt())
)
unary(
    "acos", np.arccos, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, self: grad * -conj((1 - self * self).rsqrt())
)
unary("atan", np.arctan, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, self: grad / conj(self * self + 1))
unary("sinh", np.sinh, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, self: grad * conj(self.cosh()))
unary("cosh", np.cosh, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, self: grad * conj(self.sinh()))
unary("tanh", np.tanh, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, result: tanh_backward(grad, result))


def _of_integers(self: Tensor) -> int:
    """PyTorch copies integers, which are whole, into the result."""
    return int(self._array.dtype.kind in "biu")


for _name, _ufunc in (("floor", np.floor), ("ceil", np.ceil)):
    _refusal = not_for_complex(f"{_name} is not supported for complex inputs")
    unary(
        _name,
        _ufunc,
        computes=Computes("if", f"{_name}_vml_cpu", refusals=(_refusal,)),
        leak=_of_integers,
        self=_zeros,
    )
unary(
    "round",
    lambda a: np.positive(a) if a.dtype.kind in "iu" else np.rint(a),
    computes=Computes("if", "round_vml_cpu"),
    leak=_of_integers,
    self=_zeros,
)


@inner_op(
    "round_decimals",
    computes=Computes("f", "round_cpu"),
    title="round",
    node="RoundBackward1",
    inplace=True,
    self=lambda grad, decimals: _zeros(grad),
)
def _round_decimals(self: Array, decimals: int) -> Array:
    power = self.dtype.type(10.0 ** abs(decimals))
    return np.rint(self * power) / power if decimals > 0 else np.rint(self / power) * power


_round, _round_in_place = FUNCTIONS["round"], vars(Tensor)["round_"]


def round(self: object, *, decimals: int = 0, out: Tensor | None = None) -> Any:
    """To whole numbers, halves to even ones; with `decimals` to that many places after the point, or before it."""
    if decimals == 0:
        return _round(self, out=out) if out is not None else _round(self)
    return _round_decimals(self, decimals, out=out) if out is not None else _round_decimals(self, decimals)


def round_(self: object, *, decimals: int = 0) -> Any:
    return _round_in_place(self) if decimals == 0 else _round_decimals.inplace(self, decimals)  # type: ignore[attr-defined]


round.op = OPS["round"]  # type: ignore[attr-defined]
publish("round", round)
publish("round_", round_, function=False)


@composite("special_round", method=False)
def special_round(self: object, *, decimals: int = 0, out: Tensor | None = None) -> Any:
    """The same function, always by its overload with decimals."""
    return _round_decimals(self, decimals, out=out) if out is not None else _round_decimals(self, decimals)


def _sign(a: Tensor) -> Any:
    """-1, 0 or 1, and 0 of NaN."""
    if a.dtype.kind == "b":
        return np.logical_or(a, a)
    found = np.asanyarray(np.sign(a))  # of no dimensions, it is a number
    if found.dtype.kind == "f":
        np.copyto(found, 0, where=np.isnan(found))
    return found


unary(
    "trunc",
    np.trunc,
    computes=Computes(
        "if",
        "trunc_vml_cpu",
        refusals=(not_for_complex("trunc is not supported for complex inputs"),),
    ),
    leak=_of_integers,
    self=_zeros,
)
unary(
    "sign",
    _sign,
    computes=Computes(
        "bif",
        refusals=(
            DtypeRefusal(
                "c",
                NotImplementedError,
                "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
            ),
        ),
    ),
    self=_zeros,
)


def _reciprocal(a: Tensor) -> Any:
    return elementwise(np.true_divide(a.dtype.type(1), a), a)


def _rsqrt(a: Tensor) -> Any:
    return elementwise(np.true_divide(a.dtype.type(1), np.sqrt(a)), a)


def _sigmoid(a: Tensor) -> Any:
    return elementwise(1 / (1 + np.exp(-a)), a)


unary(
    "reciprocal", _reciprocal, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, result: -grad * conj(result * result)
)
unary(
    "rsqrt",
    _rsqrt,
    computes=ANY_DTYPE,
    result=FLOAT,
    self=lambda grad, result: -0.5 * grad * conj(result * result * result),
)
unary("sigmoid", _sigmoid, computes=ANY_DTYPE, result=FLOAT, self=lambda grad, result: sigmoid_backward(grad, result))


def _abs_gradient(grad: Tensor, self: Tensor) -> Tensor:
    return grad * self.sgn()


def _sgn(a: Tensor) -> Any:
    if a.dtype.kind != "c":
        return _sign(a)
    size = np.abs(a)
    return np.where(size == 0, 0, a / np.where(size == 0, 1, size)).astype(a.dtype)


def _sgn_gradient(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """Along the circle for complex numbers; 0 at 0 and for real ones, where sgn is flat."""
    if not self.is_complex():
        return new_tensor(np.zeros(grad._array.shape, grad._array.dtype).view(ZeroArray))
    size = self.abs()
    return ((grad - result * result * conj(grad)) / (2.0 * size)).masked_fill_(size == 0, 0.0)


unary("sgn", _sgn, computes=ANY_DTYPE, self=_sgn_gradient)


def _abs_in_place(self: Any) -> None:
    if self.dtype.kind == "c":
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    np.abs(self, out=self)


unary("abs", np.abs, computes=Computes("ifc"), in_place=_abs_in_place, leak=1, refuses="abs", self=_abs_gradient)
FUNCTIONS["absolute"] = FUNCTIONS["abs"]


@inner_op("conj", self=lambda grad: grad.conj())
def _conj_physical(self: Array) -> Array:
    return np.conjugate(self)


@composite("conj")
def conj_(self: Tensor) -> Tensor:
    return _conj_physical(self) if self._array.dtype.kind == "c" else self


@composite("positive")
def positive(self: Tensor) -> Tensor:
    if self._array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


@op(
    "nan_to_num",
    computes=ANY_DTYPE,
    out=RESIZED,
    inplace=True,
    leak=1,
    self=lambda grad, self: grad * (self.isfinite()),
)
def nan_to_num(self: Array, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Array:
    return laid_out_like(np.nan_to_num(self, nan=nan or 0.0, posinf=posinf, neginf=neginf), self)
