"""The code that no compiler sees, whatever it is called with: `#if 0`, the `#else` of `#if 1`.

What the file itself defines counts, where the preprocessor is sure to have read that: `#define DEBUG 0` in front of
`#if DEBUG`, unless the definition stands below a condition that the file doesn't settle, or another one follows.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Struct

from ...facts import Span
from ...facts.header_facts import MacroValues
from ...facts.preprocessor_expressions import value_of
from .byte_words import line_before
from .conditionals import Directive, directives
from .cpp_masking import blanked, code_only, with_plain_lines

_MAY_BE_CONDITION = re.compile(rb"#[^\n#]*if|#[ \t\v\f]*\n")
_MACRO_LINE = re.compile(
    rb"#[ \t\v\f]*(?:(?P<kind>define|undef)[ \t\v\f]+(?:\\\r?\n[ \t\v\f]*)*(?P<name>[A-Za-z_$][\w$]*)"
    rb"(?P<body>[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*)|(?P<include>include|import)\b)"
)
_SPLICE = re.compile(rb"\\\r?\n")
_BLANK_CHARACTER = re.compile(rb"'[ \\\n\r]*'")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_VALUE = re.compile(r"[\s(]*(?:[-+]?\s*\d[^\W_uU]*|true|false)[\s)]*")
"""A number that keeps its sign where it is compared."""
_LONGEST_CHAIN = 20
"""Macros that are each defined as the next one."""
_DEEPEST = 50
"""Times that each change of a macro is taken back, on average; only generated code has it below more conditions."""


def without_dead_branches(text: bytes) -> bytes:
    """The text with blanks for what no compiler sees."""
    if _MAY_BE_CONDITION.search(text) is None:
        return text
    text = with_plain_lines(text)
    return blanked(text, dead_branches(code_only(text), text))


def dead_branches(code: bytes, text: bytes) -> list[Span]:
    """Where the code stands that no compiler sees, up to the `#` behind it.

    `code` is the text without comments and literals, both with plain lines. The text says which characters a condition
    compares.
    """
    lines = list(directives(code))
    if not lines:
        return []
    found = _macro_lines(code) if b"pop_macro" not in text else []
    macros, open_ones, dead, following = _Macros(len(found)), list[_Open](), list[Span](), 0
    for line in lines:
        while following < len(found) and found[following].start() < line.span.start:
            if not open_ones or open_ones[-1].is_live:
                macros.read(found[following])
            following += 1
        if line.name in ("if", "ifdef", "ifndef"):
            open_ones.append(_Open(macros, is_reached=not open_ones or open_ones[-1].is_live))
        elif not open_ones:
            continue
        else:
            dead += open_ones[-1].end_arm(line.span.start, code)
        if line.name == "endif":
            open_ones.pop().end()
        else:
            open_ones[-1].begin_arm(line, text)
    for one in open_ones:
        dead += one.end_arm(len(code), code)
    return sorted(dead)


def _macro_lines(code: bytes) -> list[re.Match[bytes]]:
    return [line for line in _MACRO_LINE.finditer(code) if line_before(code, line.start()) is not None]


class _Meaning(NamedTuple):
    """What a macro is known to be: a value, another macro, defined as something else, or undefined."""

    is_defined: bool
    value: int | None = None
    alias: str = ""
    includes: int = 0
    """How many files were included when it was undefined: another one may define it."""


class _Macros:
    """What is known of the macros at one place of the file."""

    def __init__(self, lines: int) -> None:
        self._known: dict[str, _Meaning] = {}
        self._includes = 0
        self._left = _DEEPEST * lines
        """How many changes may still be taken back; then nothing is known any more."""
        self.journals: list[dict[str, _Meaning | None]] = []
        """For each arm around the place that may or may not be compiled: what the macros were that it changed."""

    def read(self, line: re.Match[bytes]) -> None:
        """Learn from a `#define`, `#undef` or `#include`."""
        if line["include"]:
            self._includes += 1
            return
        name = line["name"].decode()
        if line["kind"] == b"undef":
            self.change(name, _Meaning(False, includes=self._includes))
            return
        body = _SPLICE.sub(b"", line["body"]).decode("utf-8", "replace")
        plain = body.strip()
        if body.startswith("("):  # parameters
            self.change(name, _Meaning(True))
        elif _NAME.fullmatch(plain) and plain not in ("true", "false"):
            self.change(name, _Meaning(True, alias=plain))
        else:
            value = value_of(plain, {}) if _VALUE.fullmatch(plain) else None
            self.change(name, _Meaning(True, None if value is None or value >> 63 > 0 else value))

    def change(self, name: str, meaning: _Meaning | None) -> None:
        before = self._known.get(name)
        if before == meaning or self._left < 0:
            return
        if self.journals:
            self.journals[-1].setdefault(name, before)
        if meaning is None:
            del self._known[name]
        else:
            self._known[name] = meaning

    def take_back(self) -> set[str]:
        """Forget what was learnt since the last journal was begun; returns the names of these macros."""
        journal = self.journals.pop()
        self._left -= len(journal)
        if self._left < 0:
            self._known.clear()
            return set()
        for name, before in journal.items():
            if before is None:
                self._known.pop(name, None)
            else:
                self._known[name] = before
        return set(journal)

    def named_in(self, condition: str) -> MacroValues:
        """What is known of the macros that a condition names."""
        values, defined, undefined = {}, set(), set()
        for name in set(_NAME.findall(condition)) if self._known else ():
            meaning = self._known.get(name)
            if meaning is None:
                continue
            if meaning.is_defined:
                defined.add(name)
            elif meaning.includes == self._includes and name not in ("true", "false"):
                undefined.add(name)
            for _ in range(_LONGEST_CHAIN):
                if meaning is None or not meaning.alias:
                    break
                meaning = self._known.get(meaning.alias)
            if meaning is not None and meaning.value is not None:
                values[name] = meaning.value
        return MacroValues(values, frozenset(defined), frozenset(undefined))


class _Open(Struct, eq=False):
    """A conditional whose `#endif` isn't reached yet."""

    macros: _Macros
    is_reached: bool
    """Whether a compiler may see it at all."""
    begin: int = 0
    is_live: bool = False
    """Whether a compiler may see the arm that was begun last."""
    _taken: bool = False
    """Whether an arm before is surely compiled."""
    _open_question: bool = False
    """Whether an arm before may be compiled."""
    _journal: bool = False
    _changed: set[str] = set()

    def begin_arm(self, line: Directive, text: bytes) -> None:
        self.begin = line.span.end
        verdict = self._verdict(line, text) if self.is_reached and not self._taken else False
        self.is_live = self.is_reached and verdict is not False
        self._journal = self.is_live and (verdict is None or self._open_question)
        if self._journal:
            self.macros.journals.append({})
        self._taken = self._taken or verdict is True
        self._open_question = self._open_question or verdict is None

    def _verdict(self, line: Directive, text: bytes) -> bool | None:
        if line.name == "else":
            return True
        condition = _condition(line, text)
        macros = self.macros.named_in(condition)
        value = value_of(condition, macros.values, macros.defined, macros.undefined)
        return None if value is None else bool(value)

    def end_arm(self, end: int, code: bytes) -> list[Span]:
        """Take back what the arm defined, if it may not be compiled; returns it, if it is surely not."""
        if self._journal:
            self._changed |= self.macros.take_back()
            self._journal = False
        if self.is_live or not self.is_reached:
            return []
        sign = code.find(b"#", end)
        return [Span(self.begin, sign if sign >= 0 else len(code))]

    def end(self) -> None:
        for name in self._changed:
            self.macros.change(name, None)


def _condition(line: Directive, text: bytes) -> str:
    """The condition with the characters that it compares."""
    rest = line.rest
    if b"'" in rest:
        rest = _BLANK_CHARACTER.sub(lambda blank: text[line.start + blank.start() : line.start + blank.end()], rest)
    return line.condition_of(_SPLICE.sub(b"", rest).decode("utf-8", "replace"))
