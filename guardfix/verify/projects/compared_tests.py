"""The tests of a project in two rounds, before and after migration, and what each says about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from guardfix.runtime_shim.recording.guard_table import GuardCount

from ..judging.guard_outcomes import GuardOutcome, GuardReach, ProgramReach, guard_outcomes
from ..judging.guard_sites import GuardSite, linkless_path
from ..judging.lacking import missing_of_torch, missing_package
from ..judging.verdicts import Judgement, Verdict, differs, judge
from ..judging.wanted_repairs import WantedRepair
from ..programs.program_migration import Migration
from ..runs.program_runs import ProgramRun

_GROUPS = {
    "passed": "passed",
    "xpassed": "passed",
    "failed": "failed",
    "error": "failed",
    "unfinished": "failed",
    "skipped": "skipped",
    "xfailed": "xfailed",
    "not started": "not started",
}
"""Outcomes, and what they are counted as."""

_STRONGER = ("not started", "unfinished", "skipped", "xfailed", "passed", "xpassed", "error", "failed")
"""Outcomes; of several that a test has, such as those of its parts and of its tear-down, the last one here counts."""


@dataclass
class TestRun:
    """One test, run once."""

    __test__ = False

    outcome: str
    """passed, failed, error, skipped, xfailed, xpassed; `unfinished` if the process ended within it; `not started`."""
    message: str = ""
    events: list[dict[str, Any]] = field(default_factory=list, repr=False)
    counts: dict[int, GuardCount] = field(default_factory=dict)
    """The guards that it entered, by their numbers; row 0 has all its ops."""
    began: float | None = None
    """When, by the system's monotonic clock."""
    cut_off: str = ""
    """How the time limit ended it, in words; empty where it didn't."""

    @property
    def group(self) -> str:
        """passed, failed, skipped, xfailed, not started."""
        return _GROUPS[self.outcome]

    @property
    def as_program(self) -> ProgramRun:
        """The test as a program that fails where the test does, and says why."""
        status = 1 if self.group in ("failed", "not started") else 0
        return ProgramRun(status, "", f"{self.outcome} {self.message}".strip(), self.events)

    @property
    def missing(self) -> str | None:
        """The first name that the shim lacks, when that is why the test did not pass."""
        return None if self.group == "passed" else missing_of_torch(self.message)

    @property
    def said(self) -> str:
        """The first line of its message; where it has none, the outcome."""
        return self.message.strip().partition("\n")[0] or self.outcome

    def ends(self, outcome: str, message: str) -> None:
        if _STRONGER.index(outcome) > _STRONGER.index(self.outcome):
            self.outcome, self.message = outcome, message


@dataclass
class Round:
    """All tests of the project, once: built, and run by the command."""

    status: int | None
    """The exit status of the command; None when it was stopped, or never started because building failed."""
    output: str
    tests: dict[str, TestRun]
    failed_build: str | None = None
    """What building said when it failed."""
    stopped_after: float | None = None
    """The command's time limit in seconds, if it was stopped for it."""


@dataclass(frozen=True)
class ComparedTest:
    """A test before and after; None where it did not run."""

    name: str
    before: TestRun | None
    after: TestRun | None
    is_known: bool = False
    """It is known to fail on PyTorch."""
    wanted: tuple[WantedRepair, ...] = ()
    """What the migration is meant to change."""
    again: TestRun | None = None
    """Another run after the migration, of a test that differs."""
    before_again: TestRun | None = None
    """And one before it, where that could be had."""
    on_torch: bool = False
    """It ran on the installed PyTorch, so the shim is not to blame for what can't be imported."""

    @property
    def missing(self) -> str | None:
        if self.on_torch:
            return None
        return next((run.missing for run in (self.before, self.after) if run is not None and run.missing), None)

    @property
    def is_cut_off(self) -> bool:
        return any(run is not None and run.cut_off for run in (self.before, self.after))

    @property
    def differs(self) -> bool:
        return self.judgement.verdict in (Verdict.CHANGED, Verdict.STRICTER, Verdict.REPAIRED)

    @property
    def varies(self) -> bool:
        """It is not the same twice."""
        pairs = (self.before, self.before_again), (self.after, self.again)
        return any(one and other and differs(one.as_program, other.as_program, {}) for one, other in pairs)

    @cached_property
    def judgement(self) -> Judgement:
        """What the runs of the test say about the migration."""
        if self.varies:
            return Judgement(
                Verdict.UNSUPPORTED,
                "two runs of it differ, so there is nothing to compare with",
                "seed its random numbers, and keep times, addresses and the order of threads out of its results",
            )
        before, after = self.before, self.after
        missing = self.missing
        if missing is not None:
            return self._without_proof(Verdict.UNSUPPORTED, f"the shim lacks {missing}", "")
        if self.is_cut_off:
            advice = "raise `--timeout`, or let `--test` run fewer tests"
            return Judgement(Verdict.UNSUPPORTED, _cut_off(before, after), advice)
        if before is None or after is None:
            return Judgement(Verdict.CHANGED, f"before: {_told(before)}; after: {_told(after)}")
        found = judge(before.as_program, after.as_program, {}, wanted=self.wanted, on_shim=not self.on_torch)
        if found.verdict is Verdict.NOT_RUN:
            package = missing_package(before.message)
            advice = package[1] if package is not None else found.advice and _KNOWN
            return self._without_proof(Verdict.NOT_RUN, f"before and after: {_told(before)}", advice)
        if found.verdict is Verdict.SAME and before.group != "passed":
            return found.saying(Verdict.SKIPPED, _told(before), "")
        parting = found.comparison.parting if found.comparison is not None else None
        if found.verdict is Verdict.CHANGED and parting is None:
            return found.saying(Verdict.CHANGED, f"before: {_told(before)}; after: {_told(after)}", found.advice)
        return found

    def _without_proof(self, verdict: Verdict, reason: str, advice: str) -> Judgement:
        if self.is_known:
            return Judgement(Verdict.SKIPPED, f"it is known to fail on PyTorch; {reason}")
        return Judgement(verdict, reason, advice)

    def reach(self, sites: Sequence[GuardSite]) -> ProgramReach:
        """What the test says about guards."""
        found = []
        for site in sites:
            before, after = (
                None if run is None or not counted else run.counts.get(site.number, GuardCount())
                for run, counted in zip((self.before, self.after), site.counted, strict=True)
            )
            found.append(GuardReach(site, before, after))
        judgement = self.judgement
        files = frozenset(str(linkless_path(site.place.path)) for site in sites)
        failed = self.before is not None and self.before.as_program.status != 0
        ended_early = judgement.verdict in (Verdict.UNSUPPORTED, Verdict.NOT_RUN)
        return ProgramReach(
            self.name, judgement.verdict, judgement.reason, tuple(found), files, failed, ended_early=ended_early
        )


