"""Fixes -> a file's new text. The one place that sorts edits, refuses overlaps and applies them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass, field

from guardfix.linter.files.sources import Source
from guardfix.linter.frontends.frontend import frontend_of

from ..choice import FixChoice
from ..fix import Edit, Fix
from ..fixable import FixableFinding


@dataclass
class Rewrite:
    """What becomes of one file."""

    source: Source
    text: bytes
    applied: list[tuple[FixableFinding, Fix]] = field(default_factory=list)
    held_back: list[tuple[FixableFinding, Fix]] = field(default_factory=list)
    """Fixes that overlap one that was applied; the next run offers them again."""
    edits: list[Edit] = field(default_factory=list)
    """Those of the applied fixes, in the file's order; none of them touches another."""
    refused: str = ""
    """Why the file is left as it was although fixes were chosen."""

    @property
    def changed(self) -> bool:
        return self.text != self.source.text

    def offset_after(self, offset: int) -> int:
        """Where a byte of the old text stands in the new one; for a removed byte, where it was removed."""
        moved = offset
        for edit in self.edits:
            if edit.span.end <= offset:
                moved += len(edit.content.encode("utf-8")) - (edit.span.end - edit.span.start)
            elif edit.span.start < offset:
                moved -= offset - edit.span.start
        return moved


def rewrite(source: Source, findings: Iterable[FixableFinding], choice: FixChoice) -> Rewrite:
    """Apply the chosen fixes of one file's findings."""
    result = Rewrite(source, source.text)
    taken: set[Edit] = set()
    for finding in findings:
        wanted = choice.wanted(finding.fix)
        for fix in wanted:
            new = set(fix.edits) - taken
            if not any(_clash(edit, other) for edit in new for other in _near(edit, result.edits)):
                taken |= new
                for edit in new:
                    insort(result.edits, edit)
                result.applied.append((finding, fix))
                break
        else:
            result.held_back += [(finding, fix) for fix in wanted[:1]]
    result.text = apply_edits(source.text, taken)
    if result.changed and _adds_errors(source, result.text):
        result.refused = "the edits would leave code that cannot be parsed"
        result.text = source.text
        result.applied, result.edits = [], []
    return result


def _near(edit: Edit, places: list[Edit]) -> list[Edit]:
    """The edits that could touch this one; `places` is sorted and free of overlaps."""
    low = bisect_left(places, edit.span, key=lambda other: other.span)
    high = bisect_right(places, edit.span.end, key=lambda other: other.span.start)
    return places[max(0, low - 2) : high + 1]


def apply_edits(text: bytes, edits: Iterable[Edit]) -> bytes:
    """The text with all edits applied, from the end to the beginning."""
    pieces: list[bytes] = []
    end = len(text)
    for edit in sorted(edits, reverse=True):
        pieces.append(text[edit.span.end : end])
        pieces.append(edit.content.encode("utf-8"))
        end = edit.span.start
    pieces.append(text[:end])
    return b"".join(reversed(pieces))


def _clash(a: Edit, b: Edit) -> bool:
    """Whether two different edits touch the same bytes. Two insertions at one place clash too."""
    if a.span.start == a.span.end or b.span.start == b.span.end:
        return (a.span.start == b.span.start and a.span.end == b.span.end) or (
            a.span.start < b.span.start < a.span.end or b.span.start < a.span.start < b.span.end
        )
    return a.span.start < b.span.end and b.span.start < a.span.end


def _adds_errors(source: Source, text: bytes) -> bool:
    """Whether the new text has more places that the parser cannot read than the old."""
    frontend = frontend_of(source.path)
    if frontend is None:
        return False
    return frontend.parse_errors(source.path, text) > frontend.parse_errors(source.path, source.text)
