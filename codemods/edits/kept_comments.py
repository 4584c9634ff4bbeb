"""Comments that are where a fix writes: they are kept beside what it writes, in Python above its statement."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from guardfix.linter.analysis.guard_comments import speaks_of_nothing_else
from guardfix.linter.answered_once import answered_once
from guardfix.linter.facts import Facts, Span
from guardfix.linter.frontends.cpp.cpp_masking import cpp_comments, with_plain_lines
from guardfix.linter.frontends.python.python_comments import logical_lines, python_comments
from guardfix.linter.lazy_regex import lazy_regex

from ..fix import Edit, insertion
from .statements import indentation, line_start, newline_of

_LINE_ENDS = (b"\n", b"\r")
_LINE_ENDS_HERE = lazy_regex(rb"[ \t]*(?:[\r\n]|\Z)")
_GOES_ON = lazy_regex(rb"[\w:/(]")
_MARKS = {"cpp": (b"//", b"/*", b"/\\"), "python": (b"#",)}
"""What a comment begins with; a line splice may part it."""
_NAMES_ARGUMENT = lazy_regex(rb"/\*\s*(?:\w+\s*=|enabled)\s*\*/")


def keeping_comments(edits: Sequence[Edit], facts: Facts, text: bytes) -> tuple[Edit, ...]:
    """The edits, with the comments that they would overwrite beside what they write.

    Not those that one of them writes elsewhere, that an edit is about alone, and that only made sense with what goes:
    the name of an argument, and with a guard its purpose and a comment about nothing else.
    """
    lost = {edit: comments for edit in edits if (comments := _overwritten(edit, facts, text))}
    if not lost:
        return tuple(edits)
    written = Counter(comment for edit in edits for comment in _comments_in(edit.content.encode(), facts.language))
    for comments in lost.values():
        for comment in comments.copy():
            if written[comment]:
                written[comment] -= 1
                comments.remove(comment)
            elif facts.language == "python" and any(comment in longer for longer in written):
                comments.remove(comment)  # two that end one line are one
    if facts.language == "python":
        return _with_lines_above(edits, lost, text)
    return tuple(_with_comments(edit, lost[edit], text) if lost.get(edit) else edit for edit in edits)


def without_comments(text: bytes, place: Span, language: str) -> bytes:
    """What is in a place, with a blank for each comment."""
    comments = list(_within(place, text, language))
    starts = [place.start, *(comment.end for comment in comments)]
    ends = [*(comment.start for comment in comments), place.end]
    return b" ".join(text[start:end] for start, end in zip(starts, ends, strict=True))


def _overwritten(edit: Edit, facts: Facts, text: bytes) -> list[bytes]:
    """The comments that nothing is left of, and that made sense without what goes."""
    marks = _MARKS.get(facts.language, ())
    if not any(text.find(mark, *edit.span) >= 0 for mark in marks):
        return []
    content = edit.content.encode()
    is_about_comments = not without_comments(text, edit.span, facts.language).strip()
    if is_about_comments and not without_comments(content, Span(0, len(content)), facts.language).strip():
        return []
    spans = _within(edit.span, text, facts.language)
    return [text[slice(*span)].rstrip() for span in spans if not _goes_along(span, text, edit, facts)]


def _within(place: Span, text: bytes, language: str) -> Iterator[Span]:
    comments = _comments(text, language)
    for span in comments[bisect_left(comments, Span(place.start, 0)) :]:
        if span.end > place.end:
            break
        yield span


def _comments_in(text: bytes, language: str) -> Iterator[bytes]:
    return (text[slice(*span)].rstrip() for span in _comments(text, language))


_SMALL = 1000
"""Bytes of what an edit writes, mostly: the comments of a file are looked for once."""


def _comments(text: bytes, language: str) -> list[Span]:
    return _found_comments(text, language) if len(text) < _SMALL else _comments_of_file(text, language)


@lru_cache(maxsize=2)
def _comments_of_file(text: bytes, language: str) -> list[Span]:
    return _found_comments(text, language)


def _found_comments(text: bytes, language: str) -> list[Span]:
    if language == "python":
        return list(python_comments(text))
    return [_without_return(span, text) for span in cpp_comments(with_plain_lines(text))]


def _without_return(span: Span, text: bytes) -> Span:
    """The comment without the first character of a CRLF after it."""
    return Span(span.start, span.end - 1) if text.startswith(b"\r\n", span.end - 1) else span


def _goes_along(span: Span, text: bytes, edit: Edit, facts: Facts) -> bool:
    if _NAMES_ARGUMENT.fullmatch(text, *span):
        return True
    gone = _about_guards(facts)
    before = bisect_right(gone, Span(span.start, sys.maxsize)) - 1
    return not edit.content and before >= 0 and gone[before].holds(span)


@answered_once
def _about_guards(facts: Facts) -> list[Span]:
    """The comments that declare what a guard is for, or are about nothing but a guard."""
    declared = [intent.span for intent in facts.intents if not intent.says_more]
    beside = [one.span for use in facts.guard_uses for one in use.comments if speaks_of_nothing_else(one)]
    return sorted(declared + beside)


def _with_comments(edit: Edit, comments: Sequence[bytes], text: bytes) -> Edit:
    start, end = edit.span
    newline, indent = newline_of(text, start), indentation(text, start)
    takes_lines = not edit.content and start == line_start(text, start) and text[end - 1 : end] in _LINE_ENDS
    ends_line = takes_lines or _LINE_ENDS_HERE.match(text, end) is not None
    content = edit.content.encode()
    before = content or text[start - 1 : start]
    between = indent if takes_lines else b"" if not before or before[-1:].isspace() else b" "
    if any(one.startswith(b"//") and content.rstrip().endswith(one) for one in _comments_in(content, "cpp")):
        between = newline + indent
    pieces = [content, between]
    for comment in comments:
        spliced = newline if comment.endswith(b"\\") else b""  # or the comment would go on in what follows
        pieces += [comment, b" " if comment.startswith(b"/*") else spliced + newline + indent]
    if takes_lines:
        pieces[-1] = newline
    elif ends_line or (pieces[-1] == b" " and not _GOES_ON.match(text, end)):
        pieces.pop()
    return Edit(edit.span, b"".join(pieces).decode())


def _with_lines_above(edits: Sequence[Edit], lost: Mapping[Edit, Sequence[bytes]], text: bytes) -> tuple[Edit, ...]:
    """In Python a comment may end any line, but what it would end need not be one: it gets its own line."""
    starts = logical_lines(text)
    found = []
    for edit in edits:
        above = starts[bisect_right(starts, edit.span.start) - 1]
        newline, indent = newline_of(text, above), indentation(text, above)
        lines = b"".join(indent + comment + newline for comment in lost.get(edit, ())).decode()
        if above == edit.span.start:
            found.append(Edit(edit.span, lines + edit.content))
        else:
            found += [insertion(above, lines), edit] if lines else [edit]
    return tuple(found)
