"""Schemas of custom ops, `name.overload(Tensor x, int n=2, *, str? mode=None) -> Tensor`, and calls made by them.

Grammar, checks and words are those of PyTorch 2.13: function_schema_parser.cpp and
schema_type_parser.cpp in torch/csrc/jit/frontend, createStackForSchema in torch/csrc/jit/python/pybind_utils.h, and
torch/csrc/utils/python_dispatch.cpp.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.device import device
from ..core.dtypes import dtype
from ..core.tensor import Tensor

# What a type is called in messages, where it is not called what it is in schemas.
_IN_PYTHON = {
    "SymInt": "int",
    "ScalarType": "int",
    "Layout": "int",
    "MemoryFormat": "int",
    "SymFloat": "float",
    "SymBool": "bool",
    "Scalar": "number",
}
_UNCASTABLE = (
    "Unable to cast Python instance of type {} to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in "
    "debug mode for details)"
)
REQUIRED: Any = object()


class CannotCast(Exception):
    """A value is not of the type that a schema gives it; the message is PyTorch's."""


@dataclass(frozen=True, slots=True)
class SchemaType:
    """A type of a schema: a name, and from the inside out `[]` or `[n]` and `?`. Printed with its alias set."""

    name: str
    suffixes: tuple[str, ...] = ()
    text: str = ""

    def __str__(self) -> str:
        return self.text

    @property
    def python(self) -> str:
        """The type as annotations of Python have it, which is how messages have it."""
        found = _IN_PYTHON.get(self.name, self.name)
        for suffix in self.suffixes:
            found = f"Optional[{found}]" if suffix == "?" else f"List[{found}]"
        return found

    def cast(self, value: object) -> Any:
        """`value` as a kernel gets it. CannotCast if it is of another type."""
        if not self.suffixes:
            return _cast(self.name, value)
        inner = SchemaType(self.name, self.suffixes[:-1])
        suffix = self.suffixes[-1]
        if suffix == "?":
            return None if value is None else inner.cast(value)
        if suffix != "[]" and isinstance(value, int | float):
            return [inner.cast(value)] * int(suffix[1:-1])
        if isinstance(value, Tensor) and inner.suffixes == ("?",):
            value = list(value)  # a Tensor is a sequence of tensors where holes are allowed
        if not isinstance(value, list | tuple) and not (inner.name == "str" and isinstance(value, str)):
            raise CannotCast(_UNCASTABLE.format(type(value)))
        if inner.name == "Tensor" and not inner.suffixes and not all(isinstance(v, Tensor) for v in value):
            raise CannotCast(_UNCASTABLE.format(type(value)))
        try:
            return [inner.cast(v) for v in value]
        except CannotCast:
            raise CannotCast(_UNCASTABLE.format(type(value))) from None


def _cast(name: str, value: object) -> Any:
    if name == "Tensor":
        if value is not None and not isinstance(value, Tensor):
            raise CannotCast(f"Unable to cast {value!s} to Tensor")
        return value
    if name == "Scalar":
        if isinstance(value, int | float | complex):
            return value
        raise CannotCast(f"Cannot cast {value!s} to number")
    if name in _CONTAINERS and not isinstance(value, _CONTAINERS[name]):
        raise CannotCast(_UNCASTABLE.format(type(value)))
    cast = _CASTS.get(name)
    try:
        return value if cast is None else cast(value)
    except (TypeError, ValueError, RuntimeError):  # the last: a tensor of several elements is not a number
        raise CannotCast(_UNCASTABLE.format(type(value))) from None


def _integer(value: object) -> int:
    if isinstance(value, Tensor):
        return int(value.item())
    return int(value.__index__()) if hasattr(value, "__index__") else _refuse()


def _float(value: object) -> float:
    return float(value.item() if isinstance(value, Tensor) else value) if hasattr(value, "__float__") else _refuse()


def _bool(value: object) -> bool:
    return bool(value) if value is None or hasattr(value, "__bool__") else _refuse()


