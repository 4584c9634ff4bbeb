"""`guardfix check`: findings, in any of the formats."""

from __future__ import annotations

from typing import Any

import click

from .checking import NO_PATCH, CheckOptions, check
from .finding_filters import filtering_options
from .options import choosing, reading_limits, selection, standard_input
from .reporting import reporting


@click.command("check")
@selection
@reading_limits
@standard_input
@click.option(
    "--fix",
    is_flag=True,
    help="Apply the safe fixes, as `guardfix migrate --apply` does, and report what is left.",
)
@click.option("--fix-only", is_flag=True, help="Apply the fixes without reporting or counting what is left.")
@click.option("--add-noqa", is_flag=True, help="Add a suppression comment after each finding, and report nothing.")
@click.option("--watch", "-w", is_flag=True, help="Check again after each change, until Ctrl-C.")
@click.option(
    "--diff",
    is_flag=False,
    flag_value=NO_PATCH,
    metavar="[FILE]",
    help="Show what the fixes would change instead of reporting findings. With a unified diff in FILE (`-`: standard "
    "input), report only findings on lines that it adds, as --changed-in does.",
)
@click.option(
    "--executor",
    default="local",
    show_default=True,
    metavar="NAME",
    help="Where files are read: local, process, dask (a cluster on this machine), or dask:tcp://HOST:PORT.",
)
@choosing
@filtering_options
@reporting
def command(**arguments: Any) -> None:
    """Find guards that are used wrongly, and explain why.

    PATHS are files and directories; by default, the current directory. With `-` and --stdin-filename, standard input
    is checked; --fix then prints the fixed text, and reports what is left on standard error.
    """
    check(CheckOptions.of(arguments))
