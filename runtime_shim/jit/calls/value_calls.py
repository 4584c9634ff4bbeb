"""Ops of numbers, strings and containers.

Ints have 64 bits and wrap, `int / int` and `int ** int` are floats, `floor` and `ceil` of a float are ints,
and a float function outside its domain gives nan or inf where Python raises.
"""

from __future__ import annotations

import builtins
import math
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.function_table import AnyFunction
from ..script_printing import to_text
from ..script_running import Activation
from ..script_values import ForkedTask
from .call_registry import script_op

_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1


def wrap_to_64_bits(value: object) -> Any:
    """An int cut to 64 bits as two's complement; anything else as it is."""
    if type(value) is int and not _LOWEST <= value <= _HIGHEST:
        return (value - _LOWEST) % (1 << 64) + _LOWEST
    return value


def _wrapping(function: Callable[[object, object], object]) -> Callable[[Any, Any], Any]:
    return lambda left, right: wrap_to_64_bits(function(left, right))


script_op("number", "add")(lambda left, right, alpha=1: wrap_to_64_bits(left + right * alpha))
script_op("number", "sub")(lambda left, right, alpha=1: wrap_to_64_bits(left - right * alpha))
script_op("number", "mul")(_wrapping(operator.mul))
script_op("number", "neg")(lambda value: wrap_to_64_bits(-value))


def as_they_are(kind: str, holder: object, names: str) -> None:
    """Registers what Python has under the same name."""
    for name in names.split():
        script_op(kind, name)(getattr(holder, name))


as_they_are("number", operator, "eq ne lt le gt ge")
as_they_are("str", operator, "eq ne lt le gt ge")
as_they_are("list", operator, "eq ne lt le gt ge")
as_they_are("dict", operator, "eq ne")
as_they_are("tuple", operator, "eq ne lt")
as_they_are("any", operator, "eq ne")


