"""A fix as two columns: the lines before, and the lines after."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from guardfix.codemods.apply.rewriting import apply_edits
from guardfix.codemods.fix import Edit
from guardfix.foreign_text import same_length
from guardfix.linter.facts import Span
from guardfix.linter.files.sources import Source

_AROUND = 1
"""Unchanged rows that are shown above and below an edit."""


class ColumnRow(NamedTuple):
    """One row of the two columns; None where a side has no line there."""

    row_before: int | None
    before: str | None
    row_after: int | None
    after: str | None

    @property
    def is_same(self) -> bool:
        return self.before == self.after


def columns(source: Source, edits: Iterable[Edit]) -> list[list[ColumnRow]]:
    """What edits make of a text: a list of rows for each place that changes."""
    shift = 0
    found = []
    for first, last, group in _places(source, sorted(set(edits))):
        start = source.line_starts[first - 1]
        end = source.line_starts[last] if last < len(source.line_starts) else len(source.text)
        moved = [Edit(Span(edit.span.start - start, edit.span.end - start), edit.content) for edit in group]
        before = _lines(source.text[start:end])
        after = _lines(apply_edits(source.text[start:end], moved))
        found.append(list(_rows(before, after, first, first + shift)))
        shift += len(after) - len(before)
    return found


def _places(source: Source, edits: list[Edit]) -> Iterator[tuple[int, int, list[Edit]]]:
    """(first row, last row, edits) of each place; what is near is one place."""
    last_row = len(source.line_starts)
    group: list[Edit] = []
    first = last = 0
    for edit in edits:
        begins = max(1, source.row(edit.span.start) - _AROUND)
        ends = min(last_row, source.row(edit.span.end) + _AROUND)
        if group and begins > last + 1:
            yield first, last, group
            group = []
        first = min(first, begins) if group else begins
        last = max(last, ends) if group else ends
        group.append(edit)
    if group:
        yield first, last, group


def _lines(text: bytes) -> list[str]:
    lines = text.decode("utf-8", "replace").removesuffix("\n").split("\n") if text else []
    return [same_length(line.rstrip("\r")) for line in lines]


def _rows(before: list[str], after: list[str], row_before: int, row_after: int) -> Iterator[ColumnRow]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for _, a, b, c, d in matcher.get_opcodes():
        for number in range(max(b - a, d - c)):
            old, new = a + number < b, c + number < d
            yield ColumnRow(
                row_before + a + number if old else None,
                before[a + number] if old else None,
                row_after + c + number if new else None,
                after[c + number] if new else None,
            )
