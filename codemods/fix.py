"""A fix: edits of one file that belong together, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from guardfix.linter.facts import Span
from guardfix.linter.findings import Applicability
from guardfix.linter.named_tuples import NamedTuple


class Edit(NamedTuple):
    """Replace the bytes of `span` by `content`."""

    span: Span
    content: str


def insertion(offset: int, content: str) -> Edit:
    """The edit that writes `content` before the byte at `offset`."""
    return Edit(Span(offset, offset), content)


def keeping_last_end(text: bytes, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits, changed so that the text's last line has the end that it had, or none as before."""
    rest, start, content = sorted(edits), len(text), ""
    if not rest or rest[-1].span.end < start:
        return tuple(edits)
    # What then is last, with what follows it.
    while not content.strip(_LINE_ENDS) and start:
        if rest and rest[-1].span.end == start:
            edit = rest.pop()
            content, start = edit.content + content, edit.span.start
        elif chr(text[start - 1]) in _LINE_ENDS:
            start -= 1
            content = chr(text[start]) + content
        else:
            break
    had, has = _last_end(text[-2:].decode("latin-1")), _last_end(content)
    if had == has or (not start and not content):
        return tuple(edits)
    return (*rest, Edit(Span(start, len(text)), content.rstrip(_LINE_ENDS) + had))


_LINE_ENDS = "\r\n"


def _last_end(text: str) -> str:
    return next((end for end in ("\r\n", "\n", "\r") if text.endswith(end)), "")


class Fix(Struct, frozen=True):
    """Edits of one file that belong together: all of them are applied, or none."""

    message: str
    applicability: Applicability
    edits: tuple[Edit, ...]
    name: str = ""
    """Names a fix that a user may take or leave on its own (`hoist`)."""
    further: tuple[Fix, ...] = ()
    """Fixes that can be taken in its place and reach further, each offered on its own."""


HOIST = "hoist"
"""The name of the fixes that move a guard above a model load."""
