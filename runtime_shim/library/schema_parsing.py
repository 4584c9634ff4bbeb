"""Schemas from texts and from the annotations of functions.

Source of the behaviour and of the words: torch/_library/infer_schema.py of 2.13.
"""

from __future__ import annotations

import collections.abc
import inspect
import re
import typing
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from ..core.device import device
from ..core.dtypes import dtype
from ..core.function_table import AnyFunction
from ..core.tensor import Tensor
from .operator_schema import _IN_PYTHON, REQUIRED, Schema, SchemaArgument, SchemaType

_TYPES = frozenset("Tensor int float bool str complex Device Generator Any Dimname Storage Stream QScheme".split())
_UNKNOWN_TYPE = (
    "unknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar; for a full "
    "list, please see https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func :"
)

_TOKEN = re.compile(
    r"\s*(?:(?P<ident>[A-Za-z_]\w*)|(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?j?)"
    r"|(?P<string>'[^']*'|\"[^\"]*\")|(?P<mark>->|::|\.\.\.|[\[\](){},=*?!.:|\-]))"
)
_WORDS = {"True": True, "False": False, "None": None}


def _name_of(kind: str, token: str) -> str:
    return ("arrow" if token == "->" else token) if kind == "mark" else kind


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        place = 0
        while text[place:].strip():
            found = _TOKEN.match(text, place)
            if found is None:
                raise RuntimeError(f"unexpected character in an op's schema:\n{text}")
            kind = str(found.lastgroup)
            token = found[kind]
            self.tokens.append((_name_of(kind, token), token, found.start(kind)))
            place = found.end()
        self.tokens.append(("eof", "", len(text)))
        self.place = 0

    @property
    def kind(self) -> str:
        return self.tokens[self.place][0]

    def next(self) -> str:
        self.place += 1
        return self.tokens[self.place - 1][1]

    def marked(self) -> str:
        """The schema, with the current token underlined."""
        _, token, column = self.tokens[self.place]
        return self.text + (f"\n{' ' * column}{'~' * len(token)} <--- HERE\n" if token else "")

    def expect(self, kind: str) -> str:
        if self.kind != kind:
            raise RuntimeError(f"expected {kind} but found '{self.kind}' here:\n{self.marked()}")
        return self.next()

    def take(self, kind: str) -> bool:
        if self.kind != kind:
            return False
        self.place += 1
        return True

    def schema(self) -> Schema:
        namespace, name, overload = "", self.expect("ident"), ""
        if self.take("::"):
            namespace, name = name, self.expect("ident")
        if self.take("."):
            overload = self.expect("ident")
        if self.kind == "eof":
            raise RuntimeError("Tried to parse a function schema but only the operator name was given")
        if self.kind != "(":
            self.expect("eof")
        arguments = self.arguments()
        self.expect("arrow")
        returns: list[tuple[SchemaType, str]] = []
        if self.take("("):
            while self.kind != ")":
                returns.append((self.type(), self.next() if self.kind == "ident" else ""))
                if not self.take(","):
                    break
            self.expect(")")
        else:
            returns.append((self.type(), self.next() if self.kind == "ident" else ""))
        self.expect("eof")
        return Schema(namespace, name, overload, arguments, tuple(returns))

    def arguments(self) -> tuple[SchemaArgument, ...]:
        self.expect("(")
        found: list[SchemaArgument] = []
        keyword_only = False
        while self.kind != ")" or found:
            if self.take("*"):
                keyword_only = True
            else:
                found.append(self.argument(keyword_only))
                self.in_order(found)
            if not self.take(","):
                break
        self.expect(")")
        return tuple(found)

    def argument(self, keyword_only: bool) -> SchemaArgument:
        kind = self.type()
        name = self.expect("ident")
        return SchemaArgument(name, kind, self.default(kind) if self.take("=") else REQUIRED, keyword_only)

    def in_order(self, found: list[SchemaArgument]) -> None:
        last = found[-1]
        is_list = last.type.suffixes[-1:] not in ((), ("?",))  # PyTorch lets these pass
        if last.default is REQUIRED and not last.keyword_only and not is_list:
            for earlier in found:
                if earlier.default is not REQUIRED:
                    raise RuntimeError(
                        "!seen_default_arg || arg.kwarg_only() INTERNAL ASSERT FAILED: Non-default positional "
                        f"argument follows default argument. Parameter {last.name} in {self.text}"
                    )

    def compound(self) -> tuple[str, str]:
        """Name and text of a dictionary, a tuple or a class: what has no suffixes yet."""
        if self.kind == "(":
            self.next()
            inner = [self.type()]
            while self.take(","):
                inner.append(self.type())
            self.expect(")")
            return "Tuple", f"({', '.join(map(str, inner))})"
        name = self.next()
        if name == "Dict":
            self.expect("(")
            key = self.type()
            self.expect(",")
            value = self.type()
            self.expect(")")
            return name, f"Dict({key}, {value})"
        text = name
        while self.take("."):
            text += "." + self.expect("ident")
        return name, text

    def type(self) -> SchemaType:
        name = self.tokens[self.place][1]
        if self.kind == "(" or name in ("Dict", "__torch__"):
            name, text = self.compound()
            return self.suffixed(name, text)
        if self.kind == "ident" and name not in _TYPES and name not in _IN_PYTHON:
            raise RuntimeError(f"\n{_UNKNOWN_TYPE}\n{self.marked()}")
        return self.suffixed(name, self.expect("ident"))

    def suffixed(self, name: str, text: str) -> SchemaType:
        suffixes: list[str] = []
        while True:
            if self.take("["):
                suffix = "[" + (self.next() if self.kind == "number" else "") + "]"
                self.expect("]")
            elif self.take("?"):
                suffix = "?"
            elif self.kind == "(" and name == "Tensor":  # an alias set
                while not self.take(")"):
                    text += " -> " if self.take("arrow") else self.next()
                text += ")"
                continue
            else:
                return SchemaType(name, tuple(suffixes), text)
            suffixes.append(suffix)
            text += suffix

    def default(self, kind: SchemaType) -> object:
        if self.kind == "[":
            values: list[object] = []
            if kind.name not in ("int", "SymInt", "float", "complex", "bool"):
                raise RuntimeError(f"\nlists are only supported for float, int and complex types:\n{self.marked()}")
            self.next()
            while self.kind != "]":
                values.append(self.default(kind))
                if not self.take(","):
                    break
            self.expect("]")
            return values
        if self.kind == "ident":
            word = self.next()
            return _WORDS.get(word, word)
        if self.kind == "string":
            return self.next()[1:-1]
        negative = self.take("-")
        text = self.expect("number")
        number = float(text) if kind.name == "float" or not text.lstrip("-").isdigit() else int(text)
        return -number if negative else number


