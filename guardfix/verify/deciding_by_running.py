"""What each replacement of an undecided guard does to what enters it: `guardfix verify --decide`.

Programs, a project's tests and its ops can be witnesses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from guardfix.linter.decision.observed_runs import ObservedRun, keep_runs
from guardfix.linter.findings import Applicability, Confidence, Context

from .judging.counted_guards import CountedText
from .judging.guard_sites import GuardSite, SourcePlace, linkless_path
from .judging.verdicts import Judgement, Verdict
from .program_copies import Settings
from .programs.program_migration import Applied, Migration
from .programs.project_walk import files_below
from .verifying import verify

if TYPE_CHECKING:
    from guardfix.codemods.fixable import FixableFinding, FixableReport

    from .exercising.project_exercise import ExerciseSettings
    from .programs.program_discovery import Program
    from .projects.project_tests import TestSettings

_SHOWN = 5
AS_IT_IS = "left as it is"
_CONTEXTS = (Context.INFERENCE, Context.KERNEL, Context.BELOW_AUTOGRAD, Context.REMOVE)
_SURVIVES = (Verdict.SAME, Verdict.REPAIRED)
_FAILS = (Verdict.CHANGED, Verdict.STRICTER)
_SAYS_NOTHING = (Verdict.NOT_RUN, Verdict.SKIPPED, Verdict.NOTHING)


@dataclass(frozen=True)
class Witness:
    """A program, a test or an op that entered the guard, and what a replacement did to it."""

    name: str
    judgement: Judgement
    files: frozenset[str]
    """The real paths of what it was made from: when one of them changes, it says nothing any more."""
    given: str = ""
    """The call that shows a difference, of an op: its inputs as they are written in Python."""

    @property
    def named(self) -> str:
        return f"{self.name} (`{self.given}`)" if self.given else self.name


RunWitnesses = Callable[[Migration], list[Witness]]
"""Runs everything before and after a migration, and gives what entered its guard."""


@dataclass(frozen=True)
class Trial:
    """One replacement of one guard, tried with what enters it."""

    context: Context
    replacement: str
    """As it is written; `removed`."""
    results: tuple[Witness, ...]

    @property
    def survives(self) -> bool:
        """Whether all programs do what they should: what they did before, unless that was wrong."""
        return bool(self.results) and all(
            result.judgement.verdict in _SURVIVES and not result.judgement.silent_after for result in self.results
        )

    @property
    def failure(self) -> Witness | None:
        """What shows that it does something else; None where that is only unknown, as of runs that can't be compared.

        A difference that was seen is one that repeats, of a program that does the same each time.
        """
        return next(
            (one for one in self.results if one.judgement.verdict in _FAILS or one.judgement.silent_after), None
        )


@dataclass(frozen=True)
class TriedGuard:
    """What was found out about one guard."""

    site: GuardSite
    context: Context
    """What the code alone says."""
    trials: tuple[Trial, ...]

    @property
    def survivor(self) -> Trial | None:
        """The only replacement that survives; None where another one may survive as well, or nothing was run."""
        found = [trial for trial in self.trials if trial.survives]
        others = [trial for trial in self.trials if trial not in found]
        return found[0] if len(found) == 1 and others and all(trial.failure for trial in others) else None

    @property
    def silently_wrong(self) -> str:
        """How a program is silently wrong as it is; empty where none is."""
        for trial in self.trials:
            for result in trial.results:
                if result.judgement.silent_before:
                    return result.judgement.silent_before[0].message
        return ""


def undecided(report: FixableReport) -> Iterator[FixableFinding]:
    """The findings whose decision is unknown or has low confidence, about guards that can be counted."""
    for finding in report.findings:
        decision = finding.decision
        if decision is None or finding.use is None or finding.code != "GF101":
            continue
        if decision.context is Context.UNKNOWN or decision.confidence is Confidence.LOW:
            yield finding


def with_programs(programs: Sequence[Program], settings: Settings) -> RunWitnesses:
    """The programs as witnesses, for one guard: who does not enter it the first time does not enter it later."""
    reaching = list(programs)

    def run(migration: Migration) -> list[Witness]:
        results = [
            result
            for result in verify(reaching, migration, settings)
            if result.is_program and result.before is not None and any(reach.is_entered for reach in result.guards)
        ]
        reaching[:] = [result.program for result in results]
        return [
            Witness(result.name, result.judgement, result.files)
            for result in results
            if result.judgement.verdict not in _SAYS_NOTHING
        ]

    return run


def with_tests(project: Path, settings: TestSettings) -> RunWitnesses:
    """The tests of a project as witnesses."""

    def run(migration: Migration) -> list[Witness]:
        from .projects.project_tests import verify_project_tests

        result = verify_project_tests(project, migration, settings)
        files = project_sources(project)
        return [
            Witness(test.name, test.judgement, files)
            for test in result.tests
            if test.judgement.verdict not in _SAYS_NOTHING
            and any(reach.is_entered for reach in test.reach(result.sites).guards)
        ]

    return run


def with_ops(paths: Sequence[str], settings: ExerciseSettings) -> RunWitnesses:
    """The ops of a project as witnesses, called with made-up inputs."""

    def run(migration: Migration) -> list[Witness]:
        from .exercising.project_exercise import exercise_project

        result = exercise_project(paths, migration, settings)
        files = project_sources(Path(paths[0])) | result.files
        return [
            Witness(op.name, op.worst.judgement, files, op.worst.call)
            if op.worst is not None
            else Witness(op.name, Judgement(op.verdict, op.reason), files)
            for op in result.ops
            if any(op.enters(site) for site in result.sites)
        ]

    return run


_SOURCES = (".py", ".cpp", ".cc", ".cxx", ".c++", ".C", ".h", ".hpp", ".hh", ".cuh", ".inl")
_MOST_SOURCES = 5000


def project_sources(path: Path) -> frozenset[str]:
    """The real paths of the sources in a directory, or of those beside a file: what tests and ops may depend on."""
    root = linkless_path(path)
    root = root if root.is_dir() else root.parent
    return frozenset(map(str, islice(files_below(root, _SOURCES), _MOST_SOURCES)))


def decide_by_running(report: FixableReport, witnesses: Sequence[Callable[[], RunWitnesses]]) -> Iterator[TriedGuard]:
    """Try each replacement of each undecided guard, alone, with the witnesses that can enter it.

    What only one replacement survives is kept as evidence. Raises `VerificationFailed`, OSError.
    """
    observed: dict[str, list[ObservedRun]] = {}
    sources: dict[str, set[Path]] = {}
    for finding in undecided(report):
        tried = _try(finding, report, [make() for make in witnesses])
        survivor = tried.survivor
        if survivor is not None:
            assert finding.use is not None
            names = ", ".join(result.name for result in survivor.results[:3])
            failed = [(trial.replacement, trial.failure) for trial in tried.trials if trial is not survivor]
            names += "".join(f"; {what}: {one.named} is {one.judgement.verdict}" for what, one in failed if one)
            where = f"{linkless_path(finding.path)}:{tried.site.place.row}"
            run = ObservedRun(finding.use.type_span.start, survivor.context, names, where)
            observed.setdefault(finding.path, []).append(run)
            files = {Path(file) for result in survivor.results for file in result.files}
            sources.setdefault(finding.path, set()).update(files)
            keep_runs(report.project.files[finding.path].digest, observed[finding.path], sources[finding.path])
        yield tried


def _try(finding: FixableFinding, report: FixableReport, runs: Sequence[RunWitnesses]) -> TriedGuard:
    decision, use = finding.decision, finding.use
    assert decision is not None
    assert use is not None
    start = report.start(finding)
    site = GuardSite(1, SourcePlace(finding.path, start.row, start.column, finding.code), use.guard, True)
    trials: list[Trial] = []
    for context in _CONTEXTS:
        if context is Context.BELOW_AUTOGRAD and trials and trials[-1].survives:
            continue  # it hides less than the kernel guard: what survives that one would survive this one
        migration, replacement = _migration(finding, context, report, site)
        if migration is None:
            continue
        results = [witness for run in runs for witness in run(migration)]
        trials.append(Trial(context, replacement, tuple(results)))
        if not results:
            break
    return TriedGuard(site, decision.context, tuple(trials))


def _migration(
    finding: FixableFinding, context: Context, report: FixableReport, site: GuardSite
) -> tuple[Migration | None, str]:
    """The migration that replaces this guard alone, as if that were decided; None where there is no such fix."""
    from guardfix.codemods.apply.rewriting import Rewrite, apply_edits
    from guardfix.linter.guards import BELOW_ADINPLACEORVIEW, BELOW_AUTOGRAD, INFERENCE_MODE

    names = {
        Context.INFERENCE: f"c10::{INFERENCE_MODE}",
        Context.KERNEL: f"at::{BELOW_ADINPLACEORVIEW}",
        Context.BELOW_AUTOGRAD: f"at::{BELOW_AUTOGRAD}",
    }
    assert finding.decision is not None
    assert finding.use is not None
    forced = structs.replace(
        finding, decision=structs.replace(finding.decision, context=context, replacement=names.get(context))
    )
    fix, source = forced.fix, report.unchanged(finding.path)
    if fix is None or source is None or not fix.edits:
        return None, ""
    text = apply_edits(source.text, fix.edits)
    path = linkless_path(finding.path)
    rewritten = Rewrite(source, text, edits=sorted(fix.edits))
    before, counted = CountedText(source, report.project.files[finding.path]).with_counters({1: finding.use})
    if not counted:
        return None, ""
    after_text = CountedText(structs.replace(source, text=text))
    use = after_text.use_at(rewritten.offset_after(finding.use.type_span.start))
    gone = rewritten.offset_after(finding.use.span.start)
    after, counted_after = after_text.with_counters({1: use}) if use else after_text.with_counters({}, {1: gone})
    return (
        Migration(
            texts={path: source.encode(text)},
            applied=(Applied(site.place, fix.applicability is Applicability.UNSAFE, fix.message),),
            sites=(replace(site, counted=(True, bool(counted_after))),),
            counted={path: (source.encode(before), source.encode(after))},
        ),
        names.get(context, "removed"),
    )


def tried_lines(tried: TriedGuard) -> Iterator[str]:
    """What was found out about a guard, as lines of text."""
    yield f"{tried.site.where}: {tried.site.guard}, {_said(tried.context)}"
    if not tried.trials:
        yield "  No replacement can be tried here: there is no edit for it."
        return
    if not tried.trials[0].results:
        yield "  Nothing that was run enters it. Try `--test` or `--exercise`, or declare in a comment what it is for."
        return
    for trial in tried.trials:
        label = trial.replacement if trial.context is Context.REMOVE else f"With {trial.replacement}"
        label = f"  {label[:1].upper()}{label[1:]}"
        worst = sorted(trial.results, key=lambda one: one.judgement.verdict in _SURVIVES)
        for result in worst[:_SHOWN]:
            yield f"{label}, {result.named} is {result.judgement.verdict}: {result.judgement.reason}."
        if len(worst) > _SHOWN:
            well = sum(one.judgement.verdict in _SURVIVES for one in worst)
            yield f"{label}, {well} of all {len(worst)} that enter it are same or repaired."
    if tried.silently_wrong:
        yield f"  {AS_IT_IS.capitalize()}: {tried.silently_wrong}."
    if tried.survivor is not None:
        what = tried.survivor.replacement
        yield (
            f"  Only {what if what != 'removed' else 'removal'} survives. `guardfix check` and `migrate` take this as "
            "evidence, until one of the sources changes; `guardfix cache decided` lists and drops such evidence."
        )
    elif sum(trial.survives for trial in tried.trials) == 1:
        yield "  Only one survives, but another one couldn't be compared, so this doesn't decide it."
    elif any(trial.survives for trial in tried.trials):
        yield "  Several survive, so this doesn't decide it."
    else:
        yield "  None survives."


def _said(context: Context) -> str:
    return "undecided" if context is Context.UNKNOWN else f"{context.value} with low confidence"


def tried_object(tried: TriedGuard) -> dict[str, Any]:
    """What was found out about a guard, as JSON has it."""
    survivor = tried.survivor
    return {
        "filename": tried.site.place.path,
        "location": {"row": tried.site.place.row, "column": tried.site.place.column},
        "guard": tried.site.guard,
        "context": tried.context.value,
        "trials": [
            {
                "replacement": trial.replacement,
                "context": trial.context.value,
                "survives": trial.survives,
                "programs": [
                    {
                        "filename": result.name,
                        "verdict": str(result.judgement.verdict),
                        "reason": result.judgement.reason,
                    }
                    for result in trial.results
                ],
            }
            for trial in tried.trials
        ],
        "silently_wrong": tried.silently_wrong or None,
        "survivor": None if survivor is None else survivor.replacement,
    }
