"""Comments about a guard: after it on its line, directly above it, and within its statement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ...facts import Comment, GuardUse, Span
from ...lazy_regex import lazy_regex
from .cpp_masking import cpp_comments, with_plain_lines

_MARKS = lazy_regex(r"^[ \t]*(?:///?<?!?|/\*+!?|\*+/|\*(?!/))|(?<!\*)\*+/[ \t]*$", re.MULTILINE)
_LINES = 30
"""A comment above that is longer is about more than the guard."""
_LONGEST_STATEMENT = 1000
"""Bytes of a statement in which comments are looked for: those of a longer one are about more than the guard."""


def with_cpp_comments(uses: Iterable[GuardUse], text: bytes, code: bytes) -> Iterator[GuardUse]:
    """The uses with their comments; `code` is the text without comments and strings, as long as the text."""
    for use in uses:
        found = tuple(_comments_of(use, text, code)) if use.macro is None else ()
        yield replace(use, comments=found) if found else use


def _comments_of(use: GuardUse, text: bytes, code: bytes) -> Iterator[Comment]:
    above = _above(use.span.start, text, code)
    if above is not None:
        yield _comment(above, text, alone=True)
    start, end = use.span
    if end - start <= _LONGEST_STATEMENT:
        for inside in cpp_comments(with_plain_lines(text[start:end])):
            yield _comment(Span(start + inside.start, start + inside.end), text, alone=False)
    after = _behind(use.span.end, text, code)
    if after is not None:
        yield _comment(after, text, alone=False)


def _comment(span: Span, text: bytes, *, alone: bool) -> Comment:
    written = text[slice(*span)].decode("utf-8", "replace")
    return Comment(span, " ".join(_MARKS.sub("", written).split()), alone)


def _above(offset: int, text: bytes, code: bytes) -> Span | None:
    start = text.rfind(b"\n", 0, offset) + 1
    if text[start:offset].strip():
        return None
    first = end = start
    for _ in range(_LINES):
        if first == 0:
            break
        line = text.rfind(b"\n", 0, first - 1) + 1
        written = text[line : first - 1]
        if not written.strip() or code[line : first - 1].strip():
            break
        first = line
    else:
        return None
    if first == end:
        return None
    whole = text[first:end]
    return Span(first + len(whole) - len(whole.lstrip()), first + len(whole.rstrip()))


def _behind(offset: int, text: bytes, code: bytes) -> Span | None:
    end = text.find(b"\n", offset)
    end = len(text) if end < 0 else end
    written = text[offset:end]
    if not written.strip() or code[offset:end].strip():
        return None
    start = offset + len(written) - len(written.lstrip())
    return Span(start, offset + len(written.rstrip()))
