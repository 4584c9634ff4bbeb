"""`guardfix baseline create`, `update` and `show`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..adoption.baseline import BASELINE_FILE, Baseline, counts_by
from ..foreign_text import printable
from ..output.plain_echo import echo
from ..wording import count_of
from .command_failure import Failure
from .command_run import CommandRun, SharedOptions, check_with, options_in, run_from
from .finding_filters import read_baseline
from .options import reading_limits, selection
from .stderr_notes import write_note

if TYPE_CHECKING:
    from guardfix.codemods.fixable import FixableReport

F = TypeVar("F", bound=Callable[..., Any])


@click.group("baseline", short_help="Create and update a file of findings that a check skips.")
def command() -> None:
    """Create and update a baseline: the findings that a tree has today, which `guardfix check --baseline` skips.

    A finding is recognized by its rule, its code and the function around it, even after lines have moved or the file
    was renamed. `update` only removes findings, so their number only goes down.
    """


def _file(command: F) -> F:
    return click.option(
        "--baseline",
        metavar="FILE",
        type=click.Path(dir_okay=False),
        help=f"The baseline; by default what the configuration names, or {BASELINE_FILE}.",
    )(command)


@command.command("create")
@selection
@reading_limits
@_file
@click.option("--force", is_flag=True, help="Replace an existing baseline, even if there are more findings than in it.")
def create(baseline: str | None, force: bool, **arguments: Any) -> None:
    """Write all findings at and below PATHS to a new baseline."""
    run, path = _run_and_path(arguments, baseline)
    if os.path.lexists(path) and not force:
        raise Failure(f"{path} already exists; `guardfix baseline update` removes what has been fixed")
    found = Baseline.of(_report(run), os.path.dirname(os.path.abspath(path)))
    _write(path, found)
    echo(f"Wrote {count_of(found.entries.total(), 'finding')} to {printable(path)}.")


@command.command("update")
@selection
@reading_limits
@_file
def update(baseline: str | None, **arguments: Any) -> None:
    """Remove from the baseline what has been fixed at and below PATHS, and follow moved code. Nothing is added."""
    run, path = _run_and_path(arguments, baseline)
    old = read_baseline(path)
    compared = old.compared(_report(run))
    new = old.updated(compared.kept)
    if new.entries != old.entries:
        _write(path, new)
    after = new.entries.total()
    gone = count_of(old.entries.total() - after, "finding") if after < old.entries.total() else "none"
    echo(f"{printable(path)}: {count_of(after, 'finding')} left, {gone} removed.")
    if compared.new:
        more = count_of(len(compared.new), "finding")
        write_note(f"note: {more} not in the baseline; see `guardfix check --baseline`")


@command.command("show")
@click.argument("file", required=False, type=click.Path(dir_okay=False))
def show(file: str | None) -> None:
    """Count the findings in the baseline FILE, by rule and by file."""
    from ..configuration import configuration_for

    path = file or configuration_for().baseline_path() or BASELINE_FILE
    held = read_baseline(path)
    count = held.entries.total()
    since = f", {held.initial} when it was created" if held.initial != count else ""
    echo(f"{printable(path)}: {count_of(count, 'finding')}{since}")
    for title, labels in (
        ("rule", [known.mark.code for known in held.entries]),
        ("file", [known.path for known in held.entries]),
    ):
        rows = counts_by(zip(labels, held.entries.values(), strict=True))
        if rows:
            echo(f"\nBy {title}:")
        width = max((len(str(count)) for _, count in rows), default=0)
        for name, count in rows:
            echo(f"  {count:>{width}}  {printable(name)}")


def _run_and_path(arguments: dict[str, Any], given: str | None) -> tuple[CommandRun, str]:
    run = run_from(options_in(SharedOptions, arguments))
    return run, given or run.baseline or BASELINE_FILE


def _report(run: CommandRun) -> FixableReport:
    from guardfix.codemods.fixable import fixes_for

    return fixes_for(check_with(run))


def _write(path: str, baseline: Baseline) -> None:
    """Write it whole or not at all."""
    import tempfile

    folder = os.path.dirname(os.path.abspath(path))
    try:
        handle, temporary = tempfile.mkstemp(prefix=".guardfix-baseline.", dir=folder)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(baseline.text())
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise Failure(f"{path}: cannot be written: {error.strerror or error}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
