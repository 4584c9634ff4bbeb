"""TorchScript's types: read from annotations, used to check what comes from Python and from archives."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .script_values import Enumerator, ForkedTask, ScriptObject

_INT64 = range(-(1 << 63), 1 << 63)
_CONTAINERS = {"List": 1, "Dict": 2, "Optional": 1, "Future": 1, "Final": 1, "Await": 1, "RRef": 1}
_VARIADIC = {"Tuple", "Union"}
_PLAIN = {
    "Tensor",
    "int",
    "float",
    "bool",
    "str",
    "complex",
    "number",
    "NoneType",
    "Device",
    "Any",
    "Generator",
    "Stream",
    "Capsule",
    "Layout",
    "ScalarType",
    "MemoryFormat",
    "AnyClassType",
    "AnyListType",
    "AnyTupleType",
    "AnyEnumType",
}


@dataclass(frozen=True)
class Type:
    """`Dict[str, Tensor]` is Type("Dict", (Type("str"), Type("Tensor"))); a class has its qualified name."""

    name: str
    args: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.args))}]" if self.args else self.name

    @property
    def is_class(self) -> bool:
        return self.name.startswith("__torch__")

    @property
    def schema(self) -> str:
        """As PyTorch writes it in schemas: `int?`, `Tensor[]`, `Dict(str, int)`."""
        args = [arg.schema for arg in self.args]
        if self.name == "Optional":
            return f"{args[0]}?"
        if self.name == "List":
            return f"{args[0]}[]"
        if self.name == "Tuple":
            return f"({', '.join(args)})"
        return f"{self.name}({', '.join(args)})" if args else self.name


class NotAType(ValueError):
    """An annotation that is not a TorchScript type."""


def dotted_name(node: ast.expr) -> str | None:
    """`a.b.c` for a chain of attributes on a name; None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def type_of_annotation(node: ast.expr | None, depth: int = 0) -> Type:
    """The type that an annotation names. Raises NotAType."""
    if node is None:
        return Type("Tensor")
    if depth > 50:
        raise NotAType("a type nested more than 50 deep")
    if isinstance(node, ast.Constant) and node.value is None:
        return Type("NoneType")
    if isinstance(node, ast.Subscript):
        name = dotted_name(node.value)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        args = tuple(type_of_annotation(item, depth + 1) for item in items)
        if name in _VARIADIC or (name in _CONTAINERS and len(args) == _CONTAINERS[name]):
            return Type(name, args)
    else:
        name = dotted_name(node)
        if name is not None and (name in _PLAIN or name in _VARIADIC or name.startswith("__torch__.")):
            return Type(name)
    raise NotAType(f"`{ast.unparse(node)}` is not a TorchScript type")


@dataclass(frozen=True)
class World:
    """What a check needs to know from outside: the backend's tensors and the archive's named tuples."""

    tensor: type
    named_tuples: Mapping[str, type] = field(default_factory=dict)


class Mismatch(Exception):
    """A value is not of the type that is declared for it."""


