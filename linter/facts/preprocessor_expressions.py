"""The value of an `#if` condition, as the preprocessor computes it (C++23 [cpp.cond]).

A macro that nobody gave a value is unknown, and so is what depends on it: `X && 0` is false whatever X is, `X || 0` is
unknown. Numbers have 64 bits; one unsigned operand makes the other one unsigned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from typing import NamedTuple


class Number(NamedTuple):
    """A known operand."""

    value: int
    unsigned: bool = False


Operand = Number | None
"""None: unknown."""


class _NotAnExpression(Exception):
    """What stands there has no value: a mistake, or an extension of some compiler."""


_DEEPEST = 100
"""Levels of brackets, signs and `?:` that are read."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)"
    r"|(?P<character>(?:u8|[uUL])?'(?:[^'\\]|\\.)+')"
    r"|(?P<name>[A-Za-z_$][\w$]*)"
    r"|(?P<sign><=>|<<|>>|<=|>=|==|!=|&&|\|\||[^\s]))",
    re.DOTALL,
)
_NUMBER = re.compile(
    r"(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<binary>[01]+)|(?P<octal>0[0-7]*)|(?P<decimal>[1-9]\d*))"
    r"(?P<suffix>[uU]?(?:ll|LL|[lLzZ])?|(?:ll|LL|[lLzZ])[uU])"
)
_ALTERNATIVES = {
    "and": "&&", "or": "||", "not": "!", "bitand": "&", "bitor": "|", "xor": "^", "compl": "~", "not_eq": "!=",
}  # fmt: skip
_CONSTANTS = {"true": 1, "false": 0}


def value_of(
    condition: str,
    values: Mapping[str, int],
    defined: Container[str] = frozenset(),
    undefined: Container[str] = frozenset(),
) -> int | None:
    """The value of a condition without comments, where macros have these values; None when it has none that is known.

    A macro that is among the values counts as defined, as do those that are `defined` with a value that nobody knows.
    Those that are `undefined` are 0. Whether another one is defined is unknown.
    """
    try:
        result = _Reading(condition, values, defined, undefined).whole()
    except _NotAnExpression:
        return None
    return None if result is None else result.value


class _Reading:
    """One condition, read from left to right by the strength of its operators."""

    def __init__(
        self, condition: str, values: Mapping[str, int], defined: Container[str], undefined: Container[str]
    ) -> None:
        self._values, self._defined, self._undefined = values, defined, undefined
        self._tokens: list[tuple[str, str]] = []
        for match in _TOKEN.finditer(condition):
            kind, text = match.lastgroup or "", match[match.lastgroup or 0]
            if kind == "name" and text in _ALTERNATIVES:
                kind, text = "sign", _ALTERNATIVES[text]
            self._tokens.append((kind, text))
        self._place = 0
        self._depth = 0

    def whole(self) -> Operand:
        result = self._conditional()
        if self._place < len(self._tokens):
            raise _NotAnExpression
        return result

    def _next(self) -> tuple[str, str]:
        if self._place == len(self._tokens):
            raise _NotAnExpression
        self._place += 1
        return self._tokens[self._place - 1]

    def _sign(self) -> str:
        """The operator or bracket that comes next; empty when none does."""
        kind, text = self._tokens[self._place] if self._place < len(self._tokens) else ("", "")
        return text if kind == "sign" else ""

    def _expect(self, sign: str) -> None:
        if self._next() != ("sign", sign):
            raise _NotAnExpression

    def _conditional(self) -> Operand:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _NotAnExpression
        result = self._binary(1)
        if self._sign() == "?":
            self._next()
            then = self._conditional()
            self._expect(":")
            otherwise = self._conditional()
            if result is not None:
                result = then if result.value else otherwise
            elif then == otherwise:
                result = then
        self._depth -= 1
        return result

    def _binary(self, weakest: int) -> Operand:
        left = self._unary()
        while (strength := _STRENGTH.get(self._sign(), 0)) >= weakest:
            sign = self._next()[1]
            left = _applied(sign, left, self._binary(strength + 1))
        return left

    def _unary(self) -> Operand:
        signs = []
        while self._sign() in ("!", "-", "+", "~"):
            signs.append(self._next()[1])
        result = self._primary()
        for sign in reversed(signs):
            if result is None:
                return None
            result = _UNARY[sign](result)
        return result

    def _primary(self) -> Operand:
        kind, text = self._next()
        if kind == "number":
            return _number(text)
        if kind == "character":
            return None  # conditions are read where what stands in quotes is blanked
        if kind == "name":
            return self._named(text)
        if text != "(":
            raise _NotAnExpression
        result = self._conditional()
        self._expect(")")
        return result

    def _named(self, name: str) -> Operand:
        if name == "defined":
            bracket = self._sign() == "("
            if bracket:
                self._next()
            kind, asked = self._next()
            if kind != "name":
                raise _NotAnExpression
            if bracket:
                self._expect(")")
            if asked in self._undefined:
                return Number(0)
            return Number(1) if asked in self._values or asked in self._defined else None
        if self._sign() == "(":  # a macro with arguments, `__has_include(<x>)`
            self._skip_brackets()
            return None
        known = 0 if name in self._undefined else self._values.get(name, _CONSTANTS.get(name))
        return None if known is None else Number(known)

    def _skip_brackets(self) -> None:
        depth = 0
        while True:
            kind, text = self._next()
            depth += (kind == "sign") * ((text == "(") - (text == ")"))
            if depth == 0:
                return


