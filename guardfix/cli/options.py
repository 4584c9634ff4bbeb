"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..configuration import is_version
from ..output.format_registry import DEFAULT_FORMAT, Subject, format_names

if TYPE_CHECKING:
    from guardfix.codemods.choice import FixChoice

F = TypeVar("F", bound=Callable[..., Any])


def _version(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_version(value):
        raise click.BadParameter(f"`{value}` is not a version; use a form like 1.13 or 2.1.0")
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
                help="Rules to run: codes, prefixes (GF4), names or ALL; comma-separated or repeated.",
            ),
            click.option(
                "--ignore",
                multiple=True,
                metavar="RULES",
                shell_complete=complete_rule,
                help="Rules to skip, in the same form.",
            ),
            click.option(
                "--exclude",
                multiple=True,
                metavar="PATTERN",
                help="Files and directories to skip, in .gitignore syntax.",
            ),
            click.option("--no-gitignore", is_flag=True, help="Also check files that .gitignore excludes."),
            click.option(
                "--force-exclude",
                is_flag=True,
                help="Exclude files even if they are named on the command line.",
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
                help="Number of processes; by default one per core.",
            ),
            click.option("--include-docs", is_flag=True, help="Also check C++ in code blocks of .md and .rst files."),
            click.option(
                "--minimum-torch",
                metavar="VERSION",
                callback=_version,
                help="The oldest torch version that the code supports; used by GF505.",
            ),
            click.option(
                "--timeout-per-file",
                type=click.FloatRange(min=0, min_open=True),
                metavar="SECONDS",
                help="Leave out a file that takes longer to read, and report it (GF001).",
            ),
            click.option(
                "--memory",
                type=click.IntRange(min=1),
                metavar="MB",
                help="Leave out what takes a process more memory than this, and report it (GF001).",
            ),
            click.option(
                "--color",
                type=click.Choice(["auto", "always", "never"]),
                default="auto",
                help="When to use colors.",
            ),
            click.option("--quiet", "-q", is_flag=True, help="Print no summary and no notes."),
        )
    ):
        command = option(command)
    return command


def standard_input(command: F) -> F:
    """`--stdin-filename`, for commands that read a text from standard input; `run_from` reads it."""
    return click.option(
        "--stdin-filename",
        metavar="PATH",
        help="Read a text from standard input as that of the file PATH, which need not exist; PATHS is `-` then.",
    )(command)


def output_format_option(subject: Subject, **settings: Any) -> Callable[[F], F]:
    """`--output-format`: how the findings, verdicts or rules are written."""
    return click.option("--output-format", type=click.Choice(format_names(subject)), default=DEFAULT_FORMAT, **settings)


_UNSAFE = click.option("--unsafe", is_flag=True, help="Include unsafe fixes, which may change what the program does.")
_UNSAFE_OR_NOT = click.option(
    "--unsafe/--safe-only",
    default=True,
    show_default="--unsafe",
    help="Use all fixes, or only those that keep the meaning of the program.",
)
_MORE_CHOICES = (
    click.option("--no-hoist", is_flag=True, help="Don't move guards above the model load (an unsafe fix)."),
    click.option(
        "--remove-redundant",
        is_flag=True,
        help="Also remove guards in Function::forward whose callee bypasses the dispatcher (unsafe).",
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
