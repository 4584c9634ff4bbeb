"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..extensions import NO_PLUGINS
from ..output.format_registry import ALIASES, DEFAULT_FORMAT, Subject, format_names
from ..settings_table import is_version
from .command_failure import without_long_words

F = TypeVar("F", bound=Callable[..., Any])
CONFIG_VARIABLE = "GUARDFIX_CONFIG"
"""The environment variable that names the configuration file."""

_MOST_SECONDS = 365 * 24 * 3600
_MOST_MEGABYTES = 1 << 30
"""A system's timers and limits take no more than about so much; the help needn't say so."""


class Seconds(click.FloatRange):
    """A time limit."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        seconds = super().convert(value, parameter, context)
        if not seconds <= _MOST_SECONDS:  # NaN is on neither side
            self.fail(f"{without_long_words(str(value))} is not a time limit of at most a year.", parameter, context)
        return seconds


class Megabytes(click.IntRange):
    """A memory limit."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        megabytes = super().convert(value, parameter, context)
        if megabytes > _MOST_MEGABYTES:
            self.fail(f"{without_long_words(str(value))} is more megabytes than any machine has.", parameter, context)
        return megabytes


def _version(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_version(value):
        message = f"`{value}` is not a version; use a form like 1.13 or 2.1.0"
        raise click.BadParameter(without_long_words(message))
    return value


def complete_rule(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Codes, names and groups that begin so; of a list with commas the last part is completed."""
    from guardfix.linter.rule_names import RuleGroup, rule_names

    done, comma, begun = incomplete.rpartition(",")
    codes = [rule.code for rule in rule_names() if rule.code.startswith(begun.upper())]
    known = (*RuleGroup, *(rule.name for rule in rule_names()))
    names = sorted(str(name) for name in known if begun and name.startswith(begun.lower()))
    return [f"{done}{comma}{one}" for one in (*codes, *names)]


def reading_limits(command: F) -> F:
    """What reading the files may take. `verify` has none: there, limits are about the programs."""
    for option in reversed(
        (
            click.option(
                "--timeout-per-file",
                type=Seconds(min=0, min_open=True),
                metavar="SECONDS",
                help="Skip files that take longer to read, to decide about or to fix, and report them (GF001).",
            ),
            click.option(
                "--memory",
                "reading_memory",
                type=Megabytes(min=1),
                metavar="MB",
                help="Skip files for which a process needs more memory than this, and report them (GF001).",
            ),
        )
    ):
        command = option(command)
    return command


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
                help="Rules to run: codes, prefixes (GF4), names, groups (raises) or ALL; comma-separated or repeated.",
            ),
            click.option(
                "--ignore",
                multiple=True,
                metavar="RULES",
                shell_complete=complete_rule,
                help="Rules to skip, in the same form.",
            ),
            click.option(
                "--extend-select",
                multiple=True,
                metavar="RULES",
                shell_complete=complete_rule,
                help="Rules to run in addition to the selected ones.",
            ),
            click.option(
                "--exclude",
                multiple=True,
                metavar="PATTERN",
                help="Files and directories to skip, in .gitignore syntax, instead of what the configuration excludes.",
            ),
            click.option(
                "--extend-exclude",
                multiple=True,
                metavar="PATTERN",
                help="Additional files and directories to skip.",
            ),
            click.option("--no-gitignore", is_flag=True, help="Also check files that .gitignore excludes."),
            click.option(
                "--force-exclude",
                is_flag=True,
                help="Exclude files even if they are named on the command line.",
            ),
            click.option(
                "--project",
                metavar="FOLDER",
                type=click.Path(exists=True, file_okay=False),
                help="The project that the paths belong to, where decisions look for evidence; by default the nearest "
                "folder with a configuration or a git repository.",
            ),
            click.option(
                "--config",
                "configs",
                multiple=True,
                metavar="FILE or 'KEY = VALUE'",
                envvar=CONFIG_VARIABLE,
                help="Read this configuration file instead of searching for one, or set a single setting, in TOML.",
            ),
            click.option("--isolated", is_flag=True, help="Read no configuration file."),
            click.option(
                "--no-plugins",
                is_flag=True,
                envvar=NO_PLUGINS,
                help="Load no plugin, whatever the configuration says: for code of others, as in CI.",
            ),
            click.option(
                "--jobs",
                "-j",
                type=click.IntRange(min=1),
                metavar="N",
                help="Number of processes; by default one per core.",
            ),
            click.option(
                "--no-cache",
                "-n",
                is_flag=True,
                envvar="GUARDFIX_NO_CACHE",
                help="Read all files again, and don't use the cache; see `guardfix cache`.",
            ),
            click.option("--include-docs", is_flag=True, help="Also check C++ in code blocks of .md and .rst files."),
            click.option(
                "--minimum-torch",
                metavar="VERSION",
                callback=_version,
                help="The oldest torch version that the code supports; used by GF505 and --preserve.",
            ),
            click.option(
                "--color",
                type=click.Choice(["auto", "always", "never"]),
                default="auto",
                help="When to use colors.",
            ),
            click.option("--quiet", "-q", is_flag=True, help="Don't print the summary or notes."),
        )
    ):
        command = option(command)
    return command


def standard_input(command: F) -> F:
    """`--stdin-filename`, for commands that read a text from standard input; `run_from` reads it."""
    return click.option(
        "--stdin-filename",
        metavar="PATH",
        help="Treat standard input as the text of the file PATH, which need not exist; PATHS must be `-`.",
    )(command)


def output_format_option(subject: Subject, **settings: Any) -> Callable[[F], F]:
    """`--output-format`: how the findings, verdicts or rules are written."""
    return click.option(
        "--output-format", type=_FormatChoice(format_names(subject)), **{"default": DEFAULT_FORMAT} | settings
    )


class _FormatChoice(click.Choice[str]):
    """The formats; other names that they go by are taken too."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> str:
        return super().convert(ALIASES.get(value, value), parameter, context)


_UNSAFE = click.option("--unsafe", is_flag=True, help="Include unsafe fixes, which may change what the program does.")
_UNSAFE_OR_NOT = click.option(
    "--unsafe/--safe-only",
    default=True,
    show_default="--unsafe",
    help="Use all fixes, or only those that don't change the meaning of the program.",
)
_MORE_CHOICES = (
    click.option("--no-hoist", is_flag=True, help="Don't move guards above the model load (an unsafe fix)."),
    click.option(
        "--remove-redundant",
        is_flag=True,
        help="Also remove guards in Function::forward whose callee bypasses the dispatcher (unsafe).",
    ),
    click.option(
        "--preserve",
        is_flag=True,
        help="Where nothing shows what a guard is for, replace it with the one that does the same since torch 1.9, "
        "and add a comment; needs --minimum-torch 1.9 or newer.",
    ),
    click.option(
        "--compat",
        is_flag=True,
        help="Keep the old guard for torch before 1.9, in the #else of an #if around the new one (C++).",
    ),
)


def choosing(command: F) -> F:
    """Which fixes a command takes: the safe ones, by default."""
    for option in reversed((_UNSAFE, *_MORE_CHOICES)):
        command = option(command)
    return command


def choosing_all(command: F) -> F:
    """Which fixes a command takes: the unsafe ones too, by default."""
    for option in reversed((_UNSAFE_OR_NOT, *_MORE_CHOICES)):
        command = option(command)
    return command
