"""`guardfix verify --test` and `--exercise`: a whole project, by its own tests and by calling its ops."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from guardfix.regular_files import read_regular_text

from ..output.format_registry import load_format
from ..output.json_text import json_text
from ..output.plain_echo import echo
from .command_failure import Failure
from .command_run import CommandRun
from .progress_line import shown_progress
from .verify_running import VerifyOptions, agree_to_run, allowed_verdicts, migration_of, run_limits

if TYPE_CHECKING:
    from guardfix.codemods.choice import FixChoice

    from ..verify.exercising.project_exercise import ExercisedProject, ExerciseSettings
    from ..verify.judging.guard_outcomes import GuardOutcome
    from ..verify.programs.program_migration import Migration
    from ..verify.projects.compared_tests import ProjectTests
    from ..verify.projects.project_tests import TestSettings


def verify_project(run: CommandRun, choice: FixChoice, options: VerifyOptions) -> int:
    """Runs a project's tests, calls its ops, or does the one and then the other; the exit status."""
    from ..verify.judging.verdicts import VerificationFailed
    from ..verify.projects.project_tests import verify_project_tests

    check_project_options(run, options)
    migration = migration_of(run, choice, embedded=options.backend == "shim")
    agree_to_run(run, list(run.paths), yes=options.yes)
    tested: ProjectTests | None = None
    exercised: ExercisedProject | None = None
    try:
        if options.tests:
            with _telling(run.quiet) as tell:
                tested = verify_project_tests(Path(run.paths[0]), migration, test_settings(options), tell)
        if options.exercise:
            exercised = _exercised(run, migration, tested, exercise_settings(options))
    except (VerificationFailed, OSError) as error:
        raise Failure(str(error)) from None
    outcomes = _together(migration, tested, exercised)
    _write(run, options, tested, exercised, outcomes)
    if exercised is not None and options.save is not None:
        for path in _saved(exercised, options.save):
            echo(f"Saved {path}.", err=True)
    judged = {outcome.verdict for outcome in outcomes}
    judged |= {test.judgement.verdict for test in tested.tests} if tested is not None else set()
    judged |= {op.verdict for op in exercised.ops if op.worst is not None} if exercised is not None else set()
    return 0 if judged <= allowed_verdicts(options) else 1


_SILENT = 60.0
"""Seconds after which a line is printed if no progress line can be shown."""


