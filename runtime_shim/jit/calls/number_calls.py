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

from .call_registry import op

_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1


def wrap(value: Any) -> Any:
    """An int cut to 64 bits as two's complement; anything else as it is."""
    if type(value) is int and not _LOWEST <= value <= _HIGHEST:
        return (value - _LOWEST) % (1 << 64) + _LOWEST
    return value


def _wrapping(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: wrap(function(left, right))


op("number", "add")(lambda left, right, alpha=1: wrap(left + right * alpha))
op("number", "sub")(lambda left, right, alpha=1: wrap(left - right * alpha))
op("number", "mul")(_wrapping(operator.mul))
op("number", "neg")(lambda value: wrap(-value))
op("number", "abs", "prim.abs")(lambda value: wrap(abs(value)))
op("number", "eq")(operator.eq)
op("number", "ne")(operator.ne)
op("number", "lt")(operator.lt)
op("number", "le")(operator.le)
op("number", "gt")(operator.gt)
op("number", "ge")(operator.ge)
op("number", "__and__", "bitwise_and")(operator.and_)
op("number", "__or__", "bitwise_or")(operator.or_)
op("number", "__xor__", "bitwise_xor")(operator.xor)
op("number", "bitwise_not")(lambda value: not value if type(value) is bool else ~value)
op("any", "__not__")(operator.not_)
op("number", "__not__")(operator.not_)


@op("number", "__lshift__")
def _left_shift(left: int, right: int) -> Any:
    return wrap(left << right) if 0 <= right < 64 else 0


@op("number", "__rshift__")
def _right_shift(left: int, right: int) -> int:
    return left >> min(right, 63) if right >= 0 else 0


@op("number", "div", "true_divide")
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


@op("number", "floordiv", "floor_divide")
def _floordiv(left: Any, right: Any) -> Any:
    if right == 0 and isinstance(left, (int, float)) and (isinstance(left, float) or isinstance(right, float)):
        return _div(left, right)
    return wrap(left // right)


@op("number", "remainder")
def _remainder(left: Any, right: Any) -> Any:
    if right == 0 and (isinstance(left, float) or isinstance(right, float)):
        return math.nan
    return left % right


@op("number", "pow")
def _pow(base: Any, exponent: Any) -> Any:
    if isinstance(base, complex) or isinstance(exponent, complex):
        return base**exponent
    return _float_function(np.power)(base, exponent)


@op("number", "__round_to_zero_floordiv")
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
    op("number", _name)(_float_function(_function))


@op("number", "log")
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
    "factorial": math.factorial,
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
    op("number", _name)(_python)

op("number", "floor")(lambda value: math.floor(value))
op("number", "ceil")(lambda value: math.ceil(value))
op("number", "trunc")(lambda value: math.trunc(value))


@op("number", "round")
def _round(value: Any, digits: Any = None) -> Any:
    return float(round(value)) if digits is None else round(float(value), digits)


@op("number", "divmod")
def _divmod(left: Any, right: Any) -> tuple[Any, Any]:
    return _floordiv(left, right), _remainder(left, right)


@op("number", "prim.min")
def _min(left: Any, right: Any) -> Any:
    return _common(left, right)(min(left, right))


@op("number", "prim.max")
def _max(left: Any, right: Any) -> Any:
    return _common(left, right)(max(left, right))


def _common(left: Any, right: Any) -> Callable[[Any], Any]:
    return float if isinstance(left, float) or isinstance(right, float) else int


@op("number", "__range_length")
def _range_length(low: int, high: int, step: int) -> int:
    if step == 0:
        raise RuntimeError("range() arg 3 must not be zero")
    return len(range(low, high, step))


@op("number", "__derive_index")
def _derive_index(index: int, start: int, step: int) -> Any:
    return wrap(start + index * step)


op("number", "Int", "ScalarImplicit", "Scalar")(lambda value: value)
op("number", "real")(lambda value: float(value.real))
op("number", "imag")(lambda value: float(value.imag))
op("number", "angle")(lambda value: math.atan2(value.imag, value.real))
op("number", "Complex", "complex")(lambda real, imaginary=0.0: complex(real, imaginary))