def parse(text: str) -> Schema:
    """RuntimeError, which says where, if `text` is not a schema."""
    return _Parser(text).schema()


_NUMBER: Any = int | float | bool


def _lists_of(kind: Any) -> tuple[Any, ...]:
    return (
        typing.Sequence[kind],
        typing.List[kind],  # noqa: UP006
        collections.abc.Sequence[kind],
        list[kind],
    )


def _parameter_types() -> dict[object, str]:
    found: dict[object, str] = {}
    for kind, name in ((Tensor, "Tensor"), (int, "SymInt"), (float, "float"), (bool, "bool"), (str, "str"),
                       (_NUMBER, "Scalar"), (dtype, "ScalarType"), (device, "Device")):  # fmt: skip
        found[kind] = name
        found[kind | None] = f"{name}?"
        if name in ("Tensor", "SymInt", "float", "bool", "Scalar"):
            found |= dict.fromkeys(_lists_of(kind), f"{name}[]")
        if name == "Tensor":
            found |= dict.fromkeys(_lists_of(kind | None), "Tensor?[]")
        elif name in ("SymInt", "float", "bool"):
            found |= dict.fromkeys((many | None if isinstance(many, type) else typing.Optional[many]  # noqa: UP045
                                    for many in _lists_of(kind)), f"{name}[]?")  # fmt: skip
    return found


PARAMETER_TYPES = _parameter_types()
RETURN_TYPES: dict[Any, str] = {
    Tensor: "Tensor",
    typing.List[Tensor]: "Tensor[]",  # noqa: UP006
    list[Tensor]: "Tensor[]",
    int: "SymInt",
    float: "float",
    bool: "bool",
    _NUMBER: "Scalar",
}


#: The names that PyTorch's own module has for them.
SUPPORTED_PARAM_TYPES, SUPPORTED_RETURN_TYPES = PARAMETER_TYPES, RETURN_TYPES


def infer_schema(
    prototype_function: Callable[..., object], /, *, mutates_args: object, op_name: str | None = None
) -> str:
    """The schema that the annotations of a function say, `(Tensor x, SymInt n=2) -> Tensor`.

    `mutates_args` names the parameters that are written to, or is "unknown": then all tensors are. ValueError if a
    parameter has no annotation, or one that schemas have no type for.
    """
    return _Inference(prototype_function, mutates_args).schema(op_name)


