"""Values as TorchScript prints them: `print`, `str`, `"{}".format`, and defaults in schemas.

The C++ side writes them (`operator<<` of IValue in `aten/src/ATen/core/ivalue.cpp`, of Tensor in
`aten/src/ATen/core/Formatting.cpp`), so a float is `2.` and a tensor ends with `[ CPUFloatType{2} ]`.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from .script_values import Enumerator, ForkedTask, ScriptObject

_LINE = 80
_TENSOR_TYPES = {
    "uint8": "CPUByteType",
    "int8": "CPUCharType",
    "int16": "CPUShortType",
    "int32": "CPUIntType",
    "int64": "CPULongType",
    "float16": "CPUHalfType",
    "float32": "CPUFloatType",
    "float64": "CPUDoubleType",
    "complex64": "CPUComplexFloatType",
    "complex128": "CPUComplexDoubleType",
    "bool": "CPUBoolType",
    "bfloat16": "CPUBFloat16Type",
}


def to_text(value: object, quote: bool = False) -> str:
    """`value` as C++ streams it. A string is in quotes when `quote`."""
    if isinstance(value, str):
        return _quoted(value) if quote else value
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, complex):
        sign = "" if math.copysign(1.0, value.imag) < 0 else "+"
        return f"{float_text(value.real)}{sign}{float_text(value.imag)}j"
    if isinstance(value, list):
        return f"[{', '.join(map(to_text, value))}]"
    if isinstance(value, dict):
        pairs = (f"{to_text(key)}: {to_text(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, tuple):
        if len(value) == 1:
            return f"({to_text(value[0])},)"
        return f"({', '.join(map(to_text, value))})"
    if isinstance(value, Enumerator):
        return f"Enum<{value.type}.{value.name}>"
    if isinstance(value, ForkedTask):
        return "Future"
    if isinstance(value, ScriptObject):
        return f"<{value.script_class.qualified_name} object>"
    if hasattr(value, "is_leaf"):
        return tensor_text(value)
    return str(value)


def float_text(value: float) -> str:
    """A float with 17 significant digits and a point: `1.`, `0.10000000000000001`, `1e+100`."""
    if not math.isfinite(value):
        return {math.inf: "inf", -math.inf: "-inf"}.get(value, "nan")
    if value == int(value) and abs(value) < 10**10:
        return f"{int(value)}." if value else "0."
    return f"{value:.17g}"


def _quoted(text: str) -> str:
    escapes = {"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    escapes |= {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\v": "\\v"}
    out = []
    for char in text:
        if char in escapes:
            out.append(escapes[char])
        elif " " <= char <= "~":
            out.append(char)
        else:
            out.extend(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogatepass"))
    return f'"{"".join(out)}"'


def tensor_text(tensor: Any) -> str:
    """A tensor as C++ prints it: columns of one width, a common scale, then type and sizes."""
    sizes = [int(extent) for extent in tensor.shape]
    dtype = str(tensor.dtype).rpartition(".")[2]
    head = f"[ {_TENSOR_TYPES.get(dtype, dtype)}{{{','.join(map(str, sizes))}}} ]"
    if dtype.startswith("complex"):
        return f"{tensor.tolist()}\n{head}"
    values = tensor.detach().double().tolist()
    if not sizes:
        return f"{_shortest(values)}\n{head}"
    if 0 in sizes:
        return head
    if len(sizes) == 1:
        scale, width, spec = _format_of(values)
        return f"{_scale_line(scale)}{''.join(_cell(v / scale, width, spec) + chr(10) for v in values)}{head}"
    if len(sizes) == 2:
        return _matrix(values, 0) + head
    return _stack(values, sizes) + head


def _stack(values: Any, sizes: list[int]) -> str:
    """Matrices over the last two dimensions, each under its index, of which the first runs fastest."""
    out = []
    for backwards in itertools.product(*(range(extent) for extent in reversed(sizes[:-2]))):
        index = backwards[::-1]
        matrix = values
        for position in index:
            matrix = matrix[position]
        out.append(f"({','.join(str(i + 1) for i in index)},.,.) = \n{_matrix(matrix, 1)}")
    return "\n".join(out)


def _matrix(rows: list[list[float]], indent: int) -> str:
    scale, width, spec = _format_of([value for row in rows for value in row])
    per_line = max(1, (_LINE - indent) // (width + 1))
    columns = len(rows[0])
    margin = " " * (indent if scale == 1 else indent + 1)
    out: list[str] = []
    for first in range(0, columns, per_line):
        last = min(first + per_line, columns) - 1
        if per_line < columns:
            out.append(("\n" if first else "") + f"Columns {first + 1} to {last + 1}" + " " * indent)
        if scale != 1:
            out.append(_scale_line(scale) + " " * indent)
        lines = [" ".join(_cell(value / scale, width, spec) for value in row[first : last + 1]) for row in rows]
        # The first line has no margin of its own, as in PyTorch.
        out.append(f"\n{margin}".join(lines) + "\n")
    return "".join(out)


def _scale_line(scale: float) -> str:
    return "" if scale == 1 else f"{_shortest(scale)} *\n"


def _shortest(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _all_whole(values: list[float]) -> bool:
    return all(not math.isfinite(value) or value == math.ceil(value) for value in values)


def _exponents(values: list[float]) -> tuple[int, int]:
    finite = [abs(value) for value in values if math.isfinite(value)]
    if not finite:
        return 1, 1

    def exponent(value: float) -> int:
        return math.floor(math.log10(value)) + 1 if value else 1

    return exponent(min(finite)), exponent(max(finite))


def _format_of(values: list[float]) -> tuple[float, int, str]:
    """The scale to divide by, the width of a column, and the format of a finite number (`__printFormat`)."""
    low, high = _exponents(values)
    if _all_whole(values):
        return (1.0, 11, ".4e") if high > 9 else (1.0, high + 1, "g")
    if high - low > 4:
        return 1.0, 12 if abs(high) > 99 or abs(low) > 99 else 11, ".4e"
    if high > 5 or high < 0:
        return 10.0 ** (high - 1), 7, ".4f"
    return 1.0, 7 if high == 0 else high + 6, ".4f"


def _cell(value: float, width: int, spec: str) -> str:
    return format(value, spec if math.isfinite(value) else "g").rjust(width)