_KNOWN = "let it pass on the shim first; if it fails on PyTorch, too, say so with `--known-failures`"


def _told(run: TestRun | None) -> str:
    if run is None:
        return "did not run"
    return run.outcome if run.group == "passed" or not run.message.strip() else f"{run.outcome} ({run.said})"


def _cut_off(before: TestRun | None, after: TestRun | None) -> str:
    """On which side of the migration the time limit ended a test, and what became of the other side."""
    one, two = (run.cut_off if run is not None else "" for run in (before, after))
    if one and two:
        return f"the time limit cut it off both times: before the migration, {one}; after it, {two}"
    if one:
        return f"the time limit cut it off before the migration only: {one}; after it: {_told(after)}"
    return f"the time limit cut it off after the migration only: {two}; before it: {_told(before)}"


@dataclass(frozen=True)
class ProjectTests:
    """A project's tests, compared."""

    before: Round
    after: Round
    tests: tuple[ComparedTest, ...]
    sites: tuple[GuardSite, ...] = ()
    """The guards that were counted."""
    migration: Migration = field(default_factory=Migration)

    @property
    def reaches(self) -> list[ProgramReach]:
        return [test.reach(self.sites) for test in self.tests]

    @property
    def outcomes(self) -> list[GuardOutcome]:
        """What is known about each guard that the migration changes."""
        return guard_outcomes(self.sites, self.reaches)

    @property
    def missing(self) -> Counter[str]:
        """What the shim lacks, by how many tests stop at it."""
        return Counter(test.missing for test in self.tests if test.missing is not None)

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How many tests ended how, before and after the migration."""
        groups = tuple(dict.fromkeys(_GROUPS.values()))
        found = {when: dict.fromkeys(groups, 0) for when in ("before", "after")}
        for test in self.tests:
            for when, run in (("before", test.before), ("after", test.after)):
                found[when]["not started" if run is None else run.group] += 1
        return found


def compared(
    before: Round,
    after: Round,
    known_failures: Collection[str] = (),
    wanted: tuple[WantedRepair, ...] = (),
    *,
    on_torch: bool = False,
) -> Iterable[ComparedTest]:
    """The tests of two rounds, side by side, in the order of the first."""
    for name in dict.fromkeys([*before.tests, *after.tests]):
        one, two = (made.tests.get(name) or _never_begun(made) for made in (before, after))
        yield ComparedTest(name, one, two, name in known_failures, wanted, on_torch=on_torch)


def _never_begun(made: Round) -> TestRun | None:
    """A test that is not in a round, where that is because building failed or the round was stopped."""
    if made.failed_build is not None:
        return TestRun("not started", f"building failed: {first_error(made.failed_build).splitlines()[-1]}")
    if made.stopped_after is not None:
        return TestRun("not started", cut_off=before_it_began(made.stopped_after))
    if not made.tests and made.output:
        return TestRun("not started", f"no test ran: {end_of(made.output).splitlines()[-1]}")
    return None


def before_it_began(seconds: float) -> str:
    return f"the command was stopped after {seconds:g} s, before it began"


def first_error(output: str) -> str:
    """The compiler's first error in what building printed, or else the end of it."""
    error = next((line for line in output.splitlines() if "error:" in line), "")
    return error.strip()[:300] or end_of(output) or "it printed nothing"


def end_of(output: str) -> str:
    """The last lines of what a command printed, the long ones cut."""
    lines = [line if len(line) <= 300 else f"{line[:300]} …" for line in output.strip().splitlines()[-30:]]
    return "\n".join(lines)
