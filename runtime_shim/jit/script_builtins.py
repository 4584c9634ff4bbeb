"""The functions that serialized code calls by a plain name: conversions and `print`."""

from __future__ import annotations

import sys
from typing import Any

from ..core.function_table import AnyFunction
from .calls.value_calls import sorted_list
from .script_printing import to_text


class Builtins:
    """`int(x)` and its like, for one class of tensors."""

    def __init__(self, tensor_class: type) -> None:
        self._tensor: Any = tensor_class
        self._functions: dict[str, AnyFunction] = {
            "int": lambda value: int(self.number(value)),
            "float": lambda value: float(self.number(value)),
            "bool": lambda value: bool(value),
            "str": to_text,
            "complex": lambda value: complex(self.number(value)),
            "print": _print,
            "len": len,
            "sorted": sorted_list,
        }

    def get(self, name: str) -> AnyFunction | None:
        return self._functions.get(name)

    def number(self, value: object) -> Any:
        """The number in a tensor of one element; any other value as it is."""
        return value.item() if isinstance(value, self._tensor) else value


def _print(*values: object) -> None:
    sys.stdout.write(" ".join(to_text(value) for value in values) + "\n")
