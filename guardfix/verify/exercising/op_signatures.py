"""What an op or a function takes: from schemas, from what pybind11 writes into docstrings, from annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ArgumentType:
    """A type as schemas have it: `Tensor`, `int`, `float`, `bool`, `str`, `Scalar`, …; for a list, its elements'."""

    name: str
    is_list: bool = False
    length: int | None = None
    """Of a list whose length is part of its type."""
    optional: bool = False

    @property
    def is_tensor(self) -> bool:
        return self.name == "Tensor"


@dataclass(frozen=True)
class OpArgument:
    name: str
    type: ArgumentType
    required: bool = True
    keyword_only: bool = False


@dataclass(frozen=True)
class CallableOp:
    """Something to call: an op, a bound function, an autograd Function."""

    name: str
    call: str
    """The expression that is called."""
    shown: str
    """Name and arguments, as the project's author would write them."""
    arguments: tuple[OpArgument, ...]


class NotUnderstood(Exception):
    """A signature from which no arguments can be made; the message says why."""


_SCHEMA_NAMES = {
    "SymInt": "int",
    "SymFloat": "float",
    "SymBool": "bool",
    "number": "Scalar",
    "complex": "Scalar",
}
_KNOWN = frozenset(
    {"Tensor", "int", "float", "bool", "str", "Scalar", "ScalarType", "Device", "Layout", "MemoryFormat"}
)
_IN_PYTHON = {
    "torch.Tensor": "Tensor",
    "Tensor": "Tensor",
    "int": "int",
    "typing.SupportsInt": "int",
    "SupportsInt": "int",
    "typing.SupportsIndex": "int",
    "SupportsIndex": "int",
    "float": "float",
    "typing.SupportsFloat": "float",
    "SupportsFloat": "float",
    "bool": "bool",
    "str": "str",
    "Number": "Scalar",
    "complex": "Scalar",
    "torch.dtype": "ScalarType",
    "torch.device": "Device",
}
_LISTS = re.compile(r"(?:typing\.|collections\.abc\.)?(?:List|list|Sequence|Tuple|tuple)$")


def type_of_schema(text: str) -> ArgumentType:
    """The type that a schema spells so. Raises `NotUnderstood`."""
    plain = re.sub(r"\([^()]*\)", "", text) if text.startswith("Tensor") else text
    found = re.fullmatch(r"(\w+)(\?)?(?:\[(\d*)\](\?)?)?(\?)?", plain)
    name = _SCHEMA_NAMES.get(found[1], found[1]) if found else ""
    if found is None or name not in _KNOWN | {"Generator"}:
        raise NotUnderstood(f"it takes {text}")
    is_list = found[3] is not None
    optional = bool(found[4] or found[5]) if is_list else bool(found[2] or found[5])
    if name == "Generator":
        if not optional:
            raise NotUnderstood(f"it takes {text}")
        return ArgumentType("None", optional=True)
    return ArgumentType(name, is_list, int(found[3]) if found[3] else None, optional)


def type_of_annotation(text: str) -> ArgumentType:
    """The type that Python, or pybind11, spells so. Raises `NotUnderstood`."""
    text = text.strip()
    parts = [part.strip() for part in _split(text, "|")]
    if len(parts) > 1:
        return _one_of(parts, text)
    head, bracket, rest = text.partition("[")
    if bracket and rest.endswith("]"):
        inner = [part.strip() for part in _split(rest[:-1], ",")]
        if head.rpartition(".")[2] == "Optional":
            return _made_optional(type_of_annotation(inner[0]))
        if head.rpartition(".")[2] == "Annotated":
            return type_of_annotation(inner[0])
        if head.rpartition(".")[2] == "Union":
            return _one_of(inner, text)
        if _LISTS.match(head):
            element = type_of_annotation(inner[0])
            if not element.is_list:
                length = len(inner) if head.rpartition(".")[2] in ("Tuple", "tuple") and "..." not in inner else None
                return ArgumentType(element.name, True, length)
    if text in _IN_PYTHON:
        return ArgumentType(_IN_PYTHON[text])
    raise NotUnderstood(f"it takes {text or 'something without an annotation'}")


def _one_of(parts: list[str], text: str) -> ArgumentType:
    kinds = []
    for part in parts:
        if part != "None":
            try:
                kinds.append(type_of_annotation(part))
            except NotUnderstood:
                continue
    if not kinds:
        raise NotUnderstood(f"it takes {text}")
    # A number is given where a tensor may be as well.
    return _made_optional(kinds[0]) if "None" in parts else kinds[0]


def _made_optional(kind: ArgumentType) -> ArgumentType:
    return ArgumentType(kind.name, kind.is_list, kind.length, True)


def _split(text: str, mark: str) -> Iterator[str]:
    """The parts between marks that are outside of brackets."""
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character in "[(") - (character in "])")
        if character == mark and depth == 0:
            yield text[start:position]
            start = position + 1
    yield text[start:]


def callable_op(described: Mapping[str, Any]) -> CallableOp:
    """What the server of libraries says of an op or function. Raises `NotUnderstood`."""
    name, call = described["name"], described["call"]
    if described["kind"] == "binding":
        shown, arguments = _of_binding(described["signature"], name)
        return CallableOp(name, call, shown, arguments)
    read = type_of_schema if described["kind"] == "op" else type_of_annotation
    arguments = tuple(
        OpArgument(one["name"], _leniently(read, one), one["required"], one["keyword_only"])
        for one in described["arguments"]
    )
    shown = described.get("signature") or f"{name}({', '.join(argument.name for argument in arguments)})"
    return CallableOp(name, call, shown, arguments)


def _leniently(read: Any, one: Mapping[str, Any]) -> ArgumentType:
    """An argument of a type that is not understood keeps its default, if it has one."""
    try:
        kind: ArgumentType = read(one["type"])
    except NotUnderstood:
        if one["required"]:
            raise
        return ArgumentType("default")
    return kind


def _of_binding(doc: str, name: str) -> tuple[str, tuple[OpArgument, ...]]:
    """The first line of what pybind11 writes: `f(arg0: torch.Tensor, n: int = 2) -> torch.Tensor`."""
    lines = [line.strip() for line in doc.splitlines() if line.strip()]
    if lines and lines[0].endswith("(*args, **kwargs)"):
        lines = [line.partition(". ")[2] for line in lines if re.match(r"\d+\. ", line)]
    line = lines[0] if lines else ""
    inside = re.match(r"[\w.]+\((.*)\)(?: -> .*)?$", line)
    if inside is None:
        raise NotUnderstood("its docstring has no signature")
    arguments = []
    for part in _split(inside[1], ","):
        part = part.strip()
        if not part or part in ("*", "/"):
            continue
        given, colon, annotation = part.partition(":")
        if not colon:
            raise NotUnderstood("its docstring has no types")
        annotation, equals, _ = annotation.partition(" = ")
        one = {"type": annotation, "required": not equals}
        arguments.append(OpArgument(given.strip(), _leniently(type_of_annotation, one), not equals))
    own = name.rpartition(".")[0]
    return f"{own}.{line}" if own else line, tuple(arguments)
