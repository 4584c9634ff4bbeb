"""The value of an `#if` condition, as the preprocessor computes it (C++23 [cpp.cond]).

A macro without a known value is unknown, and so is what depends on it: `X && 0` is false whatever X is, `X || 0` is
unknown. Numbers have 64 bits; one unsigned operand makes the other one unsigned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping

from ..lazy_regex import lazy_regex
from ..named_tuples import NamedTuple


class Number(NamedTuple):
    """A known operand."""

    value: int
    unsigned: bool = False


Operand = Number | None
"""None: unknown."""


class _NotAnExpression(Exception):
    """What is there has no value: a mistake, or an extension of some compiler."""


_TOKEN = lazy_regex(
    r"\s*(?:(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)"
    r"|(?P<character>(?:u8|[uUL])?'(?:[^'\\]|\\.)+')(?!\w)"
    r"|(?P<name>[A-Za-z_$][\w$]*)"
    r"|(?P<sign><=>|<<|>>|<=|>=|==|!=|&&|\|\||[^\s]))",
    re.DOTALL,
)
_NUMBER = lazy_regex(
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

    A macro that is among the values counts as defined, as do those that are `defined` with an unknown value.
    Those that are `undefined` are 0. Whether another one is defined is unknown.
    """
    try:
        found = [
            _Reading(condition, values, defined, undefined, signed).whole()
            for signed in ((True, False) if _EITHER_SIGN.search(condition) else (True,))
        ]
    except _NotAnExpression:
        return None
    return None if found[0] is None or found[-1] is None or found[0].value != found[-1].value else found[0].value


_EITHER_SIGN = lazy_regex(r"(?:\bL|\bu8)'")
"""Characters that are signed with some compilers."""


class _Reading:
    """One condition, read from left to right by the strength of its operators."""

    def __init__(
        self,
        condition: str,
        values: Mapping[str, int],
        defined: Container[str],
        undefined: Container[str],
        signed_characters: bool,
    ) -> None:
        self._values, self._defined, self._undefined = values, defined, undefined
        self._signed_characters = signed_characters
        self._tokens: list[tuple[str, str]] = []
        for match in _TOKEN.finditer(condition):
            kind, text = match.lastgroup or "", match[match.lastgroup or 0]
            if kind == "name" and text in _ALTERNATIVES:
                kind, text = "sign", _ALTERNATIVES[text]
            self._tokens.append((kind, text))
        self._place = 0
        self._operands: list[Operand] = []
        self._waiting: list[str] = []
        """Operators whose last operand is not read yet, and open brackets."""

    def whole(self) -> Operand:
        """Read with its own stack instead of recursion: brackets may be in each other as deep as they like."""
        while True:
            self._operand()
            while (sign := self._sign()) == ")":
                self._next()
                self._close("(")
            if self._place == len(self._tokens):
                break
            self._next()
            if sign == "," and "(" in self._waiting:  # gcc and clang take it in brackets
                self._apply_down_to(0)
            elif sign == "?":
                self._apply_down_to(1)
            elif sign == ":":
                self._close("?")
            elif sign in _STRENGTH:
                self._apply_down_to(_STRENGTH[sign])
            else:
                raise _NotAnExpression
            self._waiting.append(sign)
        self._apply_down_to(_WEAKEST)
        if self._waiting:
            raise _NotAnExpression
        return self._operands.pop()

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

    def _operand(self) -> None:
        """A number, a name or a character, with the signs and brackets in front of it."""
        while (sign := self._sign()) in _UNARY or sign == "(":
            self._next()
            self._waiting.append(sign if sign == "(" else f"unary {sign}")
        kind, text = self._next()
        if kind == "number":
            self._operands.append(_number(text))
        elif kind == "character":
            self._operands.append(_character(text, self._signed_characters))
        elif kind == "name":
            self._operands.append(self._named(text))
        else:
            raise _NotAnExpression

    def _close(self, opener: str) -> None:
        """Apply what waits since the bracket or `?` that ends here."""
        self._apply_down_to(_WEAKEST)
        if not self._waiting or self._waiting.pop() != opener:
            raise _NotAnExpression

    def _apply_down_to(self, weakest: int) -> None:
        """Apply the waiting operators that are as strong, from the last one on; brackets and `?` stop that."""
        operands, waiting = self._operands, self._waiting
        while waiting and waiting[-1] not in ("(", "?") and _strength(waiting[-1]) >= weakest:
            sign = waiting.pop()
            last = operands.pop()
            if sign == ",":
                operands[-1] = last
            elif sign == ":":
                then, asked = operands.pop(), operands.pop()
                operands.append(_chosen(asked, then, last))
            elif sign.startswith("unary"):
                operands.append(None if last is None else _UNARY[sign[-1]](last))
            else:
                operands.append(_applied(sign, operands.pop(), last))

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


_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63}
_UNIT = lazy_regex(r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,8})|(?P<simple>.))|(?P<plain>.)", re.DOTALL)


def _character(text: str, signed: bool) -> Operand:
    """The value of a character constant of ASCII; that of others depends on the compiler.

    `signed` says whether wide characters and those of UTF-8 are.
    """
    prefix, _, inner = text.partition("'")
    values = []
    for unit in _UNIT.finditer(inner[:-1]):
        if unit["octal"] or unit["hex"]:
            value = int(unit["octal"], 8) if unit["octal"] else int(unit["hex"], 16)
        elif unit["simple"]:
            value = _ESCAPES.get(unit["simple"], -1)
        else:
            value = ord(unit["plain"])
        if not 0 <= value < 128:
            return None
        values.append(value)
    if len(values) > (1 if prefix else 4):
        return None
    return Number(int.from_bytes(bytes(values), "big"), bool(prefix) and not (signed and prefix in ("L", "u8")))


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
_WEAKEST = -1
"""The strength of a comma."""
_STRONGEST = 100
"""The strength of a sign in front of an operand."""


def _strength(sign: str) -> int:
    """The strength of a waiting operator; of all but the comma, `?:` is the weakest."""
    return _WEAKEST if sign == "," else 0 if sign == ":" else _STRENGTH.get(sign, _STRONGEST)


def _chosen(asked: Operand, then: Operand, otherwise: Operand) -> Operand:
    if asked is None:
        return then if then == otherwise else None
    chosen, other = (then, otherwise) if asked.value else (otherwise, then)
    if chosen is None:
        return None
    return _wrapped(chosen.value, chosen.unsigned or (other is not None and other.unsigned))


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
            return None
        shifted = left.value << right.value if sign == "<<" else left.value >> right.value
        return _wrapped(shifted, left.unsigned)
    unsigned = left.unsigned or right.unsigned
    a, b = _wrapped(left.value, unsigned).value, _wrapped(right.value, unsigned).value
    if sign in _COMPARISONS:
        return Number(int(_COMPARISONS[sign](a, b)))
    if sign in ("/", "%") and b == 0:
        return None  # a mistake, unless `0 &&` is before it
    return _wrapped(_ARITHMETIC[sign](a, b), unsigned)