def _number(text: str) -> Number:
    match = _NUMBER.fullmatch(text.replace("'", ""))
    if match is None:
        raise _NotAnExpression
    unsigned = "u" in match["suffix"].lower()
    for name, base in (("hex", 16), ("binary", 2), ("octal", 8), ("decimal", 10)):
        digits = match[name]
        if digits is not None:
            if len(digits) > 70:  # more than 64 bits in any base
                raise _NotAnExpression
            value = int(digits, base)
            # Only a decimal number without `u` keeps its sign whatever its size.
            return _wrapped(value, unsigned or (base != 10 and value >> 63 == 1))
    raise _NotAnExpression


def _wrapped(value: int, unsigned: bool) -> Number:
    value &= (1 << 64) - 1
    return Number(value if unsigned or value < 1 << 63 else value - (1 << 64), unsigned)


def _quotient(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_UNARY: dict[str, Callable[[Number], Number]] = {
    "!": lambda operand: Number(int(not operand.value)),
    "-": lambda operand: _wrapped(-operand.value, operand.unsigned),
    "+": lambda operand: operand,
    "~": lambda operand: _wrapped(~operand.value, operand.unsigned),
}
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "&": lambda left, right: left & right,
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _quotient,
    "%": lambda left, right: left - right * _quotient(left, right),
}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "<=": lambda left, right: left <= right,
    ">=": lambda left, right: left >= right,
}
_STRENGTH = {
    sign: strength
    for strength, signs in enumerate("|| && | ^ & ==,!= <,>,<=,>= <<,>> +,- *,/,%".split(), 1)
    for sign in signs.split(",")
}


def _applied(sign: str, left: Operand, right: Operand) -> Operand:
    if sign in ("&&", "||"):
        decides = sign == "||"
        if any(operand is not None and bool(operand.value) is decides for operand in (left, right)):
            return Number(int(decides))
        return None if left is None or right is None else Number(int(not decides))
    if left is None or right is None:
        return None
    if sign in ("<<", ">>"):
        if not 0 <= right.value < 64:
            raise _NotAnExpression
        shifted = left.value << right.value if sign == "<<" else left.value >> right.value
        return _wrapped(shifted, left.unsigned)
    unsigned = left.unsigned or right.unsigned
    a, b = _wrapped(left.value, unsigned).value, _wrapped(right.value, unsigned).value
    if sign in _COMPARISONS:
        return Number(int(_COMPARISONS[sign](a, b)))
    if sign in ("/", "%") and b == 0:
        raise _NotAnExpression
    return _wrapped(_ARITHMETIC[sign](a, b), unsigned)
