"""Programs -> verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from guardfix.linter.guards import LEGACY

from .judging.guard_meanings import SINCE_19, by_both_meanings
from .judging.guard_outcomes import GuardReach, ProgramReach, reached, with_reach
from .judging.guard_sites import count_guards_of, linkless_path
from .judging.verdicts import Judgement, Verdict, differs, judge, judge_alone, not_deterministic
from .judging.wanted_repairs import WantedRepair
from .program_copies import ProgramCopies, Settings, VerifiedProgram
from .programs.program_discovery import Program
from .programs.program_migration import Migration
from .runs.program_runs import ProgramRun


@dataclass(frozen=True)
class Result:
    """What was found out about one program, or about a file that no program compiles."""

    program: Program
    judgement: Judgement
    before: ProgramRun | None = None
    after: ProgramRun | None = None
    judged: tuple[ProgramRun, ProgramRun | None] | None = None
    """The runs that the judgement is about, where those are the ones with the old guard's other meaning."""
    left_out: str = ""
    """The files beside the program that were not copied, in words."""
    against: str = ""
    migration: Migration = field(default_factory=Migration)
    """The part of the migration that may matter to the program."""
    guards: tuple[GuardReach, ...] = ()
    """The guards that were counted: those of the migration's part, or those of the two programs compared."""
    files: frozenset[str] = frozenset()
    """The real paths of the files that were compiled into the program, or imported by it."""
    notes: tuple[str, ...] = ()
    """What has to be known about the runs."""
    is_program: bool = True
    """False for a file that has fixes and belongs to no program."""

    @property
    def name(self) -> str:
        return str(self.program.path)

    @property
    def judged_runs(self) -> tuple[ProgramRun | None, ProgramRun | None]:
        """Before and after, as the judgement saw them; None for what was not run."""
        return self.judged or (self.before, self.after)

    @property
    def reach(self) -> ProgramReach:
        """What the result says about guards."""
        failed = self.before is not None and self.before.status != 0
        return ProgramReach(self.name, self.judgement.verdict, self.judgement.reason, self.guards, self.files, failed)


def verify(programs: Sequence[Program], migration: Migration, settings: Settings) -> Iterator[Result]:
    """One result for each program, in their order, then one for each file with fixes that no program compiles.

    A program that the migration changes is run before and after; one in which it leaves a guard as it is, once.
    Raises `VerificationFailed` when nothing can be run, OSError when a copy can't be made.
    """
    files: set[str] = set()
    for result in _programs(programs, migration, settings):
        files |= result.files
        yield result
    yield from _uncompiled(migration, files)


def needs_running(program: Program, migration: Migration) -> bool:
    """Whether verifying runs the program: the migration changes it, or leaves a guard in it."""
    part = migration.of(program)
    return bool(part.texts) or part.leaves_guards


def _programs(programs: Sequence[Program], migration: Migration, settings: Settings) -> Iterator[Result]:
    for (root, _), group in groupby(programs, key=lambda program: (program.root, program.named)):
        members = [(program, migration.of(program)) for program in group]
        with ExitStack() as stack:
            copies: ProgramCopies | None = None
            for program, part in members:
                own = frozenset({str(linkless_path(program.path))})
                if not part.texts and not part.leaves_guards:
                    judgement = Judgement(Verdict.NOTHING, part.why_nothing_at_length, headline=part.why_nothing)
                    yield Result(program, judgement, migration=part, files=own)
                    continue
                if copies is None:
                    copies = stack.enter_context(ProgramCopies(root, root, settings))
                result = _Trial(copies, VerifiedProgram(program, migration, part), part.wanted).result()
                yield replace(result, migration=part, files=result.files | own)


def _uncompiled(migration: Migration, files: Set[str]) -> Iterator[Result]:
    """The files with fixes that no program compiles: nothing was found out about them."""
    for path in sorted(migration.texts):
        if str(path) in files:
            continue
        part = migration.about(path)
        shown = Path(next(fix.place.path for fix in part.applied))
        what = "imports" if shown.suffix == ".py" else "compiles"
        fixes = f"{len(part.applied)} fix{'' if len(part.applied) == 1 else 'es'}"
        judgement = Judgement(
            Verdict.NOT_REACHED,
            f"no program {what} this file, so nothing is known about its {fixes}",
            "name a program that uses it"
            if what == "imports"
            else "name its sources with `--source`, or a build "
            "directory with `--build`, so it becomes part of a program",
        )
        yield Result(Program(shown, shown.parent, named=False), judgement, migration=part, is_program=False)


