"""The schema of a scripted function, from its annotations or type comments: a parameter without one is a tensor."""

from __future__ import annotations

import ast
import collections.abc
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from ..core.device import device
from ..core.dtypes import dtype
from ..core.tensor import Tensor
from ..library.operator_schema import REQUIRED, Schema, SchemaArgument, SchemaType

_NAMES: dict[Any, str] = {
    Tensor: "Tensor",
    int: "int",
    float: "float",
    bool: "bool",
    str: "str",
    complex: "complex",
    device: "Device",
    dtype: "ScalarType",
}
_LISTS = list, collections.abc.Sequence
_UNIONS = typing.Union, types.UnionType


def schema_of(function: Callable[..., Any], definition: ast.FunctionDef) -> Schema:
    """The types, names and defaults of a function's parameters; its type comments win, as in PyTorch.

    RuntimeError for a comment that has another number of types than there are parameters, or an unknown type.
    """
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # a string that isn't a type in this scope
        hints = {}
    hints |= _comments(function, definition)
    arguments = []
    for parameter in inspect.signature(function).parameters.values():
        default = REQUIRED if parameter.default is parameter.empty else parameter.default
        kind = type_of(hints.get(parameter.name, Tensor))
        arguments.append(SchemaArgument(parameter.name, kind, default, parameter.kind is parameter.KEYWORD_ONLY))
    returned = type_of(hints.get("return", Tensor))
    return Schema("", function.__name__, "", tuple(arguments), ((returned, ""),))


def _comments(function: Callable[..., Any], definition: ast.FunctionDef) -> dict[str, Any]:
    """The types that comments give to parameters (`x,  # type: Tensor`) and to the whole (`# type: (int) -> int`)."""
    given = definition.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    found = {each.arg: each.type_comment for each in parameters if each.type_comment}
    signature = (definition.type_comment or "").strip()
    if signature and "->" not in signature:
        signature += " -> Tensor"  # PyTorch infers it
    if signature:
        whole = ast.parse(signature, mode="func_type")
        types = [] if signature.startswith("(...)") else [ast.unparse(each) for each in whole.argtypes]
        if types and len(types) != len(parameters):
            raise RuntimeError(
                f"Number of type annotations ({len(types)}) did not match the number of function parameters "
                f"({len(parameters)}):\n  # type: {definition.type_comment}"
            )
        found |= dict(zip([each.arg for each in parameters], types, strict=False))
        found["return"] = ast.unparse(whole.returns)
    names = {**_TYPING, **getattr(inspect.unwrap(function), "__globals__", {})}
    return {name: _named(text, names) for name, text in found.items()}


_TYPING = {"Tensor": Tensor, **{name: getattr(typing, name) for name in ("Any", "Dict", "List", "Optional", "Tuple")}}
"""What comments may name without an import."""


def _named(text: str, names: dict[str, Any]) -> Any:
    try:
        return eval(text, names)  # as typing.get_type_hints does with annotations that are strings
    except NameError as error:
        raise RuntimeError(f"Unknown type name '{error.name}':\n# type: {text}") from error


def type_of(annotation: Any) -> SchemaType:
    """The type that an annotation names; "Any" for one that schemas have no type for."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in _NAMES:
        name = _NAMES[annotation]
        return SchemaType(name, (), "int" if name == "ScalarType" else name)
    if annotation is None or annotation is type(None):
        return SchemaType("Any", (), "NoneType")
    if origin in _UNIONS and len(inner) == 2 and type(None) in inner:
        (kind,) = (each for each in inner if each is not type(None))
        found = type_of(kind)
        return found if found.name == "Any" else SchemaType(found.name, (*found.suffixes, "?"), f"{found.text}?")
    if origin in _LISTS and len(inner) == 1:
        found = type_of(inner[0])
        if found.name in _NAMES.values():
            return SchemaType(found.name, (*found.suffixes, "[]"), f"{found.text}[]")
    if origin is tuple:
        return SchemaType("Tuple", (), f"({', '.join(type_of(each).text for each in inner)})")
    if origin is dict and len(inner) == 2:
        return SchemaType("Dict", (), f"Dict({', '.join(type_of(each).text for each in inner)})")
    return SchemaType("Any", (), getattr(annotation, "__name__", str(annotation)))
