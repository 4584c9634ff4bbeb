"""A fix: edits of one file that belong together, and how far they can be trusted."""

from __future__ import annotations

from msgspec import Struct

from guardfix.linter.facts import Span
from guardfix.linter.named_tuples import NamedTuple
from guardfix.linter.str_enum import StrEnum


class Applicability(StrEnum):
    """Safe: the meaning is kept. Unsafe: it may change. Display: shown, never applied."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"

    def at_most(self, other: Applicability) -> Applicability:
        """The one of the two that claims less."""
        return max(self, other, key=list(Applicability).index)


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
