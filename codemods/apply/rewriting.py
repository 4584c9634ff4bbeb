"""Fixes -> a file's new text. The one place that sorts edits, refuses overlaps and applies them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import gt

from guardfix.linter.bounded_work import PARSING, BoundedWork
from guardfix.linter.facts import Span
from guardfix.linter.files.sources import Source
from guardfix.linter.frontends.frontend import frontend_of

from ..choice import FixChoice
from ..fix import Edit, Fix
from ..fixable import FixableFinding, FixableReport
from .line_changes import StayingPart, parts_that_stay, then_stay


@dataclass
class Rewrite:
    """What becomes of one file."""

    source: Source
    text: bytes
    applied: list[tuple[FixableFinding, Fix]] = field(default_factory=list)
    held_back: list[tuple[FixableFinding, Fix]] = field(default_factory=list)
    """Fixes that overlap one that was applied; the next pass offers them again."""
    edits: list[Edit] = field(default_factory=list)
    """Those of the applied fixes, in the file's order; none of them touches another."""
    later: tuple[Rewrite, ...] = ()
    """What further passes made of the new text, each of what the one before it left; `text` and `applied` have it."""
    refused: str = ""
    """Why the file, or what is left to do in it, is left as it is although fixes were chosen."""

    @property
    def changed(self) -> bool:
        return self.text != self.source.text

    def then(self, further: Rewrite) -> Rewrite:
        """This rewrite and, of its result, a further one, as one."""
        if not further.changed:
            return replace(self, refused=further.refused)
        text = further.text
        if (further.source.encoding, further.source.bom) != (self.source.encoding, self.source.bom):
            # The bytes read as another encoding, once some of them were gone.
            text = self.source.text_of(further.source.encode(further.text))
        return replace(
            self,
            text=text,
            applied=[*self.applied, *further.applied],
            held_back=further.held_back,
            later=(*self.later, further),
            refused=further.refused,
        )

    def applied_where(self) -> Iterator[tuple[FixableFinding, Fix, int]]:
        """The applied fixes, each with the place in the old text where what it is about begins."""
        own = len(self.applied) - sum(len(one.applied) for one in self.later)
        earlier: list[_Shifts] = []
        for applied, step in ((self.applied[:own], self), *((one.applied, one) for one in self.later)):
            for finding, fix in applied:
                offset = finding.span.start
                for shifts in reversed(earlier):
                    offset = shifts.moved(offset)
                yield finding, fix, offset
            earlier.append(step._backward)

    def offset_after(self, offset: int) -> int:
        """Where a byte of the old text is in the new one; for a removed byte, where it was removed."""
        for one in (self, *self.later):
            offset = one._forward.moved(offset)
        return offset

    def offset_before(self, offset: int) -> int:
        """Where a byte of the new text was in the old one; for an inserted byte, where it was inserted."""
        for one in reversed((self, *self.later)):
            offset = one._backward.moved(offset)
        return offset

    def stays(self) -> list[StayingPart]:
        """The parts of the old text that no edit of any pass touched."""
        parts = parts_that_stay(self.edits, len(self.source.text))
        for one in self.later:
            parts = then_stay(parts, parts_that_stay(one.edits, len(one.source.text)))
        return parts

    @cached_property
    def _forward(self) -> _Shifts:
        return _Shifts(self.edits)

    @cached_property
    def _backward(self) -> _Shifts:
        return _Shifts(_reversed(self.edits))


class _Shifts:
    """Where edits move what follows them; they are in the file's order, and none touches another."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._spans = [edit.span for edit in edits]
        self._by = [0]
        """How far the first of them move what is behind them."""
        for edit in edits:
            self._by.append(self._by[-1] + len(edit.content.encode("utf-8")) - (edit.span.end - edit.span.start))

    def moved(self, offset: int) -> int:
        passed = bisect_right(self._spans, offset, key=lambda span: span.end)
        inside = self._spans[passed : passed + 1]
        start = inside[0].start if inside and inside[0].start < offset else offset
        return start + self._by[passed]


def _reversed(edits: Iterable[Edit]) -> list[Edit]:
    """The edits that lead back, as far as lengths go."""
    back, shift = [], 0
    for edit in edits:
        start, new = edit.span.start + shift, len(edit.content.encode("utf-8"))
        old = edit.span.end - edit.span.start
        back.append(Edit(Span(start, start + new), " " * old))
        shift += new - old
    return back


def rewrites(report: FixableReport) -> Iterator[Rewrite]:
    """What one pass makes of each file that has a fix to apply."""
    for path, group in groupby(report.findings, key=lambda finding: finding.path):
        findings = [finding for finding in group if report.may_have_fix(finding)]
        if not findings:
            continue
        source = report.unchanged(path)
        if source is None:
            yield Rewrite(Source(path, b""), b"", refused="it changed since it was checked; run again")
            continue
        rewritten = rewrite(source, findings, report.choice, report.work)
        if rewritten.changed or rewritten.refused:
            yield rewritten


def rewrite(
    source: Source, findings: Iterable[FixableFinding], choice: FixChoice, work: BoundedWork | None = None
) -> Rewrite:
    """Apply the chosen fixes of one file's findings."""
    result = Rewrite(source, source.text)
    taken: set[Edit] = set()
    for finding in findings:
        wanted = choice.wanted(finding.fix, chosen=finding.chosen)
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
    result.refused = _refused(source, result.text, work or BoundedWork()) if result.changed else ""
    if result.refused:
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


def _refused(source: Source, text: bytes, work: BoundedWork) -> str:
    """Why a file must not get the text; empty when it may."""
    found = work.each(lambda _: _adds_errors(source, text), [source.path], PARSING)
    if not found:
        return work.left_out[source.path]
    return "the edits would leave code that cannot be parsed" if found[0] else ""


def _adds_errors(source: Source, text: bytes) -> bool:
    """Whether the new text has more places that the parser cannot read than the old."""
    frontend = frontend_of(source.path)
    if frontend is None:
        return False
    new, old = (frontend.parse_errors(source.path, one) for one in (text, source.text))
    gated = text.count(b"#if") > source.text.count(b"#if")  # a gate is in the way of a parser that sees no mask
    return any(map(gt, new[:1] if gated else new, old))
