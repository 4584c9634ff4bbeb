"""The code that no compiler sees, whatever it is called with: `#if 0`, the `#else` of `#if 1`.

What the file itself defines counts, where the preprocessor is sure to have read that: `#define DEBUG 0` in front of
`#if DEBUG`, unless the definition is below a condition that the file doesn't settle, or another one follows. Below
`#ifdef CUDA` the macro is defined, and in the other arms it isn't.
"""

from __future__ import annotations

from msgspec import Struct

from ...facts import Span
from ...facts.preprocessor_expressions import value_of
from ...lazy_regex import lazy_regex
from .conditionals import Directive, directives
from .cpp_masking import blanked, code_only, with_plain_lines
from .known_macros import Assumption, KnownMacros, assumptions, macro_lines

_MAY_BE_CONDITION = lazy_regex(rb"#[^\n#]*if|#[ \t\v\f]*\n")
_SPLICE = lazy_regex(rb"\\\r?\n")
_BLANK_CHARACTER = lazy_regex(rb"'[ \\\n\r]*'")
_MOST_EXCLUDED = 20
"""Earlier arms of a conditional whose conditions a later one takes for false."""


def without_dead_branches(text: bytes) -> bytes:
    """The text with blanks for what no compiler sees."""
    if _MAY_BE_CONDITION.search(text) is None:
        return text
    text = with_plain_lines(text)
    return blanked(text, dead_branches(code_only(text), text))


def dead_branches(code: bytes, text: bytes) -> list[Span]:
    """Where the code is that no compiler sees, up to the `#` after it.

    `code` is the text without comments and literals, both with plain lines. The text says which characters a condition
    compares.
    """
    lines = list(directives(code))
    if not lines:
        return []
    found = macro_lines(code) if b"pop_macro" not in text else []
    macros, open_ones, dead, following = KnownMacros(len(found) + len(lines)), list[_Open](), list[Span](), 0
    for line in lines:
        if line.name in ("else", "endif") and line.rest.strip():
            dead.append(Span(line.start, line.span.end))  # compilers skip extra tokens after these
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


class _Open(Struct, eq=False):
    """A conditional whose `#endif` isn't reached yet."""

    macros: KnownMacros
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
    _excluded: list[Assumption] = []
    """What holds in later arms, since no arm before was compiled."""

    def begin_arm(self, line: Directive, text: bytes) -> None:
        self.begin = line.span.end
        condition = _condition(line, text)
        self.macros.begin_arm()
        for one in self._excluded:
            self.macros.assume(one)
        verdict = self._verdict(line, condition) if self.is_reached and not self._taken else False
        self.is_live = self.is_reached and verdict is not False
        self._journal = self.is_live and (verdict is None or self._open_question)
        if not self._journal:
            self.macros.take_back()
        if verdict is None and line.name != "else":
            granted = assumptions(condition)
            for one in granted:
                self.macros.assume(one)
            if len(granted) == 1 and len(self._excluded) < _MOST_EXCLUDED:
                self._excluded = [*self._excluded, granted[0].negated]
        self._taken = self._taken or verdict is True
        self._open_question = self._open_question or verdict is None

    def _verdict(self, line: Directive, condition: str) -> bool | None:
        if line.name == "else":
            return True
        condition, macros = self.macros.expanded(condition)
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
            self.macros.forget(name)


def _condition(line: Directive, text: bytes) -> str:
    """The condition with the characters that it compares."""
    rest = line.rest
    if b"'" in rest:
        rest = _BLANK_CHARACTER.sub(lambda blank: text[line.start + blank.start() : line.start + blank.end()], rest)
    return line.condition_of(_SPLICE.sub(b"", rest).decode("utf-8", "replace"))
