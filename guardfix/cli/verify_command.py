"""`guardfix verify`: does a migrated program still do the same, and was the old one wrong?"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from ..output.format_registry import load_format
from ..output.json_text import json_text
from ..output.plain_echo import echo
from .chosen_fixes import FixOptions, choice_from
from .command_failure import Failure
from .command_run import CommandRun, SharedOptions, check_with, options_in, run_from
from .options import Megabytes, Seconds, choosing_all, output_format_option, selection
from .program_running import about_shared_cache
from .verify_page_file import check_page_options, write_verify_page
from .verify_running import VerifyOptions, agree_to_run, allowed_verdicts, migration_of, run_limits

if TYPE_CHECKING:
    from guardfix.codemods.choice import FixChoice

    from ..verify.deciding_by_running import RunWitnesses
    from ..verify.judging.guard_outcomes import GuardOutcome
    from ..verify.judging.verdicts import Verdict
    from ..verify.program_copies import Settings
    from ..verify.programs.program_discovery import Program
    from ..verify.verifying import Result


@click.command("verify", short_help="Run programs before and after migration and compare what they do.")
@selection
@choosing_all
@click.option(
    "--against",
    metavar="OTHER",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Compare the given program with OTHER instead of migrating it.",
)
@click.option(
    "--backend",
    type=click.Choice(["shim", "torch"]),
    default="shim",
    show_default=True,
    help="What programs run on: the runtime shim, or the installed PyTorch 2.13.",
)
@click.option(
    "--legacy-since19",
    is_flag=True,
    help="Give AutoNonVariableTypeMode only the meaning that it has had since PyTorch 1.9; by default, programs are "
    "judged under both meanings, unless minimum-torch is 1.9 or newer.",
)
@click.option(
    "--timeout",
    type=Seconds(min=0.1),
    metavar="SECONDS",
    help="Time limit of each run; with --test, of the whole command.  [default: 60; 600 with --test]",
)
@click.option(
    "--memory",
    type=Megabytes(min=1),
    default=2048,
    show_default=True,
    metavar="MB",
    help="Memory limit of each run.",
)
@click.option(
    "--yes",
    "-y",
    is_flag=True,
    envvar="GUARDFIX_YES",
    help="Don't ask before running a project's code for the first time.",
)
@click.option(
    "--env",
    "variables",
    multiple=True,
    metavar="NAME",
    help="Also pass the environment variable NAME; programs get only variables that say where and how things run.",
)
@click.option("--argument", "arguments", multiple=True, metavar="ARG", help="Pass ARG to the programs.")
@click.option(
    "--model",
    metavar="FILE",
    default="",
    help="Provide FILE to programs that load a TorchScript archive; `auto` generates one with the methods that they "
    "call, and other missing data files, such as images.",
)
@click.option(
    "--include",
    "-I",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Also search DIR for headers.",
)
@click.option(
    "--build",
    "builds",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Read from DIR how programs are built (compile_commands.json, or CMake's file API); by default, from the "
    "directories in PATHS and their `build` directories.",
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="GLOB",
    help="Also compile these files into each C++ program, as far as it uses them.",
)
@click.option(
    "--test",
    "tests",
    metavar="COMMAND",
    help="Instead of programs, run the tests of the project in PATHS, a directory: COMMAND runs them with pytest or "
    "unittest.",
)
@click.option(
    "--test-build",
    metavar="COMMAND",
    help="Build the project with COMMAND before its tests; by default `setup.py build_ext --inplace` if it has "
    "extensions.",
)
@click.option(
    "--known-failures",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --test, what COMMAND printed when it ran on PyTorch: tests that failed there needn't pass on the shim.",
)
@click.option(
    "--exercise",
    is_flag=True,
    help="Call the ops and bound functions of the files in PATHS with generated inputs, and compare; with --test, "
    "only for the guards that no test enters.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="With --exercise, run N programs with each op that enters a guard.",
)
@click.option(
    "--save",
    metavar="FILE",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="With --exercise, write the program that shows a difference to FILE.",
)
@click.option(
    "--html",
    metavar="FILE",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Also write an HTML page that shows the steps before and after side by side, with guards, tensors and "
    "autograd graphs.",
)
@click.option(
    "--missing",
    is_flag=True,
    help="Run nothing; list the PyTorch names that the C++ and Python files in PATHS use and the shim lacks.",
)
@click.option(
    "--decide",
    is_flag=True,
    help="Try each replacement for every guard that the code leaves undecided, and report what each does to the "
    "programs.",
)
@click.option("--define", "-D", multiple=True, metavar="X[=V]", help="Define the macro X.")
@click.option("--link", "-l", multiple=True, metavar="LIB", help="Link the library LIB (a name or a file).")
@click.option("--std", "standard", default="c++17", show_default=True, help="The C++ standard.")
@click.option("--compiler", metavar="CXX", help="The C++ compiler; by default $CXX, then g++, clang++, c++.")
@click.option("--allow-unsupported", is_flag=True, help="Exit with 0 even if programs can't be compared.")
@click.option("--allow-not-reached", is_flag=True, help="Exit with 0 even if migrated guards were not entered.")
@click.option("--verbose", "-v", is_flag=True, help="Also show the guards, the steps and what was not migrated.")
@output_format_option("verdicts", show_default=True)
def command(**arguments: Any) -> None:
    """Run each program at and below PATHS before and after migration, and report what changed.

    This runs your code: without network, writing only to copies, and within limits, as far as the system supports
    that. guardfix asks before the first run of a project; --yes (or GUARDFIX_YES=1) agrees in advance.

    Programs are C++ files with a main and Python scripts that use torch. Each is migrated in a copy, including the
    unsafe fixes; your files are not changed. A program with an old guard that no fix replaces is run once to see
    whether it is silently wrong. Verdicts: same; repaired (it was silently wrong before); stricter (it worked before
    and now raises an error); changed; not run (it fails before and after); not reached (it entered none of the migrated
    guards, or ended before it used torch); unsupported (it could not be compared); skipped (a test that isn't meant to
    pass here); nothing to verify (no guard of it is migrated). The migrated guards are what counts: for each, the
    report says how often it was entered and how many ops ran under it.

    Exit status: 0 if all are same, repaired, skipped or nothing to verify, 1 if one is stricter, changed, not run, not
    reached or unsupported, 2 if nothing could be verified.
    """
    from ..verify.runs.program_runs import pass_variables

    if shared := about_shared_cache():
        raise Failure(shared)
    options = options_in(VerifyOptions, arguments)
    run = run_from(options_in(SharedOptions, arguments))
    choice = choice_from(options_in(FixOptions, arguments), run.options.minimum_torch)
    pass_variables(options.variables)
    if options.missing:
        from .verify_missing import list_missing

        sys.exit(list_missing(run, options))
    page = options.html
    if page is not None:
        check_page_options(options)
    from ..output.report_summary import verdict_summary
    from ..verify.judging.guard_meanings import meanings_in_use
    from ..verify.program_copies import Settings

    settings = Settings(
        backend=options.backend,
        meanings=meanings_in_use(run.options.minimum_torch, since19_only=options.legacy_since19),
        limits=run_limits(options),
        arguments=options.arguments,
        model=_model(options.model),
        include=options.include,
        define=options.define,
        link=options.link,
        standard=options.standard,
        compiler=options.compiler,
        detailed=page is not None,
    )
    if options.decide:
        sys.exit(_decide(run, choice, options, settings))
    if options.tests or options.exercise:
        from .verify_project import verify_project

        sys.exit(verify_project(run, choice, options))
    output_format = load_format(options.output_format)
    assert output_format.verdicts is not None, "only formats that can write verdicts are offered"
    results: list[Result] = []
    found = _noted(_results(run, choice, options, settings), results)
    output_format.verdicts(found, settings.backend, replace(run.output(), verbose=options.verbose))
    if not any(result.is_program for result in results):
        echo(
            "guardfix verify: no programs found: no C++ file with a main, and no Python script that uses torch",
            err=True,
        )
        sys.exit(2)
    if page is not None:
        write_verify_page(page, results, settings.backend, quiet=run.quiet)
    outcomes = _outcomes(results)
    if not run.quiet:
        for note in _not_contained(results):
            echo(note, err=True)
    if not output_format.for_machines and not run.quiet:
        echo(verdict_summary(results, outcomes), err=True)
    sys.exit(0 if exit_verdicts(results, outcomes) <= allowed_verdicts(options) else 1)


def _model(given: str) -> str:
    if given and given != "auto" and not Path(given).is_file():
        raise click.UsageError(f"--model: {given} isn't a file; name a TorchScript archive, or `auto`")
    return given


def exit_verdicts(results: Sequence[Result], outcomes: Sequence[GuardOutcome]) -> set[Verdict]:
    """The verdicts that decide on the exit status: those of the guards, and of programs.

    A program that reaches no guard doesn't fail if others reach the guards.
    """
    from ..verify.judging.verdicts import Verdict

    judged = {outcome.verdict for outcome in outcomes}
    for result in results:
        verdict = result.judgement.verdict
        reaches = any(reach.site.changed for reach in result.guards)
        if verdict is not Verdict.NOT_REACHED or not reaches or not result.is_program:
            judged.add(verdict)
    return judged


def _not_contained(results: Sequence[Result]) -> Iterator[str]:
    """What this system could not keep the programs from."""
    from ..verify.runs.program_runs import free_to

    runs = [run for result in results for run in (result.before, result.after) if run is not None]
    for what in free_to(runs):
        yield f"note: not contained on this system: the programs could {what}"


def _outcomes(results: Sequence[Result]) -> list[GuardOutcome]:
    """What is known about each guard that the migration changes."""
    from ..verify.judging.guard_outcomes import guard_outcomes

    sites = {site.number: site for result in results if not result.against for site in result.migration.sites}
    programs = [result.reach for result in results if result.is_program]
    return guard_outcomes([sites[number] for number in sorted(sites)], programs)


def _noted(found: Iterator[Result], results: list[Result]) -> Iterator[Result]:
    """The results, which are added to the list as they come; when nothing can be verified any more, the run ends."""
    from guardfix.linter.files.discovery import NoSuchPath

    from ..verify.judging.verdicts import VerificationFailed

    while True:
        # Only what verifying raises is caught: an error of who writes the results is another matter.
        try:
            result = next(found, None)
        except NoSuchPath as error:
            raise Failure(f"no such file or directory: {error}") from None
        except VerificationFailed as error:
            echo(f"guardfix verify: {error}", err=True)
            sys.exit(2)
        except OSError as error:
            echo(f"guardfix verify: {error.filename or 'a copy'}: {error.strerror or error}", err=True)
            sys.exit(2)
        if result is None:
            return
        results.append(result)
        yield result


def _decide(run: CommandRun, choice: FixChoice, options: VerifyOptions, settings: Settings) -> int:
    """Writes what each replacement does; 0 where every guard is decided now."""
    from guardfix.codemods.fixable import fixes_for

    from ..verify.deciding_by_running import decide_by_running, tried_lines, tried_object, undecided, with_programs
    from ..verify.judging.verdicts import VerificationFailed

    witnesses: list[Callable[[], RunWitnesses]] = []
    named, units = list(run.paths), set()
    if options.tests or options.exercise:
        witnesses += _project_witnesses(run, options)
    else:
        programs = _programs(run, options, settings)
        units = {str(unit.path) for program in programs for unit in program.build.units}
        named = [str(program.path) for program in programs]
        witnesses.append(lambda: with_programs(programs, settings))
    report = fixes_for(check_with(_with_paths(run, units)), choice=choice)
    if any(undecided(report)):
        agree_to_run(run, named, yes=options.yes)
    output = run.output()
    for_machines = load_format(options.output_format).for_machines
    found = []
    try:
        for tried in decide_by_running(report, witnesses):
            found.append(tried)
            if not for_machines:
                output.write("\n".join(tried_lines(tried)))
    except (VerificationFailed, OSError) as error:
        raise Failure(str(error)) from None
    if for_machines:
        output.write(json_text([tried_object(tried) for tried in found], indent=2))
    decided = sum(tried.survivor is not None for tried in found)
    if not for_machines and not run.quiet:
        echo(f"{decided} of {len(found)} undecided guards decided by running.", err=True)
    return 0 if decided == len(found) else 1


def _project_witnesses(run: CommandRun, options: VerifyOptions) -> Iterator[Callable[[], RunWitnesses]]:
    """The project's tests, its ops, or both."""
    from ..verify.deciding_by_running import with_ops, with_tests
    from .verify_project import check_project_options, exercise_settings, test_settings

    check_project_options(run, options)
    if options.tests:
        yield lambda: with_tests(Path(run.paths[0]), test_settings(options))
    if options.exercise:
        yield lambda: with_ops(run.paths, exercise_settings(options))