def verify_against(first: Path, second: Path, settings: Settings, wanted: tuple[WantedRepair, ...] = ()) -> Result:
    """Compare two given programs, of which the second one is meant to repair what is `wanted`."""
    program, other = (Program(path, path.parent, named=True) for path in (first, second))
    sites, (before, after) = count_guards_of((first, second))
    counted = {linkless_path(first): (before, before), linkless_path(second): (after, after)}
    if len(counted) == 1:  # a program against itself: its guards have one number in each copy
        counted = {linkless_path(first): (before, after)}
    migration = Migration(sites=sites, counted=counted)
    with ProgramCopies(program.root, other.root, settings) as copies:
        result = _Trial(copies, VerifiedProgram(program, migration, migration, other), wanted).result()
    return replace(result, against=str(second))


def run_once(program: Program, settings: Settings) -> ProgramRun:
    """Run a program as it is, in a copy. Raises OSError when that can't be made."""
    with ProgramCopies(program.root, program.root, settings) as copies:
        copies.fill(VerifiedProgram(program), counted=False)
        (run,) = copies.run({0: program}, "run", program)
    return run


class _Trial:
    """The life of a verdict: the program is run before and after, or once if nothing changes, judged, and the judgement
    is put to the test: by the old guard's other meaning, by a second run, and by what the guards were seen to do.
    """

    def __init__(self, copies: ProgramCopies, subject: VerifiedProgram, wanted: Sequence[WantedRepair]) -> None:
        self.copies = copies
        self.subject = subject
        self.wanted = wanted
        self.meanings = copies.settings.meanings
        self.counted = bool(subject.part.sites)
        self.places = copies.places(subject)

    def result(self) -> Result:
        subject, copies = self.subject, self.copies
        copies.precompile(subject.program)
        runs = self._run()
        judgement = self._judge(runs, uncovered=self._run_uncovered())
        others = self._run_with_other_meaning(runs)
        if others:
            judgement = by_both_meanings(dict(zip(self.meanings, (judgement, self._judge(others)), strict=True)))
        if not subject.is_alone and self._is_random(judgement, runs):
            judgement = not_deterministic()
        files = copies.files(*runs)
        guards = self._guards(runs, files)
        judgement = self._with_reach(judgement, runs, guards)
        other_meaning = others and judgement.meaning == self.meanings[1]
        return Result(
            subject.program,
            judgement,
            *_before_and_after(runs),
            judged=_before_and_after(others) if other_meaning else None,
            left_out=copies.left_out(),
            guards=guards,
            files=files,
            notes=copies.notes(*runs),
        )

    def _run(self) -> list[ProgramRun]:
        """The runs, with counters beside the guards unless the program doesn't compile with them."""
        self.copies.fill(self.subject, counted=self.counted)
        runs = self._start("run", range(1 if self.subject.is_alone else 2))
        if self.counted and any(map(_fails_by_a_counter, runs)):
            self.counted = False
            self.copies.fill(self.subject, counted=False)
            runs = self._start("run", range(len(runs)))
        return runs

    def _start(self, name: str, which: Iterable[int], meaning: str = "") -> list[ProgramRun]:
        programs = {index: self.subject.both[index] for index in which}
        guards = self.subject.part.highest_site
        return self.copies.run(programs, name, self.subject.program, guards=guards, meaning=meaning)

    def _judge(self, runs: Sequence[ProgramRun], uncovered: ProgramRun | None = None) -> Judgement:
        on_shim = self.copies.settings.backend == "shim"
        if self.subject.is_alone:
            part = self.subject.part
            why = part.why_nothing_at_length, part.why_nothing
            return judge_alone(runs[0], self.places, why, part.advice, uncovered=uncovered, on_shim=on_shim)
        return judge(runs[0], runs[1], self.places, uncovered=uncovered, wanted=self.wanted, on_shim=on_shim)

    def _run_uncovered(self) -> ProgramRun | None:
        """A run in which no guard hides anything, if the runs themselves can't tell what was hidden."""
        if self.copies.settings.backend != "torch" or self.meanings[0] == SINCE_19:
            return None
        return self._run_again("uncovered", uncovered=True)

    def _run_again(self, name: str, *, uncovered: bool = False) -> ProgramRun:
        program = self.subject.program
        (run,) = self.copies.run({0: program}, name, program, uncovered=uncovered)
        return run

    def _run_with_other_meaning(self, runs: Sequence[ProgramRun]) -> list[ProgramRun]:
        """The runs again, with the old guard's other meaning; none if that makes no difference.

        A run that entered no old guard is what it was.
        """
        if len(self.meanings) == 1 or self.copies.settings.backend != "shim" or not self.counted:
            return []
        if any(run.failed is not None or run.timed_out for run in runs):
            return []
        old = [site.number for site in self.subject.part.sites if site.guard == LEGACY]
        entered = [
            index
            for index, run in enumerate(runs)
            if any(number < len(run.counts) and run.counts[number].entered for number in old)
        ]
        if not entered:
            return []
        again = dict(zip(entered, self._start("other", entered, self.meanings[1]), strict=True))
        return [again.get(index, run) for index, run in enumerate(runs)]

    def _is_random(self, judgement: Judgement, runs: Sequence[ProgramRun]) -> bool:
        """Whether the program differs from itself, where it was said to differ from the other."""
        if judgement.verdict not in (Verdict.CHANGED, Verdict.STRICTER, Verdict.REPAIRED):
            return False
        return differs(runs[0], self._run_again("again"), self.places)

    def _guards(self, runs: Sequence[ProgramRun], files: Set[str]) -> tuple[GuardReach, ...]:
        program = self.subject.program
        before, after = _before_and_after(runs)
        counts = [run.counts if run is not None and self.counted else () for run in (before, after)]
        guards = reached(self.subject.part.sites, *counts)
        if self.subject.is_alone or self.subject.other is not None:
            return guards
        # A Python program that is stopped can't say what it has imported.
        known = files or ({str(linkless_path(program.path))} if program.is_python else files)
        # A guard in a header counts only if the program includes that header.
        return tuple(
            reach
            for reach in guards
            if not known or reach.is_entered or str(linkless_path(reach.site.place.path)) in known
        )

    def _with_reach(self, judgement: Judgement, runs: Sequence[ProgramRun], guards: Sequence[GuardReach]) -> Judgement:
        """The judgement, as far as the guards that it is about were reached."""
        compared = self.subject.other is not None
        if self.subject.is_alone:
            if runs[0].failed is not None:
                return judgement
            return with_reach(judgement, runs[0], [reach for reach in guards if reach.is_entered])
        wanted = [reach for reach in guards if reach.site.changed or compared]
        if wanted:
            return with_reach(judgement, runs[0], wanted)
        if judgement.verdict is Verdict.SAME or (judgement.verdict is Verdict.NOT_RUN and not compared):
            why = "neither program has a guard" if compared else "the migration changes none of its guards"
            reason = f"{why}; {judgement.reason}"
            return judgement.saying(Verdict.NOTHING, reason, judgement.advice, _nothing(judgement))
        return judgement


def _before_and_after(runs: Sequence[ProgramRun]) -> tuple[ProgramRun, ProgramRun | None]:
    return runs[0], runs[1] if len(runs) > 1 else None


def _nothing(judgement: Judgement) -> str:
    """The headline of a program that runs, and whose guards stay as they are."""
    if judgement.silent_before:
        return f"it is silently wrong: {judgement.silent_before[0].brief}"
    return judgement.reason if judgement.verdict is Verdict.NOT_RUN else ""


def _fails_by_a_counter(run: ProgramRun) -> bool:
    """Whether the program does not compile because of a counter beside one of its guards."""
    failure = run.failed
    return failure is not None and failure["kind"] == "compile" and "guardfix::" in failure["message"]