@script_op("tuple", "slice")
@script_op("list", "slice")
@script_op("str", "slice")
def _slice(values: Any, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    return values[slice(start, end, step)]


@script_op("dict", "_set_item")
@script_op("list", "_set_item")
def _set_item(held: Any, key: Any, value: Any) -> Any:
    held[key] = value
    return held


script_op("number", "abs", "prim.abs")(lambda value: wrap_to_64_bits(abs(value)))
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


def _float_function(function: AnyFunction) -> Callable[..., float]:
    def apply(*values: Any) -> float:
        with np.errstate(all="ignore"):
            return float(function(*(np.float64(value) for value in values)))

    return apply


for _name in "sqrt exp expm1 log2 log10 log1p sin cos tan sinh cosh tanh degrees radians fabs fmod copysign".split():
    script_op("number", _name)(_float_function(getattr(np, _name)))
for _name in "asin acos atan atan2 asinh acosh atanh".split():
    script_op("number", _name)(_float_function(getattr(np, f"arc{_name[1:]}")))
script_op("number", "mathremainder")(_float_function(math.remainder))


@script_op("number", "log")
def _log(value: Any, base: Any = None) -> float:
    natural = _float_function(np.log)(value)
    return natural if base is None else natural / _float_function(np.log)(base)


as_they_are("number", math, "erf erfc gamma lgamma isnan isinf isfinite gcd frexp modf ldexp floor ceil trunc")
as_they_are("number", builtins, "hex oct bin chr")


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


def _common(left: object, right: object) -> Callable[[Any], Any]:
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


_METHODS = """
    capitalize casefold center count endswith expandtabs find isalnum isalpha isascii isdecimal isdigit
    isidentifier islower isnumeric isprintable isspace istitle isupper ljust lower lstrip partition
    replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title
    upper zfill
"""

as_they_are("str", str, _METHODS)
as_they_are("str", builtins, "len ord list str")
script_op("str", "add")(operator.add)
script_op("str", "mul")(operator.mul)
script_op("str", "__contains__")(operator.contains)
script_op("str", "index")(str.index)
script_op("str", "__getitem__")(operator.getitem)
script_op("str", "join")(lambda separator, parts: separator.join(parts))


@script_op("str", "format")
def _format(template: str, *values: Any) -> str:
    """`{}` one after the other, as `aten::format`; surplus values are dropped."""
    parts = template.split("{}")
    if len(values) < len(parts) - 1:
        raise RuntimeError("Too few arguments for format string: " + template)
    out = [parts[0]]
    for value, part in zip(values, parts[1:], strict=False):
        out += [to_text(value), part]
    return "".join(out)


_DIRECTIVE = re.compile(r"%(.)", re.DOTALL)


@script_op("str", "percentFormat")
def _percent_format(template: str, values: Any = (), *more: Any) -> str:
    arguments = [*(values if isinstance(values, tuple) else (values,)), *more]
    used = 0

    def fill(match: re.Match[str]) -> str:
        nonlocal used
        directive = match[1]
        if directive == "%":
            return "%"
        if used >= len(arguments):
            raise RuntimeError("Too few arguments for format string")
        value = arguments[used]
        used += 1
        if directive == "s":
            return to_text(value)
        if directive in "di":
            return str(int(value))
        if directive in "eEfFgGxX":
            return str(f"%{directive}" % value)
        if directive == "c":
            return chr(value) if isinstance(value, int) else str(value)
        raise RuntimeError(f"The specifier {directive} is not supported in TorchScript format strings")

    text = _DIRECTIVE.sub(fill, template)
    if used < len(arguments):
        raise RuntimeError("Too many arguments for format string")
    return text


as_they_are("list", list, "append extend insert pop remove reverse clear index count")
as_they_are("list", builtins, "len all any")
script_op("list", "copy", "list")(list.copy)
script_op("list", "add")(operator.add)
script_op("list", "mul", "mul_")(operator.mul)
script_op("list", "__contains__")(operator.contains)
script_op("list", "sum")(lambda values: wrap_to_64_bits(sum(values)))
script_op("list", "prim.min")(lambda values, other=None: min(values) if other is None else min(values, other))
script_op("list", "prim.max")(lambda values, other=None: max(values) if other is None else max(values, other))
script_op("list", "Delete", "__delitem__")(operator.delitem)
script_op("list", "__getitem__")(operator.getitem)
script_op("list", "numpy_T")(lambda values: values)


@script_op("list", "add_")
def _add_in_place(values: list[Any], more: list[Any]) -> list[Any]:
    values += more
    return values


def _sort_key(value: object) -> Any:
    less = value.script_class.methods.get("__lt__") if hasattr(value, "script_class") else None
    return value if less is None else _ByMethod(value, less)


class _ByMethod:
    """Orders script objects by the `__lt__` of their class."""

    def __init__(self, value: Any, less: Any) -> None:
        self._value = value
        self._less = less

    def __lt__(self, other: _ByMethod) -> bool:
        return bool(self._less.runtime.run(self._less, [self._value, other._value], Activation()))


@script_op("list", "sort")
def _sort(values: list[Any], reverse: bool = False) -> None:
    values.sort(key=_sort_key, reverse=reverse)


@script_op("list", "sorted")
def sorted_list(values: list[Any], reverse: bool = False) -> list[Any]:
    return sorted(values, key=_sort_key, reverse=reverse)


as_they_are("dict", dict, "get setdefault popitem clear update")
script_op("dict", "len")(len)
script_op("dict", "keys", "list")(lambda mapping: list(mapping))
script_op("dict", "values")(lambda mapping: list(mapping.values()))
script_op("dict", "items")(lambda mapping: list(mapping.items()))
script_op("dict", "copy", "dict")(dict.copy)
script_op("dict", "__contains__")(operator.contains)
script_op("dict", "Delete", "__delitem__")(operator.delitem)
script_op("dict", "__getitem__")(operator.getitem)
script_op("list", "dict")(dict)


@script_op("dict", "pop")
def _dict_pop(mapping: dict[Any, Any], key: Any, *default: Any) -> Any:
    if key not in mapping and not default:
        raise RuntimeError(f"KeyError: {to_text(key)}")
    return mapping.pop(key, *default)


script_op("tuple", "len")(len)
script_op("tuple", "__getitem__")(operator.getitem)
script_op("tuple", "add")(operator.add)


def any_value(function: Any, *names: str) -> None:
    """Registers an op that takes a value of any kind, a tensor too."""
    for kind in ("any", "number", "str", "list", "dict", "tuple", "tensor"):
        script_op(kind, *names)(function)


any_value(lambda left, right: _same(left, right), "__is__")
any_value(lambda left, right: not _same(left, right), "__isnot__")
any_value(to_text, "str")


def _same(left: object, right: object) -> bool:
    return left is right


def _unwrap(value: object) -> Any:
    if value is None:
        raise RuntimeError("Unwrapping null optional")
    return value


def _wait(value: object) -> Any:
    return value.value if isinstance(value, ForkedTask) else value


any_value(_unwrap, "_unwrap_optional", "prim.unchecked_unwrap_optional")
any_value(lambda value: value, "prim.unchecked_cast", "prim.annotate")
any_value(_wait, "wait")


script_op("any", "prim.EnumName")(operator.attrgetter("name"))
script_op("any", "prim.EnumValue")(operator.attrgetter("value"))
script_op("number", "prim.rangelist")(lambda count: list(range(count)))


script_op("any", "prim.type")(lambda device: device.type)
script_op("any", "prim.index")(lambda device: device.index)
script_op("str", "prim.type")(lambda device: device)
