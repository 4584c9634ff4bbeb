"""Powers, and the operators of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.array_kinds import elementwise, packed
from ..core.dtypes import Array, result_type
from ..core.error_texts import invalid_combination, public_call, require_tensors
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor, attach, new_tensor
from ..core.thread_state import ADINPLACEORVIEW, tls
from ..dispatch.op_description import ANY_DTYPE, RESIZED, Computes
from ..dispatch.registration import composite, op, publish
from .elementwise import add, conj, div_mode, floor_divide, mul, mul_scalar, remainder, rsub, true_divide
from .elementwise_functions import positive
from .ufunc_makers import BOOL, FLOAT, binary, binary_kernel, cast, is_operand, unary


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
    found: Array = np.power(a, b)
    if common.kind == "c" and isinstance(exponent, np.ndarray):  # computed by the logarithm of 0
        found = np.where((a == 0) & (b == 0), common.type(complex(np.nan, np.nan)), found)
    return found


def _pow_self(grad: Tensor, self: Tensor, exponent: Any) -> Tensor:
    if exponent == 0:
        return zeros_like(self)
    return grad * conj(mul_scalar(self ** (exponent - 1), exponent))


def zeros_like(t: Tensor) -> Tensor:
    found: Tensor = FUNCTIONS["zeros_like"](t)
    return found


def _pow_below(self: Tensor, exponent: object) -> Any:
    if exponent == 1:
        return FUNCTIONS["empty_like"](self).copy_(self)
    made = new_tensor(pow_scalar.op.kernel(self._array, exponent))  # type: ignore[attr-defined]
    if exponent == 0 and made._version_counter is not None:
        made._version_counter[0] += 1
    return made


@op(
    "pow_scalar",
    computes=ANY_DTYPE,
    numbers=("self",),
    title="pow",
    below=_pow_below,
    node="PowBackward0",
    inplace=True,
    method=False,
    function=False,
    self=_pow_self,
)
def pow_scalar(self: Any, exponent: Array) -> Array:
    """tensor ** number"""
    if self.dtype.kind == "f":
        if exponent == 2:
            return np.multiply(self, self)
        if exponent == 1:
            return self.copy("K")
    return elementwise(_pow_kernel(self, exponent), self)


def _pow_tensor_self(grad: Tensor, self: Tensor, exponent: Tensor) -> Tensor:
    return FUNCTIONS["where"](exponent == 0, 0.0, grad * conj(exponent * self ** (exponent - 1)))


def _pow_tensor_exponent(grad: Tensor, self: Tensor, exponent: Tensor, result: Tensor) -> Tensor:
    condition = (self == 0) & _not_negative(exponent)
    logarithm = (self.to(result.dtype) if result.is_complex() else self).log()
    return grad * FUNCTIONS["where"](condition, 0.0, conj(result * logarithm))


@op(
    "pow_tensor",
    computes=Computes("ifc", "pow"),
    numbers=("exponent",),
    title="pow",
    node="PowBackward1",
    inplace=True,
    method=False,
    function=False,
    self=_pow_tensor_self,
    exponent=_pow_tensor_exponent,
)
def pow_tensor(self: Array, exponent: Any) -> Array:
    """tensor ** tensor"""
    try:
        return _pow_kernel(self, exponent)
    except ValueError:
        dtypes.broadcast_shapes(self.shape, exponent.shape)
        raise


def _pow_base(grad: Tensor, self: Tensor, exponent: Tensor, result: Tensor) -> Tensor:
    if self == 0:
        return FUNCTIONS["where"](_not_negative(exponent), 0.0, grad * conj(result * -float("inf")))
    base = complex(self) if exponent.is_complex() else self  # whose logarithm is that of negative numbers as well
    return grad * conj(result * np.log(base).item())


def _not_negative(exponent: Any) -> Any:
    if isinstance(exponent, Tensor) and exponent.is_complex():
        return (exponent.imag == 0) & (exponent.real >= 0)
    return exponent >= 0


@op(
    "pow_base",
    computes=ANY_DTYPE,
    numbers=("exponent",),
    title="pow",
    node="PowBackward2",
    method=False,
    function=False,
    leak=1,
    refuses="pow",
    exponent=_pow_base,
)
def pow_base(self: Array, exponent: Any) -> Array:
    """number ** tensor"""
    return packed(_pow_kernel(self, exponent))


@composite("pow")
def power(self: object, exponent: object, *, out: Tensor | None = None) -> Any:
    for operand in (self, exponent):
        if not is_operand(operand):
            called = public_call()
            raise invalid_combination("pow", called[2] if called else (self, exponent))
    chosen = pow_base if not isinstance(self, Tensor) else pow_tensor if isinstance(exponent, Tensor) else pow_scalar
    return chosen(self, exponent, out=out) if out is not None else chosen(self, exponent)


@composite("pow_", function=False)
def power_(self: Tensor, exponent: object) -> Tensor:
    if exponent is None:
        require_tensors("pow_", self=self, exponent=exponent)
    chosen = pow_tensor if isinstance(exponent, Tensor) else pow_scalar
    return chosen.inplace(self, exponent)  # type: ignore[attr-defined]


@composite("square", out=RESIZED)
def square(self: Tensor) -> Any:
    return pow_scalar(self, 2)


@composite("square_")
def square_(self: Tensor) -> Tensor:
    return power_(self, 2)


def _register(name: str, node: str, logarithm: Callable[[Any], Any], pole: float, method: bool) -> None:
    """`name(self, other)`, with overloads for a number in either place; the logarithm of `pole` is minus infinity."""

    def product(x: Tensor, y: Tensor) -> Any:
        with np.errstate(all="ignore"):
            found = np.where(np.isnan(y), y, np.where(x == 0, np.zeros_like(x), x * logarithm(y)))
        return elementwise(found, x, y)

    kernel = binary_kernel(product, FLOAT, None, False)

    def overload(number: int, **derivatives: Any) -> Any:
        return op(
            name,
            computes=Computes("bif", f"{name.removeprefix('special_')}_cpu"),
            node=f"{node}{number}",
            inplace=method,
            method=False,
            function=False,
            title=name,
            tensor_params=("self", "other"),
            numbers=("self", "other"),
            **derivatives,
        )(kernel)

    def self_gradient(grad: Tensor, self: Tensor, other: Tensor) -> Tensor:
        return FUNCTIONS[name](grad, other).masked_fill((self == 0.0) & (other <= pole), 0.0)

    def self_gradient_by_number(grad: Tensor, self: Tensor, other: Any) -> Tensor:
        found: Tensor = FUNCTIONS[name](grad, other)
        return found if other > pole else found.masked_fill(self == 0.0, 0.0)

    def other_gradient(grad: Tensor, self: object, other: Tensor) -> Tensor:
        return grad * self / (other - pole if pole else other)

    of_number_first = overload(1, other=other_gradient)
    of_number = overload(2, self=self_gradient_by_number)
    of_tensors = overload(0, self=self_gradient, other=other_gradient)

    def chosen(self: object, other: object) -> Any:
        if not (is_operand(self) and is_operand(other)) or not (isinstance(self, Tensor) or isinstance(other, Tensor)):
            called = public_call()
            raise invalid_combination(name, called[2] if called else ())
        if not isinstance(other, Tensor):
            return of_number
        return of_tensors if isinstance(self, Tensor) else of_number_first

    def call(self: object, other: object, *, out: Tensor | None = None) -> Any:
        found = chosen(self, other)
        return found(self, other) if out is None else found(self, other, out=out)

    def call_(self: object, other: object) -> Any:
        return chosen(self, other).inplace(self, other)

    composite(name, method=method)(call)
    if method:
        publish(f"{name}_", call_)


_register("xlogy", "XlogyBackward", np.log, 0.0, True)
_register("special_xlog1py", "SpecialXlog1PyBackward", np.log1p, -1.0, False)


_ufunc: Any
for _name, _ufunc in {
    "eq": np.equal,
    "ne": np.not_equal,
}.items():
    binary(_name, _ufunc, result=BOOL, numbers=True, computes=ANY_DTYPE)
for _name, _ufunc in {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}.items():
    binary(_name, _ufunc, result=BOOL, numbers=True, computes=Computes("bif"))
for _name, _ufunc in {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}.items():
    binary(_name, _ufunc, result=BOOL, leak=1, computes=ANY_DTYPE)
for _name, _ufunc in {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}.items():
    binary(_name, _ufunc, fast_scalar=False, numbers=True, computes=Computes("bi"))
binary("bitwise_left_shift", np.left_shift, fast_scalar=False, numbers=True, computes=Computes("i", "lshift_cpu"))
binary("bitwise_right_shift", np.right_shift, fast_scalar=False, numbers=True, computes=Computes("i", "rshift_cpu"))
unary("bitwise_not", np.invert, computes=Computes("bi"))
unary("logical_not", np.logical_not, result=BOOL, leak=1, computes=ANY_DTYPE)
unary("isnan", np.isnan, inplace_form=False, computes=ANY_DTYPE)
for _name, _ufunc in {"isinf": np.isinf, "isfinite": np.isfinite}.items():
    # Of other dtypes PyTorch fills the result or makes it of two.
    unary(
        _name, _ufunc, inplace_form=False, computes=ANY_DTYPE, leak=lambda self: int(self._array.dtype.kind in "biuc")
    )


def _check_comparable(name: str, self: Tensor, other: Tensor) -> None:
    require_tensors(name, self=self, other=other)
    if self._array.dtype != other._array.dtype:
        raise RuntimeError(f"{self.dtype.scalar_name} did not match {other.dtype.scalar_name}")
    dtypes.broadcast_shapes(self._array.shape, other._array.shape)


@composite("isclose")
def isclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    _check_comparable("isclose", self, other)
    made = new_tensor(np.isclose(self._array, other._array, rtol=rtol, atol=atol, equal_nan=equal_nan))
    if made._version_counter is not None and tls.state.excluded & ADINPLACEORVIEW == 0:
        # PyTorch's is made of pieces: those that are NaN, and those that are near, are written into what is equal.
        made._version_counter[0] += (equal_nan and self._array.dtype.kind in "fcV") + bool(rtol or atol)
    return made


@composite("allclose")
def allclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    _check_comparable("allclose", self, other)
    return bool(np.allclose(self._array, other._array, rtol=rtol, atol=atol, equal_nan=equal_nan))


@composite("equal")
def equal(self: Tensor, other: Tensor) -> bool:
    """Same shape and same elements."""
    if not isinstance(other, Tensor):
        raise TypeError(f"equal(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
    return bool(np.array_equal(self._array, other._array))


def _operator(name: str, call: Any) -> Any:
    """`call` as an operator: an operand that it does not take is left to the other side's method."""

    def operator(self: Tensor, other: Any) -> Any:
        return call(self, other) if is_operand(other) else NotImplemented

    operator.__name__ = name
    return operator


