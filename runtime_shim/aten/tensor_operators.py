"""Comparison and logic, and the operators of Tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.argument_errors import require_tensors
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor, attach, new_tensor
from ..core.thread_state import ADINPLACEORVIEW, tls
from ..dispatch.op_description import ANY_DTYPE, Computes
from ..dispatch.registration import composite, publish
from .elementwise import add, div_mode, floor_divide, mul, remainder, rsub, true_divide
from .elementwise_functions import positive
from .powers import pow_base, power, power_
from .ufunc_makers import BOOL, binary, is_operand, unary

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


@composite("isclose")
def isclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    require_tensors("isclose", self=self, other=other)
    if self._array.dtype != other._array.dtype:
        raise RuntimeError(f"{self.dtype.scalar_name} did not match {other.dtype.scalar_name}")
    dtypes.broadcast_shapes(self._array.shape, other._array.shape)
    made = new_tensor(np.isclose(self._array, other._array, rtol=rtol, atol=atol, equal_nan=equal_nan))
    if made._version_counter is not None and tls.state.excluded & ADINPLACEORVIEW == 0:
        # PyTorch's is made of pieces: those that are NaN, and those that are near, are written into what is equal.
        made._version_counter[0] += (equal_nan and self._array.dtype.kind in "fcV") + bool(rtol or atol)
    return made


@composite("allclose")
def allclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    require_tensors("allclose", self=self, other=other)
    if self._array.dtype != other._array.dtype:
        raise RuntimeError(f"{self.dtype.scalar_name} did not match {other.dtype.scalar_name}")
    dtypes.broadcast_shapes(self._array.shape, other._array.shape)
    return bool(np.allclose(self._array, other._array, rtol=rtol, atol=atol, equal_nan=equal_nan))


@composite("equal")
def equal(self: Tensor, other: Tensor) -> bool:
    """Same shape and same elements."""
    if not isinstance(other, Tensor):
        raise TypeError(f"equal(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
    return bool(np.array_equal(self._array, other._array))


def _operator(name: str, call: Any) -> Any:
    """`call` as an operator: an operand that it does not take is left to the other side's method."""

    def operator(self: Any, other: Any) -> Any:
        return call(self, other) if is_operand(other) else NotImplemented

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
    if self._array.dtype.kind in "fcV":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return FUNCTIONS["bitwise_not"](self)


attach("__invert__", _invert)


def _reversed(self: Tensor) -> Tensor:
    return self if self._array.ndim == 0 else FUNCTIONS["flip"](self, (0,))


attach("__reversed__", _reversed)


def _rtruediv(self: Tensor, other: Any) -> Any:
    return FUNCTIONS["reciprocal"](self) * other


def _rpow(self: Tensor, other: Any) -> Any:
    return pow_base(other, self)


def _rfloordiv(self: Tensor, other: Any) -> Any:
    return div_mode(other, self, "floor")


def _rmod(self: Tensor, other: Any) -> Any:
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
    "arctan2": "atan2",
}.items():
    publish(_alias, FUNCTIONS[_name], method=False)
    publish(_alias, vars(Tensor)[_name], function=False)
    if hasattr(Tensor, _name + "_"):
        publish(_alias + "_", vars(Tensor)[_name + "_"], function=False)
