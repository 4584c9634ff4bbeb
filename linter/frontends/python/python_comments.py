"""Where comments and strings are in a Python file; no parser is asked, so that one with an error has them too."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

from msgspec.structs import replace

from ...facts import Comment, GuardUse, Span
from ...files.sources import Source
from ...lazy_regex import lazy_regex

# In a raw string a backslash still keeps the quote after it from ending the string.
_TOKEN = lazy_regex(
    rb'"{3}(?:\\.|[^\\])*?"{3}|\'{3}(?:\\.|[^\\])*?\'{3}'
    rb'|"(?:\\\r?.|[^"\\\r\n])*"|\'(?:\\\r?.|[^\'\\\r\n])*\'|(?P<comment>#[^\r\n]*)',
    re.DOTALL,
)


def python_comments(text: bytes) -> Iterator[Span]:
    """The comments, where they are in no string."""
    for match in _TOKEN.finditer(text):
        if match["comment"] is not None:
            yield Span(*match.span())


def comments_by_row(text: bytes, row: Callable[[int], int]) -> dict[int, Comment]:
    """The comments of a file by the rows that they are on; `row` is that of an offset."""
    return {row(span.start): _comment(span, text) for span in python_comments(text)}


def comments_at(rows: range, by_row: Mapping[int, Comment]) -> tuple[Comment, ...]:
    """The comments on these rows and directly above them."""
    first = rows.start
    while (above := by_row.get(first - 1)) is not None and above.alone:
        first -= 1
    return tuple(by_row[row] for row in range(first, rows.stop) if row in by_row)


def with_python_comments(uses: Iterable[GuardUse], source: Source) -> Iterator[GuardUse]:
    """The uses with the comments at them."""
    by_row = comments_by_row(source.text, source.row)
    for use in uses:
        found = comments_at(range(source.row(use.span.start), source.row(use.span.end) + 1), by_row)
        yield replace(use, comments=found) if found else use


def _comment(span: Span, text: bytes) -> Comment:
    written = text[slice(*span)].decode("utf-8", "replace")
    line = text[text.rfind(b"\n", 0, span.start) + 1 : span.start]
    return Comment(span, " ".join(written.lstrip("#!: ").split()), not line.strip())


_LINES = lazy_regex(
    _TOKEN.pattern + rb"|(?P<opens>[(\[{])|(?P<closes>[)\]}])|\\(?:\r\n|[\r\n])|(?P<newline>\r\n|[\r\n])", re.DOTALL
)


@lru_cache(maxsize=1)
def logical_lines(text: bytes) -> list[int]:
    """Where each line begins that goes on no other: no bracket, string or backslash joins it to the one before."""
    starts, depth = [0], 0
    for match in _LINES.finditer(text):
        if match["opens"]:
            depth += 1
        elif match["closes"]:
            depth = max(0, depth - 1)
        elif match["newline"] and not depth:
            starts.append(match.end())
    return starts


def string_end(text: bytes, offset: int) -> int | None:
    """The last byte of the string in which `offset` is; None when it is in none."""
    starts, ends = _strings(text)
    index = bisect_right(starts, offset) - 1
    return ends[index] - 1 if index >= 0 and ends[index] > offset else None


@lru_cache(maxsize=1)
def _strings(text: bytes) -> tuple[list[int], list[int]]:
    """Where each string begins and ends."""
    spans = [match.span() for match in _TOKEN.finditer(text) if match["comment"] is None]
    return [start for start, _ in spans], [end for _, end in spans]