def _results(run: CommandRun, choice: FixChoice, options: VerifyOptions, settings: Settings) -> Iterator[Result]:
    from ..verify.judging.wanted_repairs import repairs_between
    from ..verify.verifying import needs_running, verify, verify_against

    other = options.against
    if other is not None:
        if len(run.paths) != 1 or not Path(run.paths[0]).is_file():
            raise click.UsageError("--against takes exactly one file to compare with")
        agree_to_run(run, [run.paths[0], str(other)], yes=options.yes)
        wanted = repairs_between(
            *(check_with(replace(run, paths=(str(path),))).findings for path in (run.paths[0], other))
        )
        yield verify_against(Path(run.paths[0]), other, settings, wanted)
        return
    programs = _programs(run, options, settings)
    if programs:
        units = {str(unit.path) for program in programs for unit in program.build.units}
        migration = migration_of(_with_paths(run, units), choice, embedded=settings.backend == "shim")
        run_ones = [str(program.path) for program in programs if needs_running(program, migration)]
        agree_to_run(run, run_ones, yes=options.yes)
        yield from verify(programs, migration, settings)


def _programs(run: CommandRun, options: VerifyOptions, settings: Settings) -> list[Program]:
    """The programs at and below the paths, with what they are built from."""
    from ..verify.programs.program_discovery import find_programs, with_builds
    from ..verify.programs.project_builds import BadBuild

    programs = find_programs(
        run.paths,
        exclude=run.options.exclude,
        respect_gitignore=run.options.respect_gitignore,
        gtest="gtest" in settings.link,
    )
    try:
        return with_builds(programs, options.builds, options.sources)
    except BadBuild as error:
        raise Failure(str(error)) from None


def _with_paths(run: CommandRun, files: Set[str]) -> CommandRun:
    """The run over further files that programs are built from, unless its paths hold them."""
    given = [Path(path).resolve() for path in run.paths]
    more = sorted(file for file in files if not any(Path(file).is_relative_to(path) for path in given))
    return replace(run, paths=(*run.paths, *(os.path.relpath(file) for file in more)))