def convert(value: object, type_: Type, world: World) -> Any:
    """`value` as the interpreter holds a `type_`: containers copied, an int for a float widened. Raises Mismatch.

    As PyTorch's `toIValue` (`torch/csrc/jit/python/pybind_utils.cpp`).
    """
    name = type_.name
    if name == "Any" or (name not in _CHECKS and name not in _VARIADIC and name not in _CONTAINERS):
        if not type_.is_class:
            return value
        if _is_instance_of_class(value, type_.name):
            return value
        named = world.named_tuples.get(type_.name)
        if named is not None and isinstance(value, tuple):
            return _named_tuple(value, named, world)
        raise Mismatch
    if name in _CHECKS:
        if name == "Tensor":
            if isinstance(value, world.tensor):
                return value
            raise Mismatch
        return _CHECKS[name](value)
    if name in ("Optional", "Union"):
        if name == "Optional" and value is None:
            return None
        return _first_that_fits(value, type_.args, world)
    if name == "Final":
        return convert(value, type_.args[0], world)
    if name == "List" and isinstance(value, (list, tuple)):
        return [convert(item, type_.args[0], world) for item in value]
    if name == "Dict" and isinstance(value, dict):
        key_type, value_type = type_.args
        return {convert(key, key_type, world): convert(item, value_type, world) for key, item in value.items()}
    if name == "Tuple" and isinstance(value, tuple):
        if len(value) != len(type_.args):
            raise Mismatch
        items = [convert(item, arg, world) for item, arg in zip(value, type_.args, strict=True)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if name == "Future" and isinstance(value, ForkedTask):
        return value
    raise Mismatch


def _named_tuple(value: tuple[Any, ...], named: Any, world: World) -> Any:
    if len(value) != len(named._fields):
        raise Mismatch
    return named(*(convert(item, arg, world) for item, arg in zip(value, named.__field_types__, strict=True)))


def _first_that_fits(value: object, types: tuple[Type, ...], world: World) -> object:
    # An exact member first: 3 for Union[float, int] stays an int.
    for candidate in types:
        if has_type(value, candidate, world):
            return convert(value, candidate, world)
    for candidate in types:
        try:
            return convert(value, candidate, world)
        except Mismatch:
            continue
    raise Mismatch


def _int(value: object) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or (hasattr(value, "shape") and value.shape):
        if isinstance(value, bool):
            return int(value)
        raise Mismatch
    number = int(value.__index__())
    if number not in _INT64:
        raise Mismatch
    return number


def _float(value: Any) -> float:
    if isinstance(value, (int, float)) or (hasattr(value, "dtype") and not hasattr(value, "is_leaf")):
        return float(value)
    raise Mismatch


def _complex(value: object) -> complex:
    if isinstance(value, (int, float, complex)):
        return complex(value)
    raise Mismatch


def _bool(value: object) -> bool:
    if isinstance(value, (bool, int)):
        return bool(value)
    raise Mismatch


def _str(value: object) -> str:
    if isinstance(value, str):
        return value
    raise Mismatch


def _number(value: object) -> object:
    if isinstance(value, (bool, int, float, complex)) or hasattr(value, "is_leaf"):
        return value
    raise Mismatch


def _none(value: object) -> None:
    if value is not None:
        raise Mismatch


def _device(value: object) -> object:
    if hasattr(value, "type") and hasattr(value, "index"):
        return value
    raise Mismatch


_CHECKS: dict[str, Any] = {
    "Tensor": None,
    "int": _int,
    "float": _float,
    "complex": _complex,
    "bool": _bool,
    "str": _str,
    "number": _number,
    "NoneType": _none,
    "Device": _device,
}


def _is_instance_of_class(value: object, qualified_name: str) -> bool:
    if isinstance(value, ScriptObject):
        return value.script_class.qualified_name == qualified_name or value.script_class.implements(qualified_name)
    if isinstance(value, Enumerator):
        return value.type == qualified_name
    return getattr(type(value), "__qualified_name__", None) == qualified_name


def has_type(value: object, type_: Type, world: World) -> bool:
    """`isinstance(value, T)` of TorchScript: exact, an int is not a float, a bool no int; List[int] looks inside."""
    name = type_.name
    if name in _EXACT:
        return type(value) is _EXACT[name] and (name != "int" or value in _INT64)
    if name == "Tensor":
        return isinstance(value, world.tensor)
    if name == "NoneType":
        return value is None
    if name == "Any":
        return True
    if name == "number":
        return type(value) in (int, float, complex)
    if name == "Device":
        return hasattr(value, "type") and hasattr(value, "index") and not isinstance(value, (list, str, tuple))
    if name in ("Optional", "Union"):
        if name == "Optional" and value is None:
            return True
        return any(has_type(value, arg, world) for arg in type_.args)
    if name == "List":
        return isinstance(value, list) and all(has_type(item, type_.args[0], world) for item in value)
    if name == "Dict":
        key_type, value_type = type_.args
        return isinstance(value, dict) and all(
            has_type(key, key_type, world) and has_type(item, value_type, world) for key, item in value.items()
        )
    if name == "Tuple":
        return (
            isinstance(value, tuple)
            and len(value) == len(type_.args)
            and all(has_type(item, arg, world) for item, arg in zip(value, type_.args, strict=True))
        )
    if name == "Future":
        return isinstance(value, ForkedTask)
    if type_.is_class:
        return _is_instance_of_class(value, name)
    return False


_EXACT: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str, "complex": complex}
_EXACT |= {"Layout": int, "ScalarType": int, "MemoryFormat": int}
