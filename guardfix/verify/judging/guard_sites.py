"""The guards of the programs' files: where they are, and the texts in which they are counted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from guardfix.regular_files import read_regular

from .counted_guards import CountedText, is_entered

if TYPE_CHECKING:
    from guardfix.codemods.apply.rewriting import Rewrite
    from guardfix.codemods.fix import Fix
    from guardfix.codemods.fixable import FixableReport
    from guardfix.linter.facts import Facts, GuardUse, Span
    from guardfix.linter.files.sources import Source


@dataclass(frozen=True)
class SourcePlace:
    """Where a finding is."""

    path: str
    row: int
    column: int
    code: str

    def in_words(self) -> str:
        """As compilers write it, with the rule: `src/a.cpp:12: GF101`."""
        return f"{self.path}:{self.row}: {self.code}"


@dataclass(frozen=True)
class GuardSite:
    """A guard whose entries are counted when a program runs."""

    number: int
    """Its row in the table of a run."""
    place: SourcePlace
    guard: str
    """Its name before the migration."""
    changed: bool
    """The migration changes it, or takes it away; else it is left as it is."""
    counted: tuple[bool, bool] = (True, True)
    """Whether there is a counter before and after: one can't be everywhere."""
    removed: bool = False
    """The migration leaves no guard in its place."""

    @property
    def where(self) -> str:
        """As compilers write it: `src/a.cpp:12`."""
        return f"{self.place.path}:{self.place.row}"


def count_guards(
    report: FixableReport, rewritten: Mapping[str, Rewrite], *, embedded: bool = True
) -> tuple[tuple[GuardSite, ...], dict[Path, tuple[bytes, bytes]]]:
    """The guards that findings are about, and old ones without; and the texts that count them, before and after."""
    from guardfix.linter.files.source_positions import SourcePositions

    places = SourcePositions(report.workspace)
    sites: list[GuardSite] = []
    texts: dict[Path, tuple[bytes, bytes]] = {}
    for path, uses in _uses_by_file(report, rewritten).items():
        first = len(sites) + 1
        for number, (use, code, changed, removed) in enumerate(uses, first):
            start = places.start(path, use.type_span)
            place = SourcePlace(path, start.row, start.column, code)
            sites.append(GuardSite(number, place, use.guard, changed, removed=removed))
        source = report.unchanged(path)
        if source is None:
            continue
        numbered = {number: found.use for number, found in enumerate(uses, first)}
        facts = report.project.files[path]
        before, counted_before = CountedText(source, facts, embedded=embedded).with_counters(numbered)
        after, counted_after = before, counted_before
        if path in rewritten:
            after, counted_after = _after(rewritten[path], numbered, embedded=embedded)
        texts[linkless_path(path)] = source.encode(before), source.encode(after)
        for number in numbered:
            counted = (number in counted_before, number in counted_after)
            sites[number - 1] = replace(sites[number - 1], counted=counted)
    return tuple(sites), texts


class _CountedUse(NamedTuple):
    """A guard of a file, and what becomes of it."""

    use: GuardUse
    code: str = ""
    """The finding's, if there is one."""
    changed: bool = False
    removed: bool = False


def _uses_by_file(report: FixableReport, rewritten: Mapping[str, Rewrite]) -> dict[str, list[_CountedUse]]:
    """By file the guards that are counted, in the file's order."""
    found: dict[str, dict[Span, _CountedUse]] = {}

    def add(path: str, counted: _CountedUse) -> None:
        if is_entered(counted.use):
            found.setdefault(path, {}).setdefault(counted.use.type_span, counted)

    for path, one in rewritten.items():
        facts = report.project.files[path]
        by_start = {use.type_span.start: use for text in (*facts.embedded, facts) for use in text.guard_uses}
        sources = {id(fix): step.source for step in (one, *one.later) for _, fix in step.applied}
        for finding, fix, offset in one.applied_where():
            if finding.use is not None:
                # What a later pass found is elsewhere in the file as it is.
                before = by_start.get(finding.use.type_span.start + offset - finding.span.start)
                if before is not None or not one.later:
                    removed = _takes_a_guard_away(fix, sources[id(fix)])
                    add(path, _CountedUse(before or finding.use, finding.code, True, removed))
    for finding in report.findings:
        if finding.use is not None:
            add(finding.path, _CountedUse(finding.use, finding.code))
    for facts in report.project.checked():
        for use in old_guards_of(facts):
            add(facts.path, _CountedUse(use))
    return {path: [by_place[span] for span in sorted(by_place)] for path, by_place in found.items()}


def _takes_a_guard_away(fix: Fix, source: Source) -> bool:
    """Whether what a fix of the text writes names fewer guards than what it replaces."""
    from guardfix.linter.guards import CPP, PYTHON

    def named(text: str) -> int:
        return sum(word in CPP or word in PYTHON for word in re.findall(r"\w+", text))

    return sum(named(edit.content) - named(source.slice(edit.span)) for edit in fix.edits) < 0


def old_guards_of(facts: Facts) -> Iterator[GuardUse]:
    """The old guards of a file; none for a piece of another language in one."""
    from guardfix.linter.frontends.frontend import frontend_named
    from guardfix.linter.guards import LEGACY

    if not frontend_named(facts.language).is_fragment:
        yield from (use for use in facts.guard_uses if use.guard == LEGACY)


def _after(rewritten: Rewrite, uses: Mapping[int, GuardUse], *, embedded: bool) -> tuple[bytes, frozenset[int]]:
    """The migrated text with counters: at what became of each guard, or where it was."""
    text = CountedText(structs.replace(rewritten.source, text=rewritten.text), embedded=embedded)
    there: dict[int, GuardUse] = {}
    gone: dict[int, int] = {}
    for number, use in uses.items():
        found = text.use_at(rewritten.offset_after(use.type_span.start))
        if found is not None:
            there[number] = found
        else:
            gone[number] = rewritten.offset_after(use.span.start)
    return text.with_counters(there, gone)


def count_guards_of(paths: Sequence[Path]) -> tuple[tuple[GuardSite, ...], list[bytes]]:
    """The guards of files that are compared as they are, and each file's text with counters."""
    from guardfix.linter.files.workspace import DISK

    sites: list[GuardSite] = []
    texts: list[bytes] = []
    for position, path in enumerate(paths):
        source = DISK.read_or_none(str(path))
        if source is None:
            texts.append(read_regular(path))
            continue
        text = CountedText(source)
        uses = [use for use in (text.facts.guard_uses if text.facts is not None else ()) if is_entered(use)]
        numbered = dict(enumerate(uses, len(sites) + 1))
        counted, numbers = text.with_counters(numbered)
        texts.append(source.encode(counted))
        for number, use in numbered.items():
            start = source.position(use.type_span.start)
            place = SourcePlace(str(path), start.row, start.column, "")
            here = number in numbers
            sites.append(GuardSite(number, place, use.guard, False, (here and position == 0, here and position == 1)))
    return tuple(sites), texts


def linkless_path(path: str | os.PathLike[str]) -> Path:
    """The path without links: one file, one path."""
    return Path(os.path.realpath(path))
