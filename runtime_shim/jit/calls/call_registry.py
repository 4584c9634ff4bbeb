"""Where ops that work on Python values are registered: by name, and by the kind of their first argument.

TorchScript gives one name to several functions (`aten::add` of tensors, of numbers, of strings, of lists),
and the serialized code does not say which; the first argument does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CallFunction = Callable[..., Any]

VALUE_OPS: dict[str, dict[str, CallFunction]] = {}
"""Op name, then kind of the first argument ("number", "str", "list", "dict", "tuple" or "any")."""


def script_op(kind: str, *names: str) -> Callable[[CallFunction], CallFunction]:
    """Registers a function for ops of these names when the first argument is of this kind."""

    def register(function: CallFunction) -> CallFunction:
        for name in names:
            VALUE_OPS.setdefault(name, {})[kind] = function
        return function

    return register


_KINDS: dict[type, str] = {
    int: "number",
    float: "number",
    bool: "number",
    complex: "number",
    str: "str",
    list: "list",
    dict: "dict",
    tuple: "tuple",
}


def value_kind(value: object) -> str:
    return _KINDS.get(type(value), "any")
