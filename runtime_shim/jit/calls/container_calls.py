"""Lists, dicts, tuples, and what applies to any value (`torch/csrc/jit/runtime/register_prim_ops.cpp`)."""

from __future__ import annotations

import operator
from typing import Any

from ..script_printing import to_text
from ..script_running import Activation
from ..script_values import Enumerator, ForkedTask
from .call_registry import script_op
from .number_calls import wrap_to_64_bits

script_op("list", "append")(list.append)
script_op("list", "extend")(list.extend)
script_op("list", "insert")(list.insert)
script_op("list", "pop")(list.pop)
script_op("list", "remove")(list.remove)
script_op("list", "reverse")(list.reverse)
script_op("list", "clear")(list.clear)
script_op("list", "copy", "list")(list.copy)
script_op("list", "index")(list.index)
script_op("list", "count")(list.count)
script_op("list", "len")(len)
script_op("list", "add")(operator.add)
script_op("list", "mul", "mul_")(operator.mul)
script_op("list", "__contains__")(operator.contains)
script_op("list", "all")(all)
script_op("list", "any")(any)
script_op("list", "sum")(lambda values: wrap_to_64_bits(sum(values)))
script_op("list", "prim.min")(lambda values, other=None: min(values) if other is None else min(values, other))
script_op("list", "prim.max")(lambda values, other=None: max(values) if other is None else max(values, other))
script_op("list", "eq")(operator.eq)
script_op("list", "ne")(operator.ne)
script_op("list", "lt")(operator.lt)
script_op("list", "le")(operator.le)
script_op("list", "gt")(operator.gt)
script_op("list", "ge")(operator.ge)
script_op("list", "Delete", "__delitem__")(operator.delitem)
script_op("list", "__getitem__")(operator.getitem)
script_op("list", "numpy_T")(lambda values: values)


@script_op("list", "add_")
def _add_in_place(values: list[Any], more: list[Any]) -> list[Any]:
    values += more
    return values


@script_op("list", "slice")
def _list_slice(values: list[Any], start: int | None = None, end: int | None = None, step: int = 1) -> list[Any]:
    return values[slice(start, end, step)]


@script_op("list", "_set_item")
def _set_list_item(values: list[Any], index: int, value: Any) -> list[Any]:
    values[index] = value
    return values


def _sort_key(value: Any) -> Any:
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


script_op("dict", "len")(len)
script_op("dict", "keys", "list")(lambda mapping: list(mapping))
script_op("dict", "values")(lambda mapping: list(mapping.values()))
script_op("dict", "items")(lambda mapping: list(mapping.items()))
script_op("dict", "get")(lambda mapping, key, default=None: mapping.get(key, default))
script_op("dict", "setdefault")(dict.setdefault)
script_op("dict", "popitem")(lambda mapping: mapping.popitem())
script_op("dict", "clear")(dict.clear)
script_op("dict", "copy", "dict")(dict.copy)
script_op("dict", "update")(dict.update)
script_op("dict", "__contains__")(operator.contains)
script_op("dict", "Delete", "__delitem__")(operator.delitem)
script_op("dict", "__getitem__")(operator.getitem)
script_op("dict", "eq")(operator.eq)
script_op("dict", "ne")(operator.ne)
script_op("list", "dict")(dict)


@script_op("dict", "pop")
def _dict_pop(mapping: dict[Any, Any], key: Any, *default: Any) -> Any:
    if key not in mapping and not default:
        raise RuntimeError(f"KeyError: {to_text(key)}")
    return mapping.pop(key, *default)


@script_op("dict", "_set_item")
def _set_dict_item(mapping: dict[Any, Any], key: Any, value: Any) -> None:
    mapping[key] = value


script_op("tuple", "len")(len)
script_op("tuple", "eq")(operator.eq)
script_op("tuple", "ne")(operator.ne)
script_op("tuple", "lt")(operator.lt)
script_op("tuple", "__getitem__")(operator.getitem)
script_op("tuple", "add")(operator.add)


@script_op("tuple", "slice")
def _tuple_slice(values: tuple[Any, ...], start: int | None = None, end: int | None = None) -> tuple[Any, ...]:
    return values[slice(start, end)]


script_op("any", "eq")(operator.eq)
script_op("any", "ne")(operator.ne)


def any_value(function: Any, *names: str) -> None:
    """Registers an op that takes a value of any kind, a tensor too."""
    for kind in ("any", "number", "str", "list", "dict", "tuple", "tensor"):
        script_op(kind, *names)(function)


any_value(lambda left, right: _same(left, right), "__is__")
any_value(lambda left, right: not _same(left, right), "__isnot__")
any_value(to_text, "str")


def _same(left: Any, right: Any) -> bool:
    return left is right


def _unwrap(value: Any) -> Any:
    if value is None:
        raise RuntimeError("Unwrapping null optional")
    return value


def _wait(value: Any) -> Any:
    return value.value if isinstance(value, ForkedTask) else value


any_value(_unwrap, "_unwrap_optional", "prim.unchecked_unwrap_optional")
any_value(lambda value: value, "prim.unchecked_cast", "prim.annotate")
any_value(_wait, "wait")


def _enum_name(value: Enumerator) -> str:
    return value.name


def _enum_value(value: Enumerator) -> Any:
    return value.value


script_op("any", "prim.EnumName")(_enum_name)
script_op("any", "prim.EnumValue")(_enum_value)
script_op("number", "prim.rangelist")(lambda count: list(range(count)))


script_op("any", "prim.type")(lambda device: device.type)
script_op("any", "prim.index")(lambda device: device.index)
script_op("str", "prim.type")(lambda device: device)
