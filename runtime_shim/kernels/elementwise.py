"""Elementwise arithmetic, comparison and logic, with their operators. Derivatives as in derivatives.yaml."""

from __future__ import annotations

from typing import Any

import numpy as np

from guardfix.runtime_shim import dtypes
from guardfix.runtime_shim._tensor import Tensor, new_tensor
from guardfix.runtime_shim.arguments import invalid_combination, public_call
from guardfix.runtime_shim.dispatch import FUNCTIONS, OPS, attach, composite, op, publish, store
from guardfix.runtime_shim.dtypes import Array, result_type
from guardfix.runtime_shim.kernels.ufunc import BOOL, FLOAT, binary, cast, unary
from guardfix.runtime_shim.state import ADINPLACEORVIEW, tls


def conj(value: Any) -> Any:
    """The conjugate of a tensor or number; the same object if it is real."""
    if isinstance(value, Tensor):
        return value.conj() if value._array.dtype.kind == "c" else value
    return value.conjugate() if isinstance(value, complex) else value


# -- arithmetic
# -------------------------------------------------------------------------------------------------


def _no_bool_subtraction(self: Any, other: Any) -> None:
    bools = [isinstance(x, bool) or getattr(x, "dtype", None) == np.bool_ for x in (self, other)]
    if all(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` "
            "operator instead."
        )
    if any(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
            "invert a mask, "
            "use the `~` or `logical_not()` operator instead."
        )


def _scaled(grad: Tensor, alpha: Any) -> Tensor:
    return grad if alpha == 1 else grad * conj(alpha)


add = binary(
    "add",
    np.add,
    wraps=True,
    alpha=True,
    self=lambda grad: grad,
    other=lambda grad, alpha: _scaled(grad, alpha),
)
sub = binary(
    "sub",
    np.subtract,
    wraps=True,
    alpha=True,
    check=_no_bool_subtraction,
    self=lambda grad: grad,
    other=lambda grad, alpha: _scaled(-grad, alpha),
)
mul = binary(
    "mul",
    np.multiply,
    wraps=True,
    self=lambda grad, other: grad * conj(other),
    other=lambda grad, self: grad * conj(self),
)
true_divide = binary(
    "div",
    np.true_divide,
    wraps=True,
    result=FLOAT,
    self=lambda grad, other: grad / conj(other),
    other=lambda grad, self, other: -grad * conj((self / other) / other),
)


@op(
    "div_mode",
    title="div",
    node="DivBackward2",
    inplace=True,
    method=False,
    function=False,
    wraps=True,
    tensor_params=("self", "other"),
    self=lambda grad, other, rounding_mode: grad * 0,
    other=lambda grad, other, rounding_mode: grad * 0,
)
def div_mode(self: Any, other: Any, rounding_mode: str) -> Array:
    common = result_type(self, other)
    a, b = cast(self, common), cast(other, common)
    if common.kind in "iu" and np.any(np.equal(b, 0)):
        raise RuntimeError("ZeroDivisionError")
    if rounding_mode == "floor":
        return np.floor_divide(a, b)
    if rounding_mode != "trunc":
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return np.trunc(np.true_divide(a, b)).astype(common)


def div(self: Any, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Any:
    """Divide; with a rounding mode, round the quotient towards zero ("trunc") or down ("floor")."""
    if rounding_mode is None:
        return true_divide(self, other, out=out) if out is not None else true_divide(self, other)
    return div_mode(self, other, rounding_mode)


div.op = OPS["div"]  # type: ignore[attr-defined]
publish("div", div)


def div_(self: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    if rounding_mode is None:
        return divide_in_place(self, other)
    return div_mode.inplace(self, other, rounding_mode)  # type: ignore[attr-defined]


divide_in_place = vars(Tensor)["div_"]
div_.operator = divide_in_place.operator  # type: ignore[attr-defined]
publish("div_", div_, function=False)


def _not_implemented(grad: Tensor) -> Tensor:
    raise RuntimeError("derivative for aten::floor_divide is not implemented")


@op(
    "floor_divide",
    node="NotImplemented",
    inplace=True,
    wraps=True,
    tensor_params=("self", "other"),
    self=_not_implemented,
    other=_not_implemented,
)
def floor_divide(self: Any, other: Any) -> Array:
    return OPS["div_mode"].kernel(self, other, "floor")


def _whole(ufunc: Any) -> Any:
    """A division of whole numbers, which must not be by zero."""

    def divide(a: Any, b: Any, out: Any = None) -> Any:
        if np.asarray(b).dtype.kind in "iu" and np.asarray(a).dtype.kind in "iu" and np.any(np.equal(b, 0)):
            raise RuntimeError("ZeroDivisionError")
        return ufunc(a, b)

    return divide


remainder = binary(
    "remainder",
    _whole(np.remainder),
    wraps=True,
    node="RemainderBackward1",
    number_node="RemainderBackward0",
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * div(self, other, rounding_mode="floor"),
)
fmod = binary(
    "fmod",
    _whole(np.fmod),
    wraps=True,
    node="FmodBackward1",
    number_node="FmodBackward0",
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * div(self, other, rounding_mode="trunc"),
)


def _rsub(name: str, node: str) -> Any:
    return op(
        name,
        node=node,
        title="rsub",
        method=False,
        function=False,
        tensor_params=("self", "other"),
        below=lambda self, other: sub(other, self),
        self=lambda grad: -grad,
        other=lambda grad: grad,
    )(lambda self, other: OPS["sub"].kernel(other, self))


_rsub_tensor, _rsub_number = _rsub("rsub_tensor", "RsubBackward0"), _rsub("rsub", "RsubBackward1")


@composite("rsub", method=False)
def rsub(self: Any, other: Any) -> Any:
    """`other - self`"""
    return (_rsub_tensor if isinstance(other, Tensor) else _rsub_number)(self, other)


def _pow_kernel(self: Any, exponent: Any) -> Array:
    common = result_type(self, exponent)
    if common.kind in "iu" and not isinstance(exponent, np.ndarray) and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    a, b = cast(self, common), cast(exponent, common)
    if common.kind in "iu" and isinstance(exponent, np.ndarray) and (b < 0).any():
        # Truncated 1 / self ** n: 0 unless self is 1 or -1.
        sign = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
        return np.where(b < 0, sign, np.power(a, np.where(b < 0, 0, b))).astype(common)
    if common.kind == "b":
        return np.where(b, a, True)
    return np.power(a, b)


def _pow_self(grad: Tensor, self: Tensor, exponent: Any) -> Tensor:
    if exponent == 0:
        return zeros_like(self)
    if exponent == 2:
        return grad * (2 * conj(self))
    return grad * conj(exponent * self ** (exponent - 1))


def zeros_like(t: Tensor) -> Tensor:
    found: Tensor = FUNCTIONS["zeros_like"](t)
    return found


def _pow_below(self: Tensor, exponent: Any) -> Any:
    if exponent == 1:
        return FUNCTIONS["empty_like"](self).copy_(self)
    made = new_tensor(pow_scalar.op.kernel(self._array, exponent))  # type: ignore[attr-defined]
    if exponent == 0 and made._version_counter is not None:
        made._version_counter[0] += 1
    return made


@op(
    "pow_scalar",
    title="pow",
    below=_pow_below,
    node="PowBackward0",
    inplace=True,
    method=False,
    function=False,
    self=_pow_self,
)
def pow_scalar(self: Any, exponent: Any) -> Array:
    """tensor ** number"""
    if self.dtype.kind == "f" and exponent == 2:
        return np.multiply(self, self)
    return _pow_kernel(self, exponent)


def _pow_tensor_self(grad: Tensor, self: Tensor, exponent: Tensor) -> Tensor:
    return FUNCTIONS["where"](exponent == 0, 0.0, grad * conj(exponent * self ** (exponent - 1)))


def _pow_tensor_exponent(grad: Tensor, self: Any, exponent: Tensor, result: Tensor) -> Tensor:
    condition = (self == 0) & (exponent >= 0)
    return grad * FUNCTIONS["where"](condition, 0.0, conj(result * self.log()))


@op(
    "pow_tensor",
    title="pow",
    node="PowBackward1",
    inplace=True,
    method=False,
    function=False,
    self=_pow_tensor_self,
    exponent=_pow_tensor_exponent,
)
def pow_tensor(self: Any, exponent: Any) -> Array:
    """tensor ** tensor"""
    try:
        return _pow_kernel(self, exponent)
    except ValueError:
        dtypes.broadcast_shapes(self.shape, exponent.shape)
        raise


def _pow_base(grad: Tensor, self: Any, exponent: Tensor, result: Tensor) -> Tensor:
    if self == 0:
        return FUNCTIONS["where"](exponent >= 0, 0.0, grad * conj(result * -float("inf")))
    return grad * conj(result * (np.log(self).item() if not isinstance(self, complex) else complex(np.log(self))))


@op(
    "pow_base",
    title="pow",
    node="PowBackward2",
    method=False,
    function=False,
    leak=1,
    refuses="pow",
    tensor_params=("exponent",),
    exponent=_pow_base,
)
def pow_base(self: Any, exponent: Any) -> Array:
    """number ** tensor"""
    return _pow_kernel(self, exponent)


@composite("pow")
def power(self: Any, exponent: Any, *, out: Tensor | None = None) -> Any:
    for operand in (self, exponent):
        if not _operand(operand):
            called = public_call()
            raise invalid_combination("pow", called[2] if called else (self, exponent))
    chosen = pow_base if not isinstance(self, Tensor) else pow_tensor if isinstance(exponent, Tensor) else pow_scalar
    return chosen(self, exponent, out=out) if out is not None else chosen(self, exponent)


@composite("pow_", function=False)
def power_(self: Tensor, exponent: Any) -> Tensor:
    chosen = pow_tensor if isinstance(exponent, Tensor) else pow_scalar
    return chosen.inplace(self, exponent)  # type: ignore[attr-defined]


@composite("square")
def square(self: Tensor) -> Any:
    return pow_scalar(self, 2)


@composite("square_")
def square_(self: Tensor) -> Tensor:
    return power_(self, 2)


maximum = binary(
    "maximum",
    np.maximum,
    inplace_form=False,
    numbers=False,
    self=lambda grad, self, other: _share(grad, self, other, self > other),
    other=lambda grad, self, other: _share(grad, self, other, other > self),
)
minimum = binary(
    "minimum",
    np.minimum,
    inplace_form=False,
    numbers=False,
    self=lambda grad, self, other: _share(grad, self, other, self < other),
    other=lambda grad, self, other: _share(grad, self, other, other < self),
)
atan2 = binary(
    "atan2",
    np.arctan2,
    result=FLOAT,
    numbers=False,
    self=lambda grad, self, other: grad * (other / (self * self + other * other)),
    other=lambda grad, self, other: grad * (-self / (self * self + other * other)),
)


def _share(grad: Tensor, self: Tensor, other: Tensor, wins: Tensor) -> Tensor:
    """The whole gradient where this operand wins, half of it where both are equal."""
    where = FUNCTIONS["where"]
    return where(self == other, grad / 2, grad * wins)


def _lerp_kernel(self: Any, end: Any, weight: Any) -> Array:
    dtypes.broadcast_shapes(dtypes.broadcast_shapes(self.shape, end.shape), np.shape(weight))
    return self + cast(weight, self.dtype) * (end - self)


_lerp_number = op(
    "lerp",
    inplace=True,
    method=False,
    function=False,
    title="lerp",
    self=lambda grad, weight: grad * (1 - conj(weight)),
    end=lambda grad, weight: grad * conj(weight),
)(_lerp_kernel)
_lerp_tensor = op(
    "lerp_tensor",
    node="LerpBackward1",
    inplace=True,
    method=False,
    function=False,
    title="lerp",
    tensor_params=("self", "end", "weight"),
    self=lambda grad, weight: grad * (1 - conj(weight)),
    end=lambda grad, weight: grad * conj(weight),
    weight=lambda grad, self, end: grad * conj(end - self),
)(_lerp_kernel)


@composite("lerp")
def lerp(self: Tensor, end: Tensor, weight: Any) -> Tensor:
    """`self + weight * (end - self)`; the weight is a number or a tensor."""
    return (_lerp_tensor if isinstance(weight, Tensor) else _lerp_number)(self, end, weight)


@composite("lerp_", function=False)
def lerp_(self: Tensor, end: Tensor, weight: Any) -> Tensor:
    chosen: Any = _lerp_tensor if isinstance(weight, Tensor) else _lerp_number
    return chosen.inplace(self, end, weight)


@op(
    "addcmul",
    inplace=True,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 * value),
)
def addcmul(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Array:
    common = result_type(self, tensor1, tensor2)
    return cast(self, common) + cast(value, common) * cast(tensor1, common) * cast(tensor2, common)


@op(
    "addcdiv",
    inplace=True,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (value / tensor2),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * (value * tensor1 / (tensor2 * tensor2)),
)
def addcdiv(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Array:
    common = result_type(self, tensor1, tensor2)
    return cast(self, common) + cast(value, common) * cast(tensor1, common) / cast(tensor2, common)


# -- one operand
# ------------------------------------------------------------------------------------------------

unary(
    "neg",
    np.negative,
    self=lambda grad: -grad,
    refuse_bool="Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
    "invert a mask, "
    "use the `~` or `logical_not()` operator instead.",
)
unary("exp", np.exp, result=FLOAT, self=lambda grad, result: grad * conj(result))
unary("exp2", np.exp2, result=FLOAT, self=lambda grad, result: grad * conj(result) * float(np.log(2)))
unary("expm1", np.expm1, result=FLOAT, self=lambda grad, result: grad * (conj(result) + 1))
unary("log", np.log, result=FLOAT, self=lambda grad, self: grad / conj(self))
unary("log2", np.log2, result=FLOAT, self=lambda grad, self: grad / conj(self) / float(np.log(2)))
unary("log10", np.log10, result=FLOAT, self=lambda grad, self: grad / conj(self) / float(np.log(10)))
unary("log1p", np.log1p, node="Log1PBackward0", result=FLOAT, self=lambda grad, self: grad / conj(self + 1))
unary("sqrt", np.sqrt, result=FLOAT, self=lambda grad, result: grad / (2 * conj(result)))
unary("sin", np.sin, result=FLOAT, self=lambda grad, self: grad * conj(self.cos()))
unary("cos", np.cos, result=FLOAT, self=lambda grad, self: grad * -conj(self.sin()))
unary("tan", np.tan, result=FLOAT, self=lambda grad, result: grad * conj(1 + result * result))
unary("asin", np.arcsin, result=FLOAT, self=lambda grad, self: grad * conj((1 - self * self).rsqrt()))
unary("acos", np.arccos, result=FLOAT, self=lambda grad, self: grad * -conj((1 - self * self).rsqrt()))
unary("atan", np.arctan, result=FLOAT, self=lambda grad, self: grad / conj(self * self + 1))
unary("sinh", np.sinh, result=FLOAT, self=lambda grad, self: grad * conj(self.cosh()))
unary("cosh", np.cosh, result=FLOAT, self=lambda grad, self: grad * conj(self.sinh()))
unary("tanh", np.tanh, result=FLOAT, self=lambda grad, result: grad * conj(1 - result * result))
unary("floor", np.floor, self=lambda grad: grad * 0)
unary("ceil", np.ceil, self=lambda grad: grad * 0)
unary("round", lambda a: a.copy() if a.dtype.kind in "iu" else np.rint(a), self=lambda grad: grad * 0)
unary("trunc", np.trunc, self=lambda grad: grad * 0)
unary("sign", lambda a: a.copy() if a.dtype.kind == "b" else np.sign(a), self=lambda grad: grad * 0)


def _reciprocal(a: Any) -> Any:
    return np.true_divide(a.dtype.type(1), a)


def _rsqrt(a: Any) -> Any:
    return np.true_divide(a.dtype.type(1), np.sqrt(a))


def _sigmoid(a: Any) -> Any:
    return 1 / (1 + np.exp(-a))


unary("reciprocal", _reciprocal, result=FLOAT, self=lambda grad, result: -grad * conj(result * result))
unary("rsqrt", _rsqrt, result=FLOAT, self=lambda grad, result: -0.5 * grad * conj(result * result * result))
unary("sigmoid", _sigmoid, result=FLOAT, self=lambda grad, result: grad * conj((1 - result) * result))


def _abs_gradient(grad: Tensor, self: Tensor) -> Tensor:
    return grad * self.sgn()


def _sgn(a: Any) -> Any:
    if a.dtype.kind != "c":
        return a.copy() if a.dtype.kind == "b" else np.sign(a)
    size = np.abs(a)
    return np.where(size == 0, 0, a / np.where(size == 0, 1, size)).astype(a.dtype)


unary("sgn", _sgn, self=lambda grad, self: grad * 0)
unary("abs", np.abs, leak=1, refuses="abs", self=_abs_gradient)
FUNCTIONS["absolute"] = FUNCTIONS["abs"]


@op("conj", node="ConjBackward0", function=False, method=False, self=lambda grad: grad.conj())
def _conj_physical(self: Any) -> Array:
    return np.conjugate(self)


@composite("conj")
def conj_(self: Tensor) -> Tensor:
    return _conj_physical(self) if self._array.dtype.kind == "c" else self


@composite("positive")
def positive(self: Tensor) -> Tensor:
    if self._array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


@op("nan_to_num", inplace=True, leak=1, self=lambda grad, self: grad * (self.isfinite()))
def nan_to_num(self: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Array:
    return np.nan_to_num(self, nan=nan or 0.0, posinf=posinf, neginf=neginf)


# -- clamp and where
# --------------------------------------------------------------------------------------------


def _clamp_self(grad: Tensor, self: Tensor, min: Any, max: Any) -> Tensor:
    inside = None
    if min is not None:
        inside = self >= min
    if max is not None:
        inside = self <= max if inside is None else inside & (self <= max)
    return FUNCTIONS["where"](inside, grad, 0.0)


def _clamp_kernel(self: Any, min: Any, max: Any) -> Array:
    bounds = [b for b in (min, max) if b is not None]
    if not bounds:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    common = result_type(self, *bounds)
    found = cast(self, common)
    try:
        if min is not None:
            found = np.maximum(found, cast(min, common))
        if max is not None:
            found = np.minimum(found, cast(max, common))
    except ValueError:
        for bound in bounds:
            dtypes.broadcast_shapes(self.shape, np.shape(bound))
        raise
    return found


@op(
    "clamp",
    title="clamp",
    node="ClampBackward1",
    inplace=True,
    method=False,
    function=False,
    self=_clamp_self,
)
def _clamp_scalar(self: Any, min: Any = None, max: Any = None) -> Array:
    return _clamp_kernel(self, min, max)


@op(
    "clamp_tensor",
    title="clamp",
    node="ClampBackward0",
    inplace=True,
    method=False,
    function=False,
    tensor_params=("self", "min", "max"),
    self=_clamp_self,
    min=lambda grad, self, min: FUNCTIONS["where"](self < min, grad, 0.0),
    max=lambda grad, self, max: FUNCTIONS["where"](self > max, grad, 0.0),
)
def _clamp_tensor(self: Any, min: Any = None, max: Any = None) -> Array:
    return _clamp_kernel(self, min, max)


def _clamp_in_place(self: Any, min: Any = None, max: Any = None) -> None:
    found = _clamp_kernel(self, min, max)
    if not dtypes.can_cast(found.dtype, self.dtype):
        raise RuntimeError(
            f"result type {dtypes.of(found).scalar_name} can't be cast to the desired output type "
            f"{dtypes.of(self).short}"
        )
    store(self, found)


for _name in ("clamp", "clamp_tensor"):
    OPS[_name].inplace_kernel = _clamp_in_place


@composite("clamp")
def clamp(self: Tensor, min: Any = None, max: Any = None, *, out: Tensor | None = None) -> Any:
    """Limit to [min, max]; numbers or tensors."""
    for bound in (min, max):
        if bound is not None and not _operand(bound):
            called = public_call()
            raise invalid_combination("clamp", tuple(a for a in called[2] if a is not None) if called else ())
    chosen = _clamp_tensor if isinstance(min, Tensor) or isinstance(max, Tensor) else _clamp_scalar
    return chosen(self, min, max, out=out) if out is not None else chosen(self, min, max)


@composite("clamp_")
def clamp_(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    chosen = _clamp_tensor if isinstance(min, Tensor) or isinstance(max, Tensor) else _clamp_scalar
    return chosen.inplace(self, min, max)  # type: ignore[attr-defined]


FUNCTIONS["clip"] = clamp
attach("clip", clamp)


@composite("clamp_min")
def clamp_min(self: Tensor, min: Any) -> Any:
    return clamp(self, min)


@composite("clamp_max")
def clamp_max(self: Tensor, max: Any) -> Any:
    return clamp(self, None, max)


@composite("clamp_min_")
def clamp_min_(self: Tensor, min: Any) -> Any:
    return clamp_(self, min)


@composite("clamp_max_")
def clamp_max_(self: Tensor, max: Any) -> Any:
    return clamp_(self, None, max)


composite("clip_")(clamp_)


@op(
    "where",
    method=False,
    function=False,
    wraps=True,
    tensor_params=("condition", "self", "other"),
    self=lambda grad, condition: where(condition, grad, 0.0),
    other=lambda grad, condition: where(condition, 0.0, grad),
)
def _where(condition: Any, self: Any, other: Any) -> Array:
    common = result_type(self, other)
    try:
        return np.where(condition, cast(self, common), cast(other, common))
    except ValueError:
        shape = dtypes.broadcast_shapes(np.shape(condition), np.shape(self))
        dtypes.broadcast_shapes(shape, np.shape(other))
        raise


@composite("where", method=False)
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Elements of `input` where the condition holds, else of `other`."""
    if not isinstance(condition, Tensor):
        raise invalid_combination("where", tuple(a for a in (condition, input, other) if a is not None))
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if condition._array.dtype.kind != "b" and condition._array.dtype != np.uint8:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{condition.dtype.scalar_name}"
        )
    return _where(condition, input, other)


def _where_method(self: Tensor, condition: Tensor, other: Any) -> Any:
    return where(condition, self, other)


attach("where", _where_method)

# -- comparison and logic
# ---------------------------------------------------------------------------------------

_ufunc: Any
for _name, _ufunc in {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}.items():
    binary(_name, _ufunc, result=BOOL, wraps=False)
for _name, _ufunc in {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}.items():
    binary(_name, _ufunc, result=BOOL, leak=1, numbers=False)
for _name, _ufunc in {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
}.items():
    binary(_name, _ufunc, fast_scalar=False)
unary("bitwise_not", np.invert)
unary("logical_not", np.logical_not, leak=1)
for _name, _ufunc in {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}.items():
    unary(_name, _ufunc, inplace_form=False)


@composite("isclose")
def isclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    made = new_tensor(np.isclose(self._array, other._array, rtol=rtol, atol=atol, equal_nan=equal_nan))
    if made._version_counter is not None and tls.state.excluded & ADINPLACEORVIEW == 0:
        made._version_counter[0] += 1  # PyTorch's is made of in-place pieces
    return made


@composite("allclose")
def allclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    if self._array.dtype != other._array.dtype:
        raise RuntimeError(f"{self.dtype.scalar_name} did not match {other.dtype.scalar_name}")
    return bool(np.allclose(self._array, other._array, rtol=rtol, atol=atol, equal_nan=equal_nan))


@composite("equal")
def equal(self: Tensor, other: Tensor) -> bool:
    """Same shape and same elements."""
    if not isinstance(other, Tensor):
        raise TypeError(f"equal(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
    return bool(np.array_equal(self._array, other._array))


# -- operators
# --------------------------------------------------------------------------------------------------


def _operand(value: Any) -> bool:
    return isinstance(value, Tensor | int | float | complex | np.number | np.bool_)


def _operator(name: str, call: Any) -> Any:
    """`call` as an operator: an operand that it does not take is left to the other side's method."""

    def operator(self: Any, other: Any) -> Any:
        return call(self, other) if _operand(other) else NotImplemented

    operator.__name__ = name
    return operator


for _name in ("add", "sub", "mul", "lt", "le", "gt", "ge", "eq", "ne"):
    attach(f"__{_name}__", FUNCTIONS[_name].operator)  # type: ignore[attr-defined]
attach("__truediv__", true_divide.operator)  # type: ignore[attr-defined]
attach("__radd__", add.operator)  # type: ignore[attr-defined]
attach("__rmul__", mul.operator)  # type: ignore[attr-defined]
attach("__rsub__", _operator("__rsub__", rsub))
attach("__neg__", FUNCTIONS["neg"])
attach("__pow__", _operator("__pow__", power))
attach("__ipow__", _operator("__ipow__", power_))
attach("__abs__", FUNCTIONS["abs"])
attach("__pos__", positive)
attach("__mod__", _operator("__mod__", remainder))
attach("__imod__", _operator("__imod__", vars(Tensor)["remainder_"]))
attach("__floordiv__", _operator("__floordiv__", floor_divide))
attach("__ifloordiv__", _operator("__ifloordiv__", vars(Tensor)["floor_divide_"]))
for _name in ("add", "sub", "mul"):
    attach(f"__i{_name}__", vars(Tensor)[f"{_name}_"].operator)
attach("__itruediv__", vars(Tensor)["div_"].operator)
for _name, _function in {
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}.items():
    attach(f"__{_name}__", _operator(f"__{_name}__", FUNCTIONS[_function]))
    attach(f"__r{_name}__", _operator(f"__r{_name}__", FUNCTIONS[_function]))
    attach(f"__i{_name}__", _operator(f"__i{_name}__", getattr(Tensor, _function + "_")))


def _invert(self: Tensor) -> Tensor:
    if self._array.dtype.kind in "fc":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return FUNCTIONS["bitwise_not"](self)


attach("__invert__", _invert)


def _rtruediv(self: Tensor, other: Any) -> Any:
    return FUNCTIONS["reciprocal"](self) * other


def _rpow(self: Tensor, other: Any) -> Any:
    return pow_base(other, self)


def _rfloordiv(self: Tensor, other: Any) -> Any:
    return div_mode(other, self, "floor")


def _rmod(self: Tensor, other: Any) -> Any:
    return remainder(FUNCTIONS["tensor"](other), self)


attach("__rtruediv__", _operator("__rtruediv__", _rtruediv))
attach("__rpow__", _operator("__rpow__", _rpow))
attach("__rfloordiv__", _operator("__rfloordiv__", _rfloordiv))
attach("__rmod__", _operator("__rmod__", _rmod))

for _alias, _name in {
    "multiply": "mul",
    "subtract": "sub",
    "divide": "div",
    "true_divide": "div",
    "negative": "neg",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "not_equal": "ne",
    "absolute": "abs",
    "arctan2": "atan2",
}.items():
    publish(_alias, FUNCTIONS[_name], method=False)
    publish(_alias, vars(Tensor)[_name], function=False)
    if hasattr(Tensor, _name + "_"):
        publish(_alias + "_", vars(Tensor)[_name + "_"], function=False)