def _string(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode()
    return value if isinstance(value, str) else _refuse()


def _dtype(value: object) -> dtype:
    return value if isinstance(value, dtype) else _refuse()


def _device(value: object) -> device:
    return device(value) if isinstance(value, str | device) else _refuse()


def _refuse() -> Any:
    raise TypeError


_CONTAINERS = {"Dict": dict, "Tuple": tuple}

_CASTS: dict[str, Any] = {
    "int": _integer,
    "SymInt": _integer,
    "float": _float,
    "SymFloat": _float,
    "bool": _bool,
    "SymBool": _bool,
    "str": _string,
    "ScalarType": _dtype,
    "Device": _device,
}


_EXACT: dict[str, type] = {"Tensor": Tensor, "int": int, "SymInt": int, "float": float, "bool": bool, "str": str}


@dataclass(frozen=True, slots=True)
class SchemaArgument:
    name: str
    type: SchemaType
    default: Any = REQUIRED
    keyword_only: bool = False

    @property
    def default_value(self) -> Any:
        return None if self.default is REQUIRED else self.default

    def has_default_value(self) -> bool:
        return self.default is not REQUIRED

    @property
    def kwarg_only(self) -> bool:
        return self.keyword_only

    def __str__(self) -> str:
        return f"{self.type} {self.name}" + (
            "" if self.default is REQUIRED else "=" + _literal(self.default, self.type)
        )


def _literal(value: Any, type: SchemaType) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "[" + ", ".join(_literal(v, type) for v in value) + "]"
    if type.name == "float" and value is not None:
        return repr(float(value)).removesuffix("0") if float(value).is_integer() else repr(float(value))
    return str(value)


@dataclass(frozen=True, slots=True)
class Schema:
    """A parsed schema; `namespace` and `overload` may be empty. `str()` prints it as PyTorch does."""

    namespace: str
    name: str
    overload: str
    arguments: tuple[SchemaArgument, ...]
    returns: tuple[tuple[SchemaType, str], ...]

    @property
    def written_returns(self) -> list[int]:
        """The places of results that are arguments which the op writes to."""
        return [i for i, (kind, _) in enumerate(self.returns) if "!" in kind.text]

    @property
    def qualified(self) -> str:
        return f"{self.namespace}::{self.name}" if self.namespace else self.name

    def __str__(self) -> str:
        shown: list[str] = []
        for argument in self.arguments:
            if argument.keyword_only and "*" not in shown:
                shown.append("*")
            shown.append(str(argument))
        returns = [f"{kind} {name}".rstrip() for kind, name in self.returns]
        found = returns[0] if len(returns) == 1 else f"({', '.join(returns)})"
        overload = f".{self.overload}" if self.overload else ""
        return f"{self.qualified}{overload}({', '.join(shown)}) -> {found}"

    __repr__ = __str__

    def plan(self) -> Callable[[tuple[Any, ...]], Sequence[Any] | None]:
        """A function that completes the arguments of a call by position with the defaults, when none needs converting.

        It gives None for every other call, which is for `bind`.
        """
        exact = [_EXACT.get(a.type.name) if a.type.suffixes in ((), ("?",)) else None for a in self.arguments]
        elements = [_EXACT.get(a.type.name) if a.type.suffixes == ("[]",) else None for a in self.arguments]
        optional = [a.type.suffixes == ("?",) for a in self.arguments]
        defaults = [a.default for a in self.arguments]
        positional = sum(not a.keyword_only for a in self.arguments)
        required = max((i + 1 for i, default in enumerate(defaults) if default is REQUIRED), default=0)

        def filled(args: tuple[Any, ...]) -> Sequence[Any] | None:
            given = len(args)
            if not required <= given <= positional:
                return None
            for i in range(given):
                kind = type(args[i])
                if kind is exact[i] or (args[i] is None and optional[i]):
                    continue
                element = elements[i]
                if kind is not list or element is None:
                    return None
                for item in args[i]:
                    if type(item) is not element:
                        return None
            return args if given == len(defaults) else [*args, *defaults[given:]]

        return filled

    def bind(self, args: tuple[object, ...], kwargs: dict[str, object]) -> tuple[list[object], dict[str, object]]:
        """Check and convert a call. Kernels get no argument that equals its default and no positional one follows:
        they have defaults of their own. RuntimeError if the call does not fit.
        """
        given = len(args) + len(kwargs)
        if given > len(self.arguments):
            raise RuntimeError(
                f"{self.qualified}() expected at most {len(self.arguments)} argument(s) but received {given} "
                f"argument(s). Declaration: {self}"
            )
        positional = sum(not a.keyword_only for a in self.arguments)
        if len(args) > positional:
            raise RuntimeError(
                f"{self.qualified}() takes {positional} positional argument(s) but {len(args)} was/were given.  "
                f"Declaration: {self}"
            )
        values: list[object] = []
        keywords: dict[str, object] = {}
        used = 0
        last = 0  # positional arguments that must be passed
        for i, argument in enumerate(self.arguments):
            if i < len(args):
                value = self._cast(argument, i, args[i])
            elif argument.name in kwargs:
                used += 1
                value = self._cast(argument, i, kwargs[argument.name])
            elif argument.default is not REQUIRED:
                value = argument.default
            else:
                raise RuntimeError(
                    f"{self.qualified}() is missing value for argument '{argument.name}'. Declaration: {self}"
                )
            differs = argument.default is REQUIRED or not _equal(value, argument.default)
            if argument.keyword_only:
                if differs:
                    keywords[argument.name] = value
            else:
                values.append(value)
                if differs:
                    last = len(values)
        if used < len(kwargs):
            self._refuse_keywords(args, kwargs)
        return values[:last], keywords

    def complete(self, values: tuple[object, ...], keywords: dict[str, object]) -> Sequence[object]:
        """What `bind` gave, with the defaults that it left out: one value for each argument, in order."""
        if len(values) == len(self.arguments):
            return values
        return [
            keywords[argument.name] if argument.name in keywords else values[i] if i < len(values) else argument.default
            for i, argument in enumerate(self.arguments)
        ]

    def _cast(self, argument: SchemaArgument, position: int, value: object) -> Any:
        try:
            return argument.type.cast(value)
        except CannotCast as error:
            raise RuntimeError(
                f"{self.qualified}() Expected a value of type '{argument.type.python}' for argument "
                f"'{argument.name}' but instead found type '{type(value).__name__}'.\nPosition: {position}\n"
                f"Value: {value!r}\nDeclaration: {self}\nCast error details: {error}"
            ) from None

    def _refuse_keywords(self, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        names = [a.name for a in self.arguments]
        for name in kwargs:
            if name not in names:
                raise RuntimeError(f"Unknown keyword argument '{name}' for operator '{self.qualified}'. Schema: {self}")
        for name in names[: len(args)]:
            if name in kwargs:
                raise RuntimeError(
                    f"Argument '{name}' specified both as positional and keyword argument. Schema: {self}"
                )

    def returned(self, value: object) -> Any:
        """Check and convert what a kernel returned. RuntimeError or TypeError if it is of another type."""
        if not self.returns:
            if value is not None:
                raise RuntimeError(
                    f"Expected PythonKernelHolder for {self.qualified} to return None but it returned something else "
                    "instead."
                )
            return None
        try:
            if len(self.returns) == 1:
                return self.returns[0][0].cast(value)
            if not isinstance(value, list | tuple):
                raise TypeError(f"Object of type '{type(value).__name__}' is not an instance of 'sequence'")
            found = tuple(kind.cast(v) for (kind, _), v in zip(self.returns, value, strict=False))
            return found[0] if len(found) == 1 else found
        except CannotCast as error:
            raise RuntimeError(str(error)) from None


def _equal(value: object, default: object) -> bool:
    return type(value) is type(default) and bool(value == default)


# -- parsing


Tag = enum.Enum(
    "Tag",
    "core cudagraph_unsafe data_dependent_output dynamic_output_shape flexible_layout generated inplace inplace_view "
    "maybe_aliasing_or_mutating needs_contiguous_strides needs_exact_strides needs_fixed_stride_order "
    "nondeterministic_bitwise nondeterministic_seeded out out_variant pointwise pt2_compliant_tag reduction view_copy",
    module="torch._C",
    start=0,
)
