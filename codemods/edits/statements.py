"""Edits of whole statements: take one out, find where one begins."""

from __future__ import annotations

from itertools import islice

from guardfix.linter.facts import Span
from guardfix.linter.lazy_regex import lazy_regex

from ..fix import Edit

_BLANKS = b" \t"
_COMMENT = lazy_regex(
    rb"[ \t]*(//[^\r\n\\]*(?:\\(?:\r\n|[\r\n])?[^\r\n\\]*)*|/\*(?:(?!\*/)[^\r\n])*\*/[ \t]*(?=[\r\n]|\Z))"
)
"""A comment after a statement that ends its line, with the lines that a backslash joins to it."""
_NEWLINE = lazy_regex(rb"\r\n|\n|\r")


def line_start(text: bytes, offset: int) -> int:
    return max(text.rfind(b"\n", 0, offset), text.rfind(b"\r", 0, offset)) + 1


def line_end(text: bytes, offset: int) -> int:
    """Where the line of `offset` ends, its line end included."""
    match = _NEWLINE.search(text, offset)
    return match.end() if match else len(text)


def indentation(text: bytes, offset: int) -> bytes:
    """The white space at the beginning of the line of `offset`."""
    start = line_start(text, offset)
    end = start
    while end < len(text) and text[end : end + 1] in (b" ", b"\t"):
        end += 1
    return text[start:end]


def newline_of(text: bytes, offset: int) -> bytes:
    """The line end that is used around `offset`."""
    match = _NEWLINE.search(text, offset) or _NEWLINE.search(text)
    return match.group() if match else b"\n"


def removal(text: bytes, span: Span) -> Edit:
    """Take a statement out: with its line, when nothing else is on it; a comment after it stays."""
    start = line_start(text, span.start)
    alone_before = text[start : span.start].strip(_BLANKS) == b""
    comment = _COMMENT.match(text, span.end)
    rest_start = comment.end() if comment else span.end
    while text[rest_start : rest_start + 1] in (b" ", b"\t"):
        rest_start += 1
    newline = _NEWLINE.match(text, rest_start)
    alone_after = newline is not None or rest_start == len(text)
    if alone_before and alone_after:
        if comment:
            # The comment moves to where the statement began.
            return Edit(Span(span.start, comment.start(1)), "")
        if text[max(0, start - 3) : start].rstrip(b"\r\n").endswith(b"\\"):
            return Edit(span, "")  # the line before would take in the one after
        return Edit(Span(start, newline.end() if newline else rest_start), "")
    if not alone_before and alone_after and not comment:
        cut = span.start
        while text[cut - 1 : cut] in (b" ", b"\t"):
            cut -= 1
        return Edit(Span(cut, span.end), "")
    end = span.end
    while text[end : end + 1] in (b" ", b"\t"):
        end += 1
    return Edit(Span(span.start, end), "")


_BLANK_LINES_BEHIND = lazy_regex(rb"(?:[ \t]*(?:\r\n|\n|\r))*")
_BLANK_LINES_BEFORE = lazy_regex(rb"(?:\A|(?<=\n)|(?<=\r)(?!\n))(?:[ \t]*(?:\r\n|\n|\r))+\Z")
_FARTHEST = 1000
"""How many bytes before a statement are looked at."""


def without_gap(text: bytes, removed: Edit) -> Edit:
    """The removal of whole lines, with the blank lines that would otherwise meet, open a block or close one."""
    start, end = removed.span
    if start != line_start(text, start) or end == start or text[end - 1 : end] not in (b"\n", b"\r"):
        return removed
    before = text[max(0, start - _FARTHEST) : start]
    gap = _BLANK_LINES_BEFORE.search(before)
    above = before[: gap.start()] if gap else before
    after = _BLANK_LINES_BEHIND.match(text, end)
    assert after is not None  # it matches nothing at all as well
    if above.rstrip().endswith(b"{") and not gap:
        return Edit(Span(start, after.end()), "")
    if text[after.end() : after.end() + 80].lstrip(_BLANKS).startswith(b"}"):
        return Edit(Span(start - len(before) + len(above), after.end()), "")
    kept = len(_NEWLINE.findall(before, len(above)))
    for newline in islice(_NEWLINE.finditer(text, end, after.end()), kept):
        end = newline.end()
    return Edit(Span(start, end), "")


def removal_with_comment(text: bytes, span: Span) -> tuple[Edit, str]:
    """Take a statement out together with the comment after it; the comment is given back, for its new place."""
    comment = _COMMENT.match(text, span.end)
    if comment is None:
        return removal(text, span), ""
    return removal(text, Span(span.start, comment.end())), comment.group().decode("utf-8", "replace")


def statement_around(code: bytes, block: Span, offset: int) -> int:
    """Where the statement of `block` that holds `offset` begins.

    `code` has comments and strings blanked. The block's span includes its braces.
    """
    depth = 0
    begin: int | None = None
    directive_end = 0
    for position in range(block.start + 1, min(offset + 1, block.end)):
        character = code[position : position + 1]
        if position < directive_end:
            continue
        if begin is None and character == b"#":  # a directive is not a statement
            directive_end = newline.start() if (newline := _NEWLINE.search(code, position)) else len(code)
            continue
        if begin is None and not character.isspace() and character not in (b";", b"}"):
            begin = position
        if character in (b"(", b"[", b"{"):
            depth += 1
        elif character in (b")", b"]", b"}"):
            depth -= 1
            ends = depth == 0 and character == b"}" and not _continues(code, position + 1)
            if ends and position < offset:
                begin = None
        elif character == b";" and depth == 0 and position < offset:
            begin = None
    return begin if begin is not None else offset


_CONTINUATION = lazy_regex(rb"\s*(?:else|catch|while|[),;.])")


def _continues(code: bytes, position: int) -> bool:
    """Whether the statement goes on after a closing brace."""
    return _CONTINUATION.match(code, position) is not None
