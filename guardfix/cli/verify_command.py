"""`guardfix verify`: does a migrated program still do the same, and was the old one wrong?"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..output.format_registry import load_format
from .command_failure import Failure
from .command_run import CommandRun, check_with, run_from
from .options import choice_from, choosing_all, output_format_option, selection

if TYPE_CHECKING:
    from guardfix.codemods.choice import FixChoice

    from ..verify.program_migration import Migration
    from ..verify.verifying import Result, Settings


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
    help="Give AutoNonVariableTypeMode the meaning that it has had since PyTorch 1.9; the default is the earlier one.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of each run.",
)
@click.option(
    "--memory",
    type=click.IntRange(min=1),
    default=2048,
    show_default=True,
    metavar="MB",
    help="Memory limit of each run.",
)
@click.option("--argument", "arguments", multiple=True, metavar="ARG", help="Pass ARG to the programs.")
@click.option(
    "--include",
    "-I",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Also search DIR for headers.",
)
@click.option("--define", "-D", multiple=True, metavar="X[=V]", help="Define the macro X.")
@click.option("--link", "-l", multiple=True, metavar="LIB", help="Link the library LIB (a name or a file).")
@click.option("--std", "standard", default="c++17", show_default=True, help="The C++ standard.")
@click.option("--compiler", metavar="CXX", help="The C++ compiler; by default $CXX, then g++, clang++, c++.")
@click.option("--allow-unsupported", is_flag=True, help="Exit with 0 even if programs can't be compared.")
@output_format_option("verdicts", show_default=True)
def command(**arguments: Any) -> None:
    """Run each program at and below PATHS before and after migration, and say what changed.

    Programs are C++ files with a main and Python scripts that use torch. Each is migrated in a copy, with the
    unsafe fixes as well; your files are not changed. A program with an old guard that no fix replaces is run once
    to see whether it is silently wrong. Verdicts: same; repaired (it was silently wrong before); stricter (it
    raises now where it worked before); changed; unsupported (it could not be compared).

    Exit status: 0 all are same or repaired, 1 one is stricter, changed or unsupported, 2 nothing could be verified.
    """
    run = run_from(arguments)
    choice = choice_from(arguments, run.options.minimum_torch)
    from ..output.report_summary import verdict_summary
    from ..verify.program_runs import Limits
    from ..verify.verdicts import Verdict
    from ..verify.verifying import Settings

    settings = Settings(
        backend=arguments["backend"],
        legacy_since19=arguments["legacy_since19"],
        limits=Limits(arguments["timeout"], arguments["memory"] << 20),
        arguments=arguments["arguments"],
        include=arguments["include"],
        define=arguments["define"],
        link=arguments["link"],
        standard=arguments["standard"],
        compiler=arguments["compiler"],
    )
    output_format = load_format(arguments["output_format"])
    assert output_format.verdicts is not None, "only formats that can write verdicts are offered"
    results: list[Result] = []
    with _ended_in_order():
        output_format.verdicts(
            _noted(_results(run, choice, arguments["against"], settings), results), settings.backend, run.output()
        )
    if not results:
        click.echo(
            "guardfix verify: no programs found: no C++ file with a main, and no Python script that uses torch",
            err=True,
        )
        sys.exit(2)
    if not output_format.for_machines and not run.quiet:
        click.echo(verdict_summary(results), err=True)
    bad = {Verdict.STRICTER, Verdict.CHANGED} | (set() if arguments["allow_unsupported"] else {Verdict.UNSUPPORTED})
    sys.exit(1 if any(result.judgement.verdict in bad for result in results) else 0)


def _noted(found: Iterator[Result], results: list[Result]) -> Iterator[Result]:
    """The results, which are added to the list as they come; when nothing can be verified any more, the run ends."""
    from guardfix.linter.files.discovery import NoSuchPath

    from ..verify.verdicts import VerificationFailed

    while True:
        # Only what verifying raises is caught: an error of who writes the results is another matter.
        try:
            result = next(found, None)
        except NoSuchPath as error:
            raise Failure(f"no such file or directory: {error}") from None
        except VerificationFailed as error:
            click.echo(f"guardfix verify: {error}", err=True)
            sys.exit(2)
        except OSError as error:
            click.echo(f"guardfix verify: {error.filename or 'a copy'}: {error.strerror or error}", err=True)
            sys.exit(2)
        if result is None:
            return
        results.append(result)
        yield result


def _results(run: CommandRun, choice: FixChoice, other: Path | None, settings: Settings) -> Iterator[Result]:
    from ..verify.programs import find_programs
    from ..verify.verifying import verify, verify_against

    if other is not None:
        if len(run.paths) != 1 or not Path(run.paths[0]).is_file():
            raise click.UsageError("--against takes exactly one file to compare with")
        yield verify_against(Path(run.paths[0]), other, settings)
        return
    programs = find_programs(
        run.paths,
        exclude=run.options.exclude,
        respect_gitignore=run.options.respect_gitignore,
        gtest="gtest" in settings.link,
    )
    if programs:
        yield from verify(programs, _migration(run, choice), settings)


def _migration(run: CommandRun, choice: FixChoice) -> Migration:
    from guardfix.codemods.apply.leftovers import Why
    from guardfix.codemods.fixable import fixes_for

    from ..verify.program_migration import migrate

    migration = migrate(fixes_for(check_with(run), choice=choice))
    for left in migration.left:
        if left.why is Why.REFUSED:
            click.echo(f"{left.place.path}: not changed: {left.message}", err=True)
    return migration


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Inside, a request to end (SIGTERM, SIGHUP) stops the programs and removes the copies first."""

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    before = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        try:
            before[number] = signal.signal(number, end)
        except ValueError:  # not the main thread
            break
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
