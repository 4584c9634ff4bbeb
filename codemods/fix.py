"""A fix: edits of one file that belong together, and how far they can be trusted."""

from __future__ import annotations

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
