"""What the migration makes of the programs' files, and what it leaves as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from guardfix.codemods.apply.leftovers import Why, why_left
from guardfix.linter.findings import Applicability

from ..judging.guard_sites import GuardSite, SourcePlace, count_guards, linkless_path, old_guards_of
from ..judging.wanted_repairs import WantedRepair, wanted_repair

if TYPE_CHECKING:
    from guardfix.codemods.apply.rewriting import Rewrite
    from guardfix.codemods.fixable import FixableReport
    from guardfix.linter.engine import Report
    from guardfix.linter.findings import Finding

    from .program_discovery import Program

_SOURCES = frozenset({".py", ".pyi", ".cpp", ".cc", ".cxx", ".c++", ".C"})

_OLD_GUARD = "GF101"
_WORDS = {
    Why.NO_FIX: "",
    Why.SHOWN_ONLY: "only a suggestion: ",
    Why.UNSAFE: "",
    Why.NOT_MOVED: "",
    Why.HELD_BACK: "its fix overlaps another one: ",
    Why.REFUSED: "",
}


@dataclass(frozen=True)
class Left:
    """A finding that is not migrated."""

    place: SourcePlace
    why: Why
    message: str
    is_guard: bool
    """It is about one use of a guard: what the program does depends on it."""
    is_undecided: bool = False
    """It is an old guard, and the code doesn't show what should replace it."""

    def in_words(self) -> str:
        return f"{self.place.in_words()}: {_WORDS[self.why]}{self.message}"


@dataclass(frozen=True)
class Applied:
    """A fix that is verified."""

    place: SourcePlace
    unsafe: bool
    message: str
    wanted: WantedRepair | None = None
    """What it is meant to change, if anything."""


@dataclass(frozen=True)
class Migration:
    """New texts of files by their real paths, with the fixes in them and the findings without one."""

    texts: Mapping[Path, bytes] = field(default_factory=dict)
    counted: Mapping[Path, tuple[bytes, bytes]] = field(default_factory=dict)
    """The texts before and after with counters beside the guards, of files that have any."""
    sites: tuple[GuardSite, ...] = ()
    """The guards that are counted."""
    applied: tuple[Applied, ...] = ()
    left: tuple[Left, ...] = ()
    old_guards: frozenset[Path] = frozenset()
    """Files that hold the old guard, found or suppressed."""

    def of(self, program: Program) -> Migration:
        """The part that may matter to a program: what is about its sources, or about a file that it may include."""
        own = program.sources
        suffixes = {".py"} if program.is_python else None

        def matters(path: Path) -> bool:
            return path in own or (path.suffix in suffixes if suffixes else path.suffix not in _SOURCES)

        left = [left for left in self.left if matters(linkless_path(left.place.path))]
        return replace(
            self,
            texts={path: text for path, text in self.texts.items() if matters(path)},
            counted={path: texts for path, texts in self.counted.items() if matters(path)},
            sites=tuple(site for site in self.sites if matters(linkless_path(site.place.path))),
            applied=tuple(fix for fix in self.applied if matters(linkless_path(fix.place.path))),
            left=tuple(sorted(left, key=lambda one: linkless_path(one.place.path) not in own)),
            old_guards=frozenset(path for path in self.old_guards if matters(path)),
        )

    def about(self, path: Path) -> Migration:
        """The part that is about one file, by its real path."""
        return replace(
            self,
            texts={one: text for one, text in self.texts.items() if one == path},
            counted={one: texts for one, texts in self.counted.items() if one == path},
            sites=tuple(site for site in self.sites if linkless_path(site.place.path) == path),
            applied=tuple(fix for fix in self.applied if linkless_path(fix.place.path) == path),
            left=tuple(left for left in self.left if linkless_path(left.place.path) == path),
            old_guards=self.old_guards & {path},
        )

    @property
    def highest_site(self) -> int:
        """The highest number of a guard that is counted."""
        return max((site.number for site in self.sites), default=0)

    @property
    def wanted(self) -> tuple[WantedRepair, ...]:
        """What the fixes are meant to change."""
        return tuple(fix.wanted for fix in self.applied if fix.wanted is not None)

    @property
    def leaves_guards(self) -> bool:
        """Nothing is migrated, and a guard is there that may hide something."""
        return not self.texts and (bool(self.old_guards) or any(left.is_guard for left in self.left))

    @property
    def foremost(self) -> Left | None:
        """The finding to speak of first when nothing is migrated."""
        return next((left for left in self.left if left.why is Why.UNSAFE), self.left[0] if self.left else None)

    @property
    def why_nothing(self) -> str:
        """Why nothing is migrated, in a clause; empty where there is nothing to migrate."""
        if self.foremost is None:
            suppressed = "there is no finding about its old guard (it is suppressed, or next to a new one)"
            return suppressed if self.old_guards else ""
        if self.foremost.why is Why.UNSAFE:
            unsafe = sum(left.why is Why.UNSAFE for left in self.left)
            count = "the one fix is unsafe" if unsafe == 1 else f"the {unsafe} fixes are unsafe"
            return f"{count}, and --safe-only is set"
        count = "1 finding has" if len(self.left) == 1 else f"{len(self.left)} findings have"
        return f"{count} no fix that can be applied"

    @property
    def why_nothing_at_length(self) -> str:
        """The same with the first finding."""
        first = f": {self.foremost.in_words()}" if self.foremost is not None else ""
        return f"nothing was migrated: {self.why_nothing}{first}" if self.why_nothing else "there is nothing to migrate"

    @property
    def remaining(self) -> tuple[int, int]:
        """How many old guards no fix replaces, and how many of these are undecided."""
        old = [left for left in self.left if left.place.code == _OLD_GUARD]
        return len(old), sum(left.is_undecided for left in old)

    @property
    def advice(self) -> str:
        """What to do about a program that stays wrong because nothing was migrated."""
        if any(left.why is Why.UNSAFE for left in self.left):
            return "leave out `--safe-only` to also verify the unsafe fixes"
        return "choose the guard by hand; the old one still hides this from autograd"


