"""Elementwise arithmetic, comparison and logic, with their operators. Derivatives as in derivatives.yaml."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.array_kinds import elementwise
from ..core.dtypes import Array, result_type
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, OPS, RESIZED, Computes, DtypeRefusal, describe
from ..dispatch.op_node import recorded_write
from ..dispatch.registration import composite, inner_op, op, publish
from .ufunc_makers import FLOAT, SAME, binary, binary_kernel, cast, no_autograd_kernel


def _zeros(grad: Tensor) -> Tensor:
    found: Tensor = FUNCTIONS["zeros_like"](grad)
    return found


def conj(value: object) -> Any:
    """The conjugate of a tensor or number; the same object if it is real."""
    if isinstance(value, Tensor):
        return value.conj() if value._array.dtype.kind == "c" else value
    return value.conjugate() if isinstance(value, complex) else value


# -- arithmetic


def _no_bool_subtraction(self: object, other: object) -> None:
    bools = [isinstance(x, bool) or getattr(x, "dtype", None) == np.bool_ for x in (self, other)]
    if all(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    if any(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead."
        )


def _scaled(grad: Tensor, alpha: object) -> Tensor:
    return grad if alpha == 1 else grad * conj(alpha)


add = binary(
    "add",
    np.add,
    computes=ANY_DTYPE,
    numbers=True,
    wraps=True,
    alpha=True,
    self=lambda grad: grad,
    other=lambda grad, alpha: _scaled(grad, alpha),
)
sub = binary(
    "sub",
    np.subtract,
    computes=ANY_DTYPE,
    numbers=True,
    wraps=True,
    alpha=True,
    check=_no_bool_subtraction,
    self=lambda grad: grad,
    other=lambda grad, alpha: _scaled(-grad, alpha),
)
mul = binary(
    "mul",
    np.multiply,
    computes=ANY_DTYPE,
    numbers=True,
    wraps=True,
    self=lambda grad, other: grad * conj(other),
    other=lambda grad, self: grad * conj(self),
)
true_divide = binary(
    "div",
    np.true_divide,
    computes=ANY_DTYPE,
    numbers=True,
    wraps=True,
    result=FLOAT,
    self=lambda grad, other: grad / conj(other),
    other=lambda grad, self, other: -grad * conj((self / other) / other),
)


def _divides_by_zero(a: Tensor, b: Tensor) -> bool:
    """Whether an element is divided by zero, of which there may be none."""
    return bool(np.size(a)) and bool(np.any(np.equal(b, 0)))


@inner_op(
    "div_mode",
    computes=Computes("if", "div_floor_cpu"),
    title="div",
    node="DivBackward2",
    inplace=True,
    wraps=True,
    self=lambda grad, other, rounding_mode: _zeros(grad),
    other=lambda grad, other, rounding_mode: _zeros(grad),
)
def div_mode(self: Array, other: Array, rounding_mode: str) -> Array:
    common = result_type(self, other)
    a, b = cast(self, common), cast(other, common)
    if common.kind in "iu" and _divides_by_zero(a, b):
        raise RuntimeError("ZeroDivisionError")
    if rounding_mode == "floor":
        return np.floor_divide(a, b)
    if rounding_mode != "trunc":
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return np.trunc(np.true_divide(a, b)).astype(common)


# PyTorch's C++ code computes with numbers without wrapping them in tensors; nodes have other names then.
add_scalar = inner_op("add_scalar", node="AddBackward1", self=lambda grad: grad)(
    lambda self, other: OPS["add"].kernel(self, other)
)
mul_scalar: Any = inner_op("mul_scalar", node="MulBackward1", self=lambda grad, other: mul_scalar(grad, conj(other)))(
    lambda self, other: OPS["mul"].kernel(self, other)
)
sub_scalar = inner_op("sub_scalar", node="SubBackward1", self=lambda grad: grad)(
    lambda self, other: OPS["sub"].kernel(self, other, 1)
)
div_scalar: Any = inner_op("div_scalar", node="DivBackward1", self=lambda grad, other: div_scalar(grad, conj(other)))(
    lambda self, other: OPS["div"].kernel(self, other)
)


def div(self: object, other: object, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Any:
    """Divide; with a rounding mode, round the quotient towards zero ("trunc") or down ("floor")."""
    if rounding_mode is None:
        return true_divide(self, other, out=out) if out is not None else true_divide(self, other)
    return div_mode(self, other, rounding_mode)


div.op = OPS["div"]  # type: ignore[attr-defined]
publish("div", div)


def div_(self: object, other: object, *, rounding_mode: str | None = None) -> Any:
    if rounding_mode is None:
        return divide_in_place(self, other)
    return div_mode.inplace(self, other, rounding_mode)  # type: ignore[attr-defined]


divide_in_place = vars(Tensor)["div_"]
div_.operator = divide_in_place.operator  # type: ignore[attr-defined]
publish("div_", div_, function=False)


@op(
    "floor_divide",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="NotImplemented",
    inplace=True,
    wraps=True,
    self=no_autograd_kernel("floor_divide"),
    other=no_autograd_kernel("floor_divide"),
    recorded_in_place=recorded_write(
        "floor_divide",
        "NotImplemented",
        lambda self, other: self,
        self=no_autograd_kernel("floor_divide_"),
        other=no_autograd_kernel("floor_divide_"),
    ),
)
def floor_divide(self: Array, other: Array) -> Array:
    return OPS["div_mode"].kernel(self, other, "floor")


def _whole(ufunc: Any) -> Any:
    """A division of whole numbers, which must not be by zero."""

    def divide(a: Tensor, b: Tensor, out: Any = None) -> Any:
        if np.asarray(b).dtype.kind in "iu" and np.asarray(a).dtype.kind in "iu" and _divides_by_zero(a, b):
            raise RuntimeError("ZeroDivisionError")
        return ufunc(a, b)

    return divide


def _remainder(a: Tensor, b: Tensor) -> Any:
    """With the sign of the divisor, but that of the dividend where it is 0, as in C++."""
    found = np.fmod(a, b)
    turned = np.where((found != 0) & (np.less(b, 0) != np.less(found, 0)), found + b, found)
    return elementwise(turned.astype(found.dtype, copy=False), a, b)


remainder = binary(
    "remainder",
    _whole(_remainder),
    computes=Computes("if"),
    numbers=True,
    wraps=True,
    node="RemainderBackward1",
    number_node="RemainderBackward0",
    number_first_form=describe(
        "remainder",
        binary_kernel(_whole(_remainder), SAME, None, True),
        {"other": no_autograd_kernel("remainder")},
        node="NotImplemented",
        tensor_params=("self", "other"),
        numbers=("self", "other"),
        computes=Computes("if"),
    ),
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * div(self, other, rounding_mode="floor"),
)
fmod = binary(
    "fmod",
    _whole(np.fmod),
    computes=Computes("if"),
    numbers=True,
    wraps=True,
    number_first=False,
    node="FmodBackward1",
    number_node="FmodBackward0",
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * div(self, other, rounding_mode="trunc"),
)


def _rsub(name: str, node: str, **other: Any) -> Any:
    return inner_op(
        name,
        numbers=None,
        node=node,
        title="rsub",
        tensor_params=("self", "other"),
        below=lambda self, other: sub(other, self),
        self=lambda grad: -grad,
        **other,
    )(lambda self, other: OPS["sub"].kernel(other, self))


_rsub_tensor, _rsub_number = (
    _rsub("rsub_tensor", "RsubBackward0", other=lambda grad: grad),
    _rsub("rsub", "RsubBackward1"),
)


@composite("rsub", method=False)
def rsub(self: object, other: object) -> Any:
    """`other - self`"""
    return (_rsub_tensor if isinstance(other, Tensor) else _rsub_number)(self, other)


maximum = binary(
    "maximum",
    np.maximum,
    computes=Computes(
        "bif", refusals=(DtypeRefusal("c", RuntimeError, "maximum not implemented for complex tensors."),)
    ),
    inplace_form=False,
    self=lambda grad, self, other: _share(grad, self, other, self < other),
    other=lambda grad, self, other: _share(grad, self, other, self > other),
)
minimum = binary(
    "minimum",
    np.minimum,
    computes=Computes(
        "bif", refusals=(DtypeRefusal("c", RuntimeError, "minimum not implemented for complex tensors."),)
    ),
    inplace_form=False,
    self=lambda grad, self, other: _share(grad, self, other, self > other),
    other=lambda grad, self, other: _share(grad, self, other, self < other),
)
atan2 = binary(
    "atan2",
    np.arctan2,
    computes=Computes("bif"),
    result=FLOAT,
    self=lambda grad, self, other: grad * other * _inverse_square(self, other),
    other=lambda grad, self, other: grad * -self * _inverse_square(self, other),
)


def _inverse_square(a: Tensor, b: Tensor) -> Tensor:
    """1 / (a² + b²), and 0 where both are."""
    found: Tensor = (a * a + b * b).reciprocal().masked_fill((a == 0) & (b == 0), 0)
    return found


def _share(grad: Tensor, self: Tensor, other: Tensor, loses: Tensor) -> Tensor:
    """The whole gradient but where this operand loses, half of it where both are equal."""
    found: Tensor = FUNCTIONS["where"](self == other, grad / 2, grad).masked_fill_(loses, 0)
    return found


def _arrays(value: object) -> tuple[object, ...]:
    return (value,) if isinstance(value, np.ndarray) else ()


def _lerp_kernel(self: Any, end: Any, weight: Any) -> Array:
    for name, operand in (("end", end), ("weight", weight)):
        if (
            isinstance(operand, np.ndarray)
            and operand.dtype != self.dtype
            and not (name == "weight" and not operand.ndim)
        ):
            want, got = (dtypes.of(a).short for a in (self, operand))
            raise RuntimeError(f"expected dtype {want} for `{name}` but got dtype {got}")
    dtypes.broadcast_shapes(dtypes.broadcast_shapes(self.shape, end.shape), np.shape(weight))
    return elementwise(self + cast(weight, self.dtype) * (end - self), self, end, *_arrays(weight))


_lerp_number = inner_op(
    "lerp",
    computes=Computes("fc", "lerp_kernel_scalar"),
    inplace=True,
    title="lerp",
    self=lambda grad, weight: grad * (1 - conj(weight)),
    end=lambda grad, weight: grad * conj(weight),
)(_lerp_kernel)
_lerp_tensor = inner_op(
    "lerp_tensor",
    computes=Computes("fc", "lerp_kernel_tensor"),
    numbers=("weight",),
    node="LerpBackward1",
    inplace=True,
    title="lerp",
    self=lambda grad, weight: grad * (1 - conj(weight)),
    end=lambda grad, weight: grad * conj(weight),
    weight=lambda grad, self, end: grad * conj(end - self),
)(_lerp_kernel)


@composite("lerp", out=RESIZED)
def lerp(self: Tensor, end: Tensor, weight: object) -> Tensor:
    """`self + weight * (end - self)`; the weight is a number or a tensor."""
    return (_lerp_tensor if isinstance(weight, Tensor) else _lerp_number)(self, end, weight)


@composite("lerp_", function=False)
def lerp_(self: Tensor, end: Tensor, weight: object) -> Tensor:
    chosen: Any = _lerp_tensor if isinstance(weight, Tensor) else _lerp_number
    return chosen.inplace(self, end, weight)


@op(
    "addcmul",
    computes=Computes("ifc", "addcmul_cpu_out"),
    out=RESIZED,
    inplace=True,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * conj(tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * conj(tensor1 * value),
)
def addcmul(self: Array, tensor1: Array, tensor2: Array, *, value: Any = 1) -> Array:
    common = result_type(self, tensor1, tensor2)
    _check_three(self, tensor1, tensor2)
    found = cast(self, common) + cast(value, common) * cast(tensor1, common) * cast(tensor2, common)
    return elementwise(found, self, tensor1, tensor2)


def _check_three(self: Any, tensor1: Any, tensor2: Any) -> None:
    """RuntimeError if the three shapes don't go together."""
    dtypes.broadcast_shapes(dtypes.broadcast_shapes(np.shape(self), np.shape(tensor1)), np.shape(tensor2))


@op(
    "addcdiv",
    computes=Computes(
        "fc",
        refusals=(
            DtypeRefusal(
                "bi",
                RuntimeError,
                "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform "
                "a true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + "
                "value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * "
                "tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: "
                "(input + value * tensor1 / tensor2), for all dtypes.",
            ),
        ),
    ),
    out=RESIZED,
    inplace=True,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * conj(value / tensor2),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * conj(value * tensor1 / (tensor2 * tensor2)),
)
def addcdiv(self: Array, tensor1: Array, tensor2: Array, *, value: Any = 1) -> Array:
    common = result_type(self, tensor1, tensor2)
    _check_three(self, tensor1, tensor2)
    found = cast(self, common) + cast(value, common) * cast(tensor1, common) / cast(tensor2, common)
    return elementwise(found, self, tensor1, tensor2)
