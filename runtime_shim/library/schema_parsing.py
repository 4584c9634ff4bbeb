"""Texts of schemas -> `Schema`, by PyTorch's grammar: function_schema_parser.cpp and schema_type_parser.cpp of 2.13."""

from __future__ import annotations

import re
from typing import Any

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

    def default(self, kind: SchemaType) -> Any:
        if self.kind == "[":
            values: list[Any] = []
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
