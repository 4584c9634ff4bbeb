"""Options that several commands share, and what they make of the configuration."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..configuration import BadConfiguration, Configuration, find_configuration, is_version, read_configuration
from ..output.format_registry import DEFAULT_FORMAT, Output, Subject, format_names
from ..wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guardfix.codemods.choice import FixChoice
    from guardfix.linter.engine import Options, Report

F = TypeVar("F", bound=Callable[..., Any])

_NARROWEST = 30
_PROGRESS_FROM = 2000
"""With fewer files a run is over before a bar is any use."""


class Failure(click.ClickException):
    """A run that cannot be made; how the command is used is not the question."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """`; did you mean …?` where something like it is known, else empty."""
    from difflib import get_close_matches

    names = {one.lower(): one for one in known}
    close = [f"`{names[one]}`" for one in get_close_matches(given.lower(), names, n=2, cutoff=0.7)]
    return f"; did you mean {' or '.join(close)}?" if close else ""


def no_such_rule(given: str) -> str:
    """What is said of a selector that selects nothing."""
    from guardfix.linter.rule_names import rule_names

    guess = did_you_mean(given, (one for rule in rule_names() for one in (rule.code, rule.name)))
    return f"no rule is called `{given}`{guess or '; `guardfix rules` lists them'}"


def _version(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_version(value):
        raise click.BadParameter(f"`{value}` is no version; write 1.13 or 2.1.0")
    return value


def complete_rule(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Codes and names that begin so; of a list with commas the last part is completed."""
    from guardfix.linter.rule_names import rule_names

    done, comma, begun = incomplete.rpartition(",")
    codes = [rule.code for rule in rule_names() if rule.code.startswith(begun.upper())]
    names = sorted({rule.name for rule in rule_names() if begun and rule.name.startswith(begun.lower())})
    return [f"{done}{comma}{one}" for one in (*codes, *names)]


def selection(command: F) -> F:
    """The paths, and what is looked at and for."""
    for option in reversed(
        (
            click.argument("paths", nargs=-1, type=click.Path(readable=False)),
            click.option(
                "--select",
                multiple=True,
                metavar="RULES",
                shell_complete=complete_rule,
                help="Rules to run: codes, prefixes (GF4), names or ALL; commas or repeated.",
            ),
            click.option(
                "--ignore",
                multiple=True,
                metavar="RULES",
                shell_complete=complete_rule,
                help="Rules to leave out, in the same forms.",
            ),
            click.option(
                "--exclude",
                multiple=True,
                metavar="PATTERN",
                help="Files and folders to pass over, in .gitignore's syntax.",
            ),
            click.option("--no-gitignore", is_flag=True, help="Look at files that .gitignore names, too."),
            click.option(
                "--force-exclude",
                is_flag=True,
                help="Exclude files even when they are named on the command line.",
            ),
            click.option(
                "--config",
                type=click.Path(dir_okay=False),
                help="Read this configuration file instead of looking for one.",
            ),
            click.option("--isolated", is_flag=True, help="Read no configuration file."),
            click.option(
                "--jobs",
                "-j",
                type=click.IntRange(min=1),
                metavar="N",
                help="Processes to use; all cores when left out.",
            ),
            click.option(
                "--include-docs", is_flag=True, help="Look at C++ in the code blocks of .md and .rst files, too."
            ),
            click.option(
                "--minimum-torch",
                metavar="VERSION",
                callback=_version,
                help="The oldest torch that the code has to run with: GF505 looks for what it cannot do.",
            ),
            click.option(
                "--color",
                type=click.Choice(["auto", "always", "never"]),
                default="auto",
                help="Colours: on a terminal only, always, never.",
            ),
            click.option("--quiet", "-q", is_flag=True, help="No summary and no notes."),
        )
    ):
        command = option(command)
    return command


def output_format_option(subject: Subject, **settings: Any) -> Callable[[F], F]:
    """`--output-format`: how the findings, verdicts or rules are written."""
    return click.option("--output-format", type=click.Choice(format_names(subject)), default=DEFAULT_FORMAT, **settings)


