"""Lists, dicts, tuples, and what applies to any value (`torch/csrc/jit/runtime/register_prim_ops.cpp`)."""

from __future__ import annotations

import operator
from typing import Any

from ..script_printing import to_text
from ..script_values import Enumerator, Future
from .call_registry import op

op("list", "append")(list.append)
op("list", "extend")(list.extend)
op("list", "insert")(list.insert)
op("list", "pop")(list.pop)
op("list", "remove")(list.remove)
op("list", "reverse")(list.reverse)
op("list", "clear")(list.clear)
op("list", "copy", "list")(list.copy)
op("list", "index")(list.index)
op("list", "count")(list.count)
op("list", "len")(len)
op("list", "add")(operator.add)
op("list", "mul", "mul_")(operator.mul)
op("list", "__contains__")(operator.contains)
op("list", "all")(all)
op("list", "any")(any)
op("list", "sum")(sum)
op("list", "prim.min")(lambda values, other=None: min(values) if other is None else min(values, other))
op("list", "prim.max")(lambda values, other=None: max(values) if other is None else max(values, other))
op("list", "eq")(operator.eq)
op("list", "ne")(operator.ne)
op("list", "lt")(operator.lt)
op("list", "le")(operator.le)
op("list", "gt")(operator.gt)
op("list", "ge")(operator.ge)
op("list", "Delete", "__delitem__")(operator.delitem)
op("list", "__getitem__")(operator.getitem)
op("list", "numpy_T")(lambda values: values)


@op("list", "add_")
def _add_in_place(values: list[Any], more: list[Any]) -> list[Any]:
    values += more
    return values


@op("list", "slice")
def _list_slice(values: list[Any], start: int | None = None, end: int | None = None, step: int = 1) -> list[Any]:
    return values[slice(start, end, step)]


@op("list", "_set_item")
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
        return bool(self._less.runtime.run(self._less, [self._value, other._value], 0))


@op("list", "sort")
def _sort(values: list[Any], reverse: bool = False) -> None:
    values.sort(key=_sort_key, reverse=reverse)


@op("list", "sorted")
def sorted_list(values: list[Any], reverse: bool = False) -> list[Any]:
    return sorted(values, key=_sort_key, reverse=reverse)


op("dict", "len")(len)
op("dict", "keys", "list")(lambda mapping: list(mapping))
op("dict", "values")(lambda mapping: list(mapping.values()))
op("dict", "items")(lambda mapping: list(mapping.items()))
op("dict", "get")(lambda mapping, key, default=None: mapping.get(key, default))
op("dict", "setdefault")(dict.setdefault)
op("dict", "popitem")(lambda mapping: mapping.popitem())
op("dict", "clear")(dict.clear)
op("dict", "copy", "dict")(dict.copy)
op("dict", "update")(dict.update)
op("dict", "__contains__")(operator.contains)
op("dict", "Delete", "__delitem__")(operator.delitem)
op("dict", "__getitem__")(operator.getitem)
op("dict", "eq")(operator.eq)
op("dict", "ne")(operator.ne)
op("list", "dict")(dict)


@op("dict", "pop")
def _dict_pop(mapping: dict[Any, Any], key: Any, *default: Any) -> Any:
    if key not in mapping and not default:
        raise RuntimeError(f"KeyError: {to_text(key)}")
    return mapping.pop(key, *default)


@op("dict", "_set_item")
def _set_dict_item(mapping: dict[Any, Any], key: Any, value: Any) -> None:
    mapping[key] = value


op("tuple", "len")(len)
op("tuple", "eq")(operator.eq)
op("tuple", "ne")(operator.ne)
op("tuple", "lt")(operator.lt)
op("tuple", "__getitem__")(operator.getitem)
op("tuple", "add")(operator.add)


@op("tuple", "slice")
def _tuple_slice(values: tuple[Any, ...], start: int | None = None, end: int | None = None) -> tuple[Any, ...]:
    return values[slice(start, end)]


op("any", "eq")(operator.eq)
op("any", "ne")(operator.ne)


def any_value(function: Any, *names: str) -> None:
    """Registers an op that takes a value of any kind, a tensor too."""
    for kind in ("any", "number", "str", "list", "dict", "tuple", "tensor"):
        op(kind, *names)(function)


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
    return value.value if isinstance(value, Future) else value


any_value(_unwrap, "_unwrap_optional", "prim.unchecked_unwrap_optional")
any_value(lambda value: value, "prim.unchecked_cast", "prim.annotate")
any_value(_wait, "wait")


def _enum_name(value: Enumerator) -> str:
    return value.name


def _enum_value(value: Enumerator) -> Any:
    return value.value


op("any", "prim.EnumName")(_enum_name)
op("any", "prim.EnumValue")(_enum_value)
op("number", "prim.rangelist")(lambda count: list(range(count)))


op("any", "prim.type")(lambda device: device.type)
op("any", "prim.index")(lambda device: device.index)
op("str", "prim.type")(lambda device: device)
