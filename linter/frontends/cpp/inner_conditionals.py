"""Preprocessor conditionals that are where the grammar knows none: inside an argument list, a braced initialiser, a
condition, or around half of a block.

The grammar reads `#if … #endif` between statements, declarations and enumerators. Anywhere else it is lost, often for
the rest of the file. There one arm is read and the rest is overwritten by blanks, byte for byte.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from msgspec import Struct

from ...facts import Branch, Conditional, Span
from ...lazy_regex import lazy_regex
from .byte_words import line_before
from .conditionals import find_conditionals

_MARK = lazy_regex(rb"[(){}\[\];,#]")
_LOGICAL_LINE = lazy_regex(rb"[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*")
_CLOSES = {ord(")"): ord("("), ord("]"): ord("["), ord("}"): ord("{")}
_CUT_AT_THE_END = lazy_regex(rb"(?:\belse|\breturn|&&|\|\||<<|[,=+?(]|->)\s*\Z")
_CUT_AT_THE_BEGIN = lazy_regex(rb"\s*(?:else\b|catch\b|&&|\|\||<<|==|[,.)?\]])")
_BEFORE_INITIALISER = lazy_regex(rb"(?:[=(,{\[]|\breturn)\s*\Z")
_HEAD_OF_BLOCK = lazy_regex(rb"\b(?:enum|struct|class|union|namespace|extern|do|try|else)\b|->|[)\]]\s*\Z")
_HEAD_LENGTH = 400
"""How far in front of a brace its declaration is looked for."""


class _Bracket(Struct, eq=False):
    """One opening bracket."""

    kind: int
    start: int
    semicolons: bool = False
    commas: bool = False


class _Open(Struct, eq=False):
    """A conditional whose `#endif` is not reached yet."""

    conditional: Conditional
    stack: list[_Bracket]
    """The brackets that are open at its `#if`."""
    first: list[_Bracket] | None = None
    """Those that its first arm leaves open."""
    balanced: bool = True


class _Reading(Struct, eq=False):
    code: bytes
    stack: list[_Bracket] = []
    waiting: list[_Open] = []
    done: list[_Open] = []


def inner_conditionals(code: bytes, guards: Sequence[int], watched: Sequence[int] = ()) -> list[Span]:
    """What to blank so that the grammar can read on: directives, and the arms that are not read.

    `code` has no comments and strings; `guards` are the places, sorted, of what must stay readable. A conditional with
    such places in more than one arm is left as it is. Of the others the first arm is read that holds such a place, or
    one of the places that are `watched`.
    """
    blanks: list[Span] = []
    for one in _with_brackets(code):
        conditional = one.conditional
        if not _is_lost(one, code):
            continue
        kept = [branch for branch in conditional.branches if _any_in(branch.span, guards)]
        if len(kept) > 1:
            continue
        kept = kept or [branch for branch in conditional.branches if _any_in(branch.span, watched)]
        blanks += _all_but((kept or conditional.branches)[0], conditional)
    return blanks


def _all_but(kept: Branch, conditional: Conditional) -> list[Span]:
    return [Span(conditional.span.start, kept.span.start), Span(kept.span.end, conditional.span.end)]


def _any_in(span: Span, places: Sequence[int]) -> bool:
    at = bisect_left(places, span.start)
    return at < len(places) and places[at] < span.end


def _is_lost(one: _Open, code: bytes) -> bool:
    """Whether the conditional is where the grammar knows none."""
    if not one.balanced or (one.stack and _is_of_expression(one.stack[-1], code)):
        return True
    return any(
        _CUT_AT_THE_END.search(code, max(branch.span.start, branch.span.end - 80), branch.span.end)
        or _CUT_AT_THE_BEGIN.match(code, branch.span.start, branch.span.end)
        for branch in one.conditional.branches
    )


def _is_of_expression(bracket: _Bracket, code: bytes) -> bool:
    if bracket.kind != 0x7B:  # {
        return True
    if bracket.semicolons:
        return False
    before = code[max(0, bracket.start - _HEAD_LENGTH) : bracket.start]
    if _BEFORE_INITIALISER.search(before):
        return True
    head = re.split(rb"[;{}]", before)[-1]
    return bracket.commas and bool(head.strip()) and not _HEAD_OF_BLOCK.search(head)


def _with_brackets(code: bytes) -> list[_Open]:
    """Every complete conditional with the brackets around it; after it, what its first arm leaves open is open."""
    conditionals = find_conditionals(code)
    begins = {conditional.span.start: conditional for conditional in conditionals}
    arms = {branch.directive.start: conditional for conditional in conditionals for branch in conditional.branches[1:]}
    ends = {conditional.branches[-1].span.end: conditional for conditional in conditionals}
    reading = _Reading(code)
    skipped = 0
    for match in _MARK.finditer(code):
        place = match.start()
        if place < skipped:
            continue
        if code[place] != 0x23:  # #
            _read_mark(code[place], place, reading)
            continue
        line = line_before(code, place)
        if line is None:
            continue
        end = _LOGICAL_LINE.match(code, place)
        skipped = end.end() if end is not None else place + 1
        if line in begins:
            reading.waiting.append(_Open(begins[line], list(reading.stack)))
        elif line in arms or line in ends:
            _end_arm(reading, is_last=line in ends)
    return reading.done


def _read_mark(mark: int, place: int, reading: _Reading) -> None:
    stack = reading.stack
    if mark in _CLOSES:
        if stack and stack[-1].kind == _CLOSES[mark]:
            stack.pop()
        elif reading.waiting:
            reading.waiting[-1].balanced = False
    elif mark == 0x3B:  # ;
        if stack:
            stack[-1].semicolons = True
    elif mark == 0x2C:  # ,
        if stack:
            stack[-1].commas = True
    else:
        stack.append(_Bracket(mark, place))


def _end_arm(reading: _Reading, *, is_last: bool) -> None:
    if not reading.waiting:
        return
    one = reading.waiting[-1]
    if reading.stack != one.stack:
        one.balanced = False
    if one.first is None:
        one.first = list(reading.stack)
    if is_last:
        reading.waiting.pop()
        reading.done.append(one)
        reading.stack[:] = one.first
    else:
        reading.stack[:] = one.stack
