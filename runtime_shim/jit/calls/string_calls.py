"""Strings of TorchScript: Python's methods under op names (`register_prim_ops.cpp`,
`register_string_ops.cpp`).
"""

from __future__ import annotations

import operator
import re
from typing import Any

from ..script_printing import to_text
from .call_registry import script_op

_METHODS = """
    capitalize casefold center count endswith expandtabs find isalnum isalpha isascii isdecimal isdigit
    isidentifier islower isnumeric isprintable isspace istitle isupper ljust lower lstrip partition
    replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title
    upper zfill
"""

for _name in _METHODS.split():
    script_op("str", _name)(getattr(str, _name))

script_op("str", "add")(operator.add)
script_op("str", "mul")(operator.mul)
script_op("str", "eq")(operator.eq)
script_op("str", "ne")(operator.ne)
script_op("str", "lt")(operator.lt)
script_op("str", "le")(operator.le)
script_op("str", "gt")(operator.gt)
script_op("str", "ge")(operator.ge)
script_op("str", "len")(len)
script_op("str", "ord")(ord)
script_op("str", "list")(list)
script_op("str", "__contains__")(operator.contains)
script_op("str", "index")(str.index)
script_op("str", "__getitem__")(operator.getitem)
script_op("str", "join")(lambda separator, parts: separator.join(parts))
script_op("str", "str")(str)


@script_op("str", "slice")
def _slice(text: str, start: int | None = None, end: int | None = None, step: int = 1) -> str:
    return text[slice(start, end, step)]


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