@contextmanager
def _telling(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Says what goes on: in a line on a terminal, elsewhere once a minute."""
    said = time.monotonic()

    def say_sometimes(text: str) -> None:
        nonlocal said
        if not quiet and time.monotonic() - said > _SILENT:
            said = time.monotonic()
            echo(text, err=True)

    with shown_progress(quiet, "copying the project") as line:
        yield say_sometimes if line is None else line.say


def check_project_options(run: CommandRun, options: VerifyOptions) -> None:
    """Raises UsageError for what does not go with a project's tests or ops."""
    if options.tests and (len(run.paths) != 1 or not Path(run.paths[0]).is_dir()):
        raise click.UsageError("--test takes the directory of one project")
    if len(run.paths) != 1 and any(Path(path).is_dir() for path in run.paths):
        raise click.UsageError("--exercise takes one directory, or files")
    if options.backend != "shim" and options.exercise:
        raise click.UsageError("--exercise runs on the shim only")
    if options.backend == "torch":
        from guardfix.runtime_shim.cpp.compiler_diagnostics import PyTorchMissing
        from guardfix.runtime_shim.recording.real_torch import torch_folder

        try:
            torch_folder()
        except PyTorchMissing as error:
            raise Failure(str(error)) from None
    if options.exercise:
        try:
            import hypothesis
        except ImportError:
            raise Failure("--exercise needs hypothesis: pip install 'guardfix[exercise]'") from None
        assert hypothesis


def test_settings(options: VerifyOptions) -> TestSettings:
    """What the options say about building and running a project's tests."""
    from ..verify.projects.known_failures import known_failures
    from ..verify.projects.project_tests import TEST_SECONDS, TestSettings

    assert options.tests is not None, "the tests are asked for"
    file = options.known_failures
    try:
        known = known_failures(read_regular_text(file, "replace")) if file is not None else frozenset()
    except OSError as error:
        raise Failure(f"{file}: {error.strerror or error}") from None
    return TestSettings(
        options.tests,
        options.test_build,
        options.timeout or TEST_SECONDS,
        known,
        options.backend,
        options.legacy_since19,
    )


def exercise_settings(options: VerifyOptions) -> ExerciseSettings:
    """What the options say about exercising ops."""
    from ..verify.exercising.project_exercise import ExerciseSettings

    return ExerciseSettings(
        examples=options.examples,
        build=options.test_build,
        include=tuple(str(Path(folder).resolve()) for folder in options.include),
        define=options.define,
        limits=run_limits(options),
        legacy_since19=options.legacy_since19,
    )


def _exercised(
    run: CommandRun, migration: Migration, tested: ProjectTests | None, settings: ExerciseSettings
) -> ExercisedProject | None:
    """The ops, if the tests left a guard that they could reach."""
    from ..verify.exercising.project_exercise import exercise_project

    wanted = None
    if tested is not None:
        wanted = frozenset(outcome.site.number for outcome in tested.outcomes if not outcome.is_verified)
        if not wanted:
            return None
    return exercise_project(run.paths, migration, settings, wanted=wanted)


def _together(
    migration: Migration, tested: ProjectTests | None, exercised: ExercisedProject | None
) -> list[GuardOutcome]:
    """What is known about each migrated guard from tests and ops."""
    from ..verify.judging.guard_outcomes import guard_outcomes

    reaches = [*(tested.reaches if tested is not None else ()), *(exercised.reaches if exercised is not None else ())]
    sites = tested.sites if tested is not None else exercised.sites if exercised is not None else migration.sites
    return guard_outcomes(sites, reaches)


def _write(
    run: CommandRun,
    options: VerifyOptions,
    tested: ProjectTests | None,
    exercised: ExercisedProject | None,
    outcomes: list[GuardOutcome],
) -> None:
    from ..output.exercise_report import exercise_lines, exercise_object, exercise_summary
    from ..output.project_test_report import project_test_lines, project_test_object, test_counts
    from ..verify.judging.guard_outcomes import outcome_summary

    output = run.output()
    if load_format(options.output_format).for_machines:
        found = {} if tested is None else project_test_object(tested)
        if exercised is not None:
            found |= exercise_object(exercised, outcomes)
        output.write(json_text(found, indent=2))
        return
    summary = []
    by_tests: set[int] = set()
    if tested is not None:
        by_tests = {outcome.site.number for outcome in tested.outcomes if outcome.is_verified or exercised is None}
        for line in project_test_lines(tested, by_tests):
            output.write(line)
        summary.append(test_counts(tested))
    if exercised is not None:
        for line in exercise_lines(exercised, [one for one in outcomes if one.site.number not in by_tests]):
            output.write(line)
        summary.append(exercise_summary(exercised))
    elif options.exercise:
        summary.append("No op was exercised: the tests reach every migrated guard.")
    summary.append(outcome_summary(outcomes) if outcomes else "Nothing to verify: no guard was migrated.")
    if not run.quiet:
        echo("\n".join(summary), err=True)


def _saved(exercised: ExercisedProject, path: Path) -> list[Path]:
    """The programs that show differences, in files: `path`, and where there are several, `path` with numbers."""
    texts = [text for op in exercised.ops if (text := exercised.program_of(op))]
    saved = []
    for number, text in enumerate(texts, 1):
        place = path if number == 1 else path.with_name(f"{path.stem}_{number}{path.suffix}")
        try:
            place.write_text(text, encoding="utf-8")
        except OSError as error:
            raise Failure(f"{place}: {error.strerror or error}") from None
        saved.append(place)
    return saved
