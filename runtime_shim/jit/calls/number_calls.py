"""Arithmetic of ints and floats as TorchScript has it (`torch/csrc/jit/runtime/register_prim_ops.cpp`).

Ints have 64 bits and wrap, `int / int` and `int ** int` are floats, `floor` and `ceil` of a float are ints,
and a float function outside its domain gives nan or inf where Python raises.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .call_registry import script_op

_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1


def wrap_to_64_bits(value: Any) -> Any:
    """An int cut to 64 bits as two's complement; anything else as it is."""
    if type(value) is int and not _LOWEST <= value <= _HIGHEST:
        return (value - _LOWEST) % (1 << 64) + _LOWEST
    return value


def _wrapping(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: wrap_to_64_bits(function(left, right))


script_op("number", "add")(lambda left, right, alpha=1: wrap_to_64_bits(left + right * alpha))
script_op("number", "sub")(lambda left, right, alpha=1: wrap_to_64_bits(left - right * alpha))
script_op("number", "mul")(_wrapping(operator.mul))
script_op("number", "neg")(lambda value: wrap_to_64_bits(-value))
script_op("number", "abs", "prim.abs")(lambda value: wrap_to_64_bits(abs(value)))
script_op("number", "eq")(operator.eq)
script_op("number", "ne")(operator.ne)
script_op("number", "lt")(operator.lt)
script_op("number", "le")(operator.le)
script_op("number", "gt")(operator.gt)
script_op("number", "ge")(operator.ge)
script_op("number", "__and__", "bitwise_and")(operator.and_)
script_op("number", "__or__", "bitwise_or")(operator.or_)
script_op("number", "__xor__", "bitwise_xor")(operator.xor)
script_op("number", "bitwise_not")(lambda value: not value if type(value) is bool else ~value)
script_op("any", "__not__")(operator.not_)
script_op("number", "__not__")(operator.not_)


@script_op("number", "__lshift__")
def _left_shift(left: int, right: int) -> Any:
    return wrap_to_64_bits(left << right) if 0 <= right < 64 else 0


@script_op("number", "__rshift__")
def _right_shift(left: int, right: int) -> int:
    return left >> min(right, 63) if right >= 0 else 0


@script_op("number", "div", "true_divide")
def _div(left: Any, right: Any, rounding_mode: str | None = None) -> Any:
    if isinstance(left, complex) or isinstance(right, complex):
        return left / right
    with np.errstate(all="ignore"):
        quotient = float(np.float64(left) / np.float64(right))
    if rounding_mode == "floor":
        return math.floor(quotient) if math.isfinite(quotient) else quotient
    if rounding_mode == "trunc":
        return math.trunc(quotient) if math.isfinite(quotient) else quotient
    return quotient


@script_op("number", "floordiv", "floor_divide")
def _floordiv(left: Any, right: Any) -> Any:
    if right == 0 and isinstance(left, (int, float)) and (isinstance(left, float) or isinstance(right, float)):
        return _div(left, right)
    return wrap_to_64_bits(left // right)


@script_op("number", "remainder")
def _remainder(left: Any, right: Any) -> Any:
    if right == 0 and (isinstance(left, float) or isinstance(right, float)):
        return math.nan
    return left % right


@script_op("number", "pow")
def _pow(base: Any, exponent: Any) -> Any:
    if isinstance(base, complex) or isinstance(exponent, complex):
        return base**exponent
    return _float_function(np.power)(base, exponent)


@script_op("number", "__round_to_zero_floordiv")
def _truncated_division(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _float_function(function: Callable[..., Any]) -> Callable[..., float]:
    def apply(*values: Any) -> float:
        with np.errstate(all="ignore"):
            return float(function(*(np.float64(value) for value in values)))

    return apply


_FLOAT_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt,
    "exp": np.exp,
    "expm1": np.expm1,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "degrees": np.degrees,
    "radians": np.radians,
    "fabs": np.fabs,
    "fmod": np.fmod,
    "copysign": np.copysign,
    "mathremainder": math.remainder,
}
for _name, _function in _FLOAT_FUNCTIONS.items():
    script_op("number", _name)(_float_function(_function))


@script_op("number", "log")
def _log(value: Any, base: Any = None) -> float:
    natural = _float_function(np.log)(value)
    return natural if base is None else natural / _float_function(np.log)(base)


_PYTHON_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "erf": math.erf,
    "erfc": math.erfc,
    "gamma": math.gamma,
    "lgamma": math.lgamma,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
    "gcd": math.gcd,
    "frexp": math.frexp,
    "modf": math.modf,
    "ldexp": math.ldexp,
    "hex": hex,
    "oct": oct,
    "bin": bin,
    "chr": chr,
}
for _name, _python in _PYTHON_FUNCTIONS.items():
    script_op("number", _name)(_python)

script_op("number", "floor")(lambda value: math.floor(value))
script_op("number", "ceil")(lambda value: math.ceil(value))
script_op("number", "trunc")(lambda value: math.trunc(value))


@script_op("number", "factorial")
def _factorial(value: int) -> Any:
    if value < 0:
        raise ValueError("factorial() not defined for negative values")
    # 2 divides it so often that 64 bits have room for nothing else.
    return wrap_to_64_bits(math.factorial(value)) if value < 66 else 0


@script_op("number", "round")
def _round(value: Any, digits: Any = None) -> Any:
    return float(round(value)) if digits is None else round(float(value), digits)


@script_op("number", "divmod")
def _divmod(left: Any, right: Any) -> tuple[Any, Any]:
    return _floordiv(left, right), _remainder(left, right)


@script_op("number", "prim.min")
def _min(left: Any, right: Any) -> Any:
    return _common(left, right)(min(left, right))


@script_op("number", "prim.max")
def _max(left: Any, right: Any) -> Any:
    return _common(left, right)(max(left, right))


def _common(left: Any, right: Any) -> Callable[[Any], Any]:
    return float if isinstance(left, float) or isinstance(right, float) else int


@script_op("number", "__range_length")
def _range_length(low: int, high: int, step: int) -> int:
    if step == 0:
        raise RuntimeError("range() arg 3 must not be zero")
    return len(range(low, high, step))


@script_op("number", "__derive_index")
def _derive_index(index: int, start: int, step: int) -> Any:
    return wrap_to_64_bits(start + index * step)


script_op("number", "Int", "ScalarImplicit", "Scalar")(lambda value: value)
script_op("number", "real")(lambda value: float(value.real))
script_op("number", "imag")(lambda value: float(value.imag))
script_op("number", "angle")(lambda value: math.atan2(value.imag, value.real))
script_op("number", "Complex", "complex")(lambda real, imaginary=0.0: complex(real, imaginary))
