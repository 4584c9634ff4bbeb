"""What the shared options and the configuration come to, and the check that they ask for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from guardfix.linter.files.workspace import DISK, Workspace

from ..configuration import BadConfiguration, Configuration, configuration_for, read_configuration
from ..output.format_registry import Output
from .command_failure import Failure, no_such_rule
from .standard_input import paths_and_text

if TYPE_CHECKING:
    from guardfix.linter.engine import Options, Report

_NARROWEST = 30
_PROGRESS_FROM = 2000
"""With fewer files a run is over before a bar is any use."""


@dataclass(frozen=True)
class CommandRun:
    """What the shared options come to."""

    paths: tuple[str, ...]
    options: Options
    color: bool
    width: int | None
    """Columns of the terminal; None when the output goes elsewhere, where no line is broken."""
    quiet: bool
    configuration: str
    """The configuration file, or empty."""
    given: tuple[str, ...] = ()
    """The rules' selectors that stand on the command line."""
    workspace: Workspace = DISK
    standard_input: bytes | None = None
    """What was read instead of a file, which is then the only path."""

    def with_text(self, text: bytes) -> CommandRun:
        """The same run over another text than the one on standard input."""
        return replace(self, workspace=Workspace.over_disk({self.paths[0]: text}), standard_input=text)

    def output(self) -> Output:
        """Standard output, as this run writes to it."""
        return Output(color=self.color, width=self.width)


def run_from(arguments: dict[str, Any]) -> CommandRun:
    """Take the shared options out of a command's arguments and join them with the configuration."""
    configuration = _configuration(arguments.pop("config"), arguments.pop("isolated"))
    no_gitignore, force_exclude = arguments.pop("no_gitignore"), arguments.pop("force_exclude")
    include_docs = arguments.pop("include_docs")
    given, ignore = arguments.pop("select"), _split(arguments.pop("ignore"))
    select = _split(given)
    if given and not select:
        raise click.UsageError("--select is empty; leave it out to run the default rules")
    configured = configuration.options()
    options = replace(
        configured,
        select=select or configured.select,
        ignore=(*configured.ignore, *ignore) if not select else ignore,
        exclude=tuple(arguments.pop("exclude")),
        respect_gitignore=configured.respect_gitignore and not no_gitignore,
        force_exclude=configured.force_exclude or force_exclude,
        include_docs=configured.include_docs or include_docs,
        minimum_torch=arguments.pop("minimum_torch") or configured.minimum_torch,
        workers=arguments.pop("jobs") or 0,
        timeout_per_file=arguments.pop("timeout_per_file") or 0.0,
        memory=arguments.pop("memory") or 0,
    )
    paths, text = paths_and_text(arguments)
    return CommandRun(
        paths,
        options,
        _color(arguments.pop("color")),
        _width(),
        arguments.pop("quiet"),
        configuration.path,
        (*select, *ignore),
        Workspace.over_disk({paths[0]: text}) if text is not None else DISK,
        text,
    )


def _configuration(path: str | None, isolated: bool) -> Configuration:
    if isolated:
        return Configuration()
    try:
        # As in Ruff: a file that is named starts from where it was named, one that was found from where it stands.
        return read_configuration(path) if path else configuration_for()
    except BadConfiguration as error:
        raise Failure(str(error)) from None


def _split(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def _color(choice: str) -> bool:
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _width() -> int | None:
    if not sys.stdout.isatty():
        return None
    import shutil

    return max(_NARROWEST, shutil.get_terminal_size().columns)


def check_with(run: CommandRun, at_first_hit: Callable[[], None] | None = None) -> Report:
    """Run the check, with a progress bar where a person is watching a long one."""
    from guardfix.linter.engine import check
    from guardfix.linter.files.discovery import BadPattern, NoSuchPath
    from guardfix.linter.rule import UnknownRule

    try:
        with _progress(run.quiet) as progress:
            return check(run.paths, run.options, workspace=run.workspace, progress=progress, at_first_hit=at_first_hit)
    except NoSuchPath as error:
        raise Failure(f"no such file or directory: {error}") from None
    except BadPattern as error:
        where = "--exclude" if str(error) in run.options.exclude else run.configuration
        raise Failure(f"{where}: `{error}` is not a pattern in .gitignore's syntax") from None
    except UnknownRule as error:
        where = "" if str(error) in run.given else f"{run.configuration}: "
        raise Failure(f"{where}{no_such_rule(str(error))}") from None


def finished(report: Report, status: int) -> int:
    """The exit status of a run: 2, and what happened, when processes were lost; `status` otherwise."""
    from ..output.report_summary import lost_workers

    for line in lost_workers(report):
        click.echo(line, err=True)
    return 2 if report.lost else status


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    if quiet or not sys.stderr.isatty():
        yield None
        return
    bar: Any = None

    def show(done: int, total: int) -> None:
        nonlocal bar
        if bar is None and total >= _PROGRESS_FROM:
            bar = click.progressbar(length=total, label="reading files", file=sys.stderr)
            bar.__enter__()
        if bar is not None:
            bar.update(done - bar.pos)

    try:
        yield show
    finally:
        if bar is not None:
            bar.__exit__(None, None, None)
            # The finished bar is noise above the findings.
            click.echo("\x1b[1A\x1b[2K", file=sys.stderr, nl=False, color=True)