_UNSAFE = click.option(
    "--unsafe", is_flag=True, help="Take the unsafe fixes too: those that may change what the program does."
)
_UNSAFE_OR_NOT = click.option(
    "--unsafe/--safe-only",
    default=True,
    show_default="--unsafe",
    help="Take all fixes, or those alone that keep the meaning of the program.",
)
_MORE_CHOICES = (
    click.option("--no-hoist", is_flag=True, help="Of the unsafe fixes, leave out moving guards above the model load."),
    click.option(
        "--remove-redundant",
        is_flag=True,
        help="Of the unsafe fixes, take deleting guards in Function::forward whose callee bypasses the dispatcher.",
    ),
)


def choosing(command: F) -> F:
    """Which fixes a command takes: the safe ones, if nothing is said."""
    for option in reversed((_UNSAFE, *_MORE_CHOICES)):
        command = option(command)
    return command


def choosing_all(command: F) -> F:
    """Which fixes a command takes: the unsafe ones too, if nothing is said."""
    for option in reversed((_UNSAFE_OR_NOT, *_MORE_CHOICES)):
        command = option(command)
    return command


def choice_from(arguments: dict[str, Any]) -> FixChoice:
    """Take the options of `choosing` out of a command's arguments."""
    from guardfix.codemods.choice import FixChoice

    return FixChoice(
        unsafe=arguments.pop("unsafe"),
        hoist=not arguments.pop("no_hoist"),
        remove_redundant=arguments.pop("remove_redundant"),
    )


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

    def output(self) -> Output:
        """Standard output, as this run writes to it."""
        return Output(color=self.color, width=self.width)


def run_from(arguments: dict[str, Any]) -> CommandRun:
    """Take the shared options out of a command's arguments and join them with the configuration."""
    from guardfix.linter.engine import Options

    configuration = _configuration(arguments.pop("config"), arguments.pop("isolated"))
    given, ignore = arguments.pop("select"), _split(arguments.pop("ignore"))
    select = _split(given)
    if given and not select:
        raise click.UsageError("--select names no rule; without it the rules that are on by default are run")
    options = Options(
        select=select or configuration.select,
        ignore=(*configuration.ignore, *ignore) if not select else ignore,
        per_file_ignores=configuration.per_file_ignores,
        exclude=tuple(arguments.pop("exclude")),
        root=configuration.folder,
        root_exclude=configuration.exclude,
        respect_gitignore=configuration.respect_gitignore and not arguments.pop("no_gitignore"),
        force_exclude=configuration.force_exclude or arguments.pop("force_exclude"),
        include_docs=arguments.pop("include_docs") or configuration.include_docs,
        minimum_torch=arguments.pop("minimum_torch") or configuration.minimum_torch,
        workers=arguments.pop("jobs") or 0,
    )
    arguments.pop("no_gitignore", None)
    arguments.pop("force_exclude", None)
    paths = tuple(arguments.pop("paths")) or (os.curdir,)
    return CommandRun(
        paths,
        options,
        _color(arguments.pop("color")),
        _width(),
        arguments.pop("quiet"),
        configuration.path,
        (*select, *ignore),
    )


def _configuration(path: str | None, isolated: bool) -> Configuration:
    if isolated:
        return Configuration()
    found = path or find_configuration()
    if found is None:
        return Configuration()
    try:
        configuration = read_configuration(found)
    except BadConfiguration as error:
        raise Failure(str(error)) from None
    # As in Ruff: a file that is named starts from where it was named, one that was found from where it stands.
    return configuration if path else replace(configuration, folder=os.path.dirname(found))


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
            return check(run.paths, run.options, progress=progress, at_first_hit=at_first_hit)
    except NoSuchPath as error:
        raise Failure(f"no such file or folder: {error}") from None
    except BadPattern as error:
        where = "--exclude" if str(error) in run.options.exclude else run.configuration
        raise Failure(f"{where}: `{error}` is not a pattern in .gitignore's syntax") from None
    except UnknownRule as error:
        where = "" if str(error) in run.given else f"{run.configuration}: "
        raise Failure(f"{where}{no_such_rule(str(error))}") from None


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