class _Inference:
    def __init__(self, function: AnyFunction, mutates: Any) -> None:
        self.function = function
        self.signature = inspect.signature(function)
        if isinstance(mutates, str) and mutates != "unknown":
            raise ValueError(
                "mutates_args must either be a sequence of the names of the arguments that are mutated or the string "
                "'unknown'. "
            )
        self.unknown = isinstance(mutates, str)
        self.mutates: tuple[str, ...] = () if self.unknown else tuple(mutates)

    def fail(self, what: str) -> NoReturn:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {self.signature})")

    def schema(self, name: str | None) -> str:
        shown: list[str] = []
        for place, parameter in enumerate(self.signature.parameters.values()):
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                self.fail("We do not support positional-only args, varargs, or varkwargs.")
            if parameter.kind == parameter.KEYWORD_ONLY and "*" not in shown:
                shown.append("*")
            shown.append(self.parameter(place, parameter))
        missing = set(self.mutates) - set(self.signature.parameters)
        if missing:
            self.fail(
                f"{missing} in mutates_args were not found in the custom op's signature. mutates_args should contain "
                "the names of all args that the custom op mutates, or just the string 'unknown' if you don't know."
            )
        return f"{name or ''}({', '.join(shown)}) -> {self.returned()}"

    def evaluated(self, annotation: object) -> object:
        """What an annotation that is a string names."""
        if isinstance(annotation, str):
            try:
                return eval(annotation, self.function.__globals__)
            except Exception as error:
                self.fail(
                    f"Unsupported type annotation {annotation}. It is not a type. ({type(error).__name__}: {error})"
                )
        return annotation

    def parameter(self, place: int, parameter: inspect.Parameter) -> str:
        name = parameter.name
        if parameter.annotation is parameter.empty:
            self.fail(f"Parameter {name} must have a type annotation.")
        kind = self.evaluated(parameter.annotation)
        found = PARAMETER_TYPES.get(kind)
        if found is None:
            self.refuse(name, parameter.annotation, kind)
        if name in self.mutates and not found.startswith("Tensor"):
            self.fail(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
        if found.startswith("Tensor") and (self.unknown or name in self.mutates):
            found = f"Tensor(a{place}!){found[len('Tensor') :]}"
        default = parameter.default
        if default is parameter.empty:
            return f"{found} {name}"
        if default is None or isinstance(default, int | float):
            text = str(default)
        elif isinstance(default, str | device):
            text = f'"{default}"'
        elif isinstance(default, dtype):
            text = default.name
        else:
            self.fail(
                f"Parameter {name} has an unsupported default value type {type(default)}. Please file an issue on "
                "GitHub so we can prioritize this."
            )
        return f"{found} {name}={text}"

    def refuse(self, name: str, annotation: object, kind: object) -> NoReturn:
        hint = ""
        if typing.get_origin(kind) is tuple:
            elements = {e for e in typing.get_args(kind) if e is not Ellipsis}
            as_list = list[elements.pop()] if len(elements) == 1 else None  # type: ignore[misc]
            example = f"For example, {as_list}." if as_list in PARAMETER_TYPES else ""
            hint = (
                "We do not support Tuple inputs in schema. As a workaround, please try to use List instead. "
                f"{example}\n\n"
            )
        self.fail(
            f"Parameter {name} has unsupported type {annotation}. {hint}The valid types are: {PARAMETER_TYPES.keys()}."
        )

    def returned(self) -> str:
        annotation = self.evaluated(self.signature.return_annotation)
        if annotation is inspect.Parameter.empty:
            self.fail("No return type annotation was provided. Please add one.")
        if annotation is None:
            return "()"
        if typing.get_origin(annotation) is not tuple:
            return self.one_of(annotation, annotation)
        found = [self.one_of(each, annotation) for each in typing.get_args(annotation)]
        return found[0] if len(found) == 1 else f"({', '.join(found)})"

    def one_of(self, kind: object, annotation: object) -> str:
        if kind not in RETURN_TYPES:
            self.fail(f"Return has unsupported type {annotation}. The valid types are: {RETURN_TYPES}.")
        return RETURN_TYPES[kind]


def written_names(arguments: Iterable[Any]) -> set[str]:
    """The arguments of a schema that it says are written to."""
    return {a.name for a in arguments if "!" in a.type.text}