for _name in ("add", "sub", "mul", "lt", "le", "gt", "ge", "eq", "ne"):
    attach(f"__{_name}__", FUNCTIONS[_name].operator)  # type: ignore[attr-defined]
attach("__truediv__", true_divide.operator)  # type: ignore[attr-defined]
attach("__radd__", add.operator)  # type: ignore[attr-defined]
attach("__rmul__", mul.operator)  # type: ignore[attr-defined]
attach("__rsub__", _operator("__rsub__", rsub))
attach("__neg__", vars(Tensor)["neg"])
attach("__pow__", _operator("__pow__", power))
attach("__ipow__", _operator("__ipow__", power_))
attach("__abs__", vars(Tensor)["abs"])
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
    if self._array.dtype.kind in "fcV":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return FUNCTIONS["bitwise_not"](self)


attach("__invert__", _invert)


def _reversed(self: Tensor) -> Tensor:
    return self if self._array.ndim == 0 else FUNCTIONS["flip"](self, (0,))


attach("__reversed__", _reversed)


def _rtruediv(self: Tensor, other: object) -> Any:
    return FUNCTIONS["reciprocal"](self) * other


def _rpow(self: Tensor, other: object) -> Any:
    return pow_base(other, self)


def _rfloordiv(self: Tensor, other: object) -> Any:
    return div_mode(other, self, "floor")


def _rmod(self: Tensor, other: object) -> Any:
    return remainder(other, self)


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
    "ger": "outer",
    "arctan2": "atan2",
}.items():
    publish(_alias, FUNCTIONS[_name], method=False)
    publish(_alias, vars(Tensor)[_name], function=False)
    if hasattr(Tensor, _name + "_"):
        publish(_alias + "_", vars(Tensor)[_name + "_"], function=False)