def migrate(report: FixableReport, *, embedded: bool = True) -> Migration:
    """What the fixes come to that a report takes. With `embedded`, guards of C++ in Python strings are counted, too."""
    from guardfix.codemods.apply.settling import settle
    from guardfix.linter.facts import Span
    from guardfix.linter.files.source_positions import SourcePositions
    from guardfix.linter.findings import Context

    settled = settle(report)
    places = SourcePositions(report.workspace)

    def place(finding: Finding, offset: int) -> SourcePlace:
        start = places.start(finding.path, Span(offset, offset))
        return SourcePlace(finding.path, start.row, start.column, finding.code)

    texts: dict[Path, bytes] = {}
    applied: list[Applied] = []
    refused: dict[str, str] = {}
    rewritten_files: dict[str, Rewrite] = {}
    for rewritten in settled.rewrites:
        path = rewritten.source.path
        refused[path] = rewritten.refused
        if not rewritten.changed:
            continue
        rewritten_files[path] = rewritten
        texts[linkless_path(path)] = rewritten.source.encode(rewritten.text)
        for finding, fix, offset in rewritten.applied_where():
            unsafe = fix.applicability is Applicability.UNSAFE
            applied.append(Applied(place(finding, offset), unsafe, fix.message, wanted_repair(finding)))
    left = tuple(
        Left(
            place(finding, settled.place_before(finding)),
            *why_left(finding, report.choice, refused.get(finding.path, "")),
            finding.use is not None,
            finding.decision is not None and finding.decision.context is Context.UNKNOWN,
        )
        for finding in settled.last.findings
    )
    sites, counted = count_guards(report, rewritten_files, embedded=embedded)
    return Migration(
        texts=texts,
        applied=tuple(applied),
        left=left,
        old_guards=frozenset(_old_guards(report)),
        sites=sites,
        counted=counted,
    )


def _old_guards(report: Report) -> Iterator[Path]:
    for facts in report.project.checked():
        if next(old_guards_of(facts), None) is not None:
            yield linkless_path(facts.path)
