"""A report's fixes as a diff on standard output: `guardfix migrate`, `guardfix check --diff`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from ..wording import count_of, printable
from .command_run import CommandRun
from .told_lines import write_note

if TYPE_CHECKING:
    from guardfix.codemods.apply.rewriting import Rewrite
    from guardfix.codemods.apply.settling import Settled
    from guardfix.codemods.fixable import FixableReport

_DIFF_COLORS = {"+": "green", "-": "red", "@": "cyan"}


@dataclass
class ShownFixes:
    """What a diff on standard output holds."""

    changed: list[Rewrite] = field(default_factory=list)
    refused: int = 0
    """Files that stay as they are although fixes were chosen."""

    @property
    def status(self) -> int:
        """The exit status: 1 when something would be changed."""
        return 1 if self.changed or self.refused else 0


def show_changes(changed: Iterable[Rewrite], run: CommandRun) -> None:
    """Print the diff of the files that change."""
    from guardfix.codemods.apply.unified_diff import base_of, unified_diff

    base = base_of(run.paths)
    for rewritten in changed:
        _show(unified_diff(rewritten, base), rewritten.source.encoding, run.color)


def write_diff(settled: Settled, run: CommandRun) -> ShownFixes:
    """Print the diff of all files, and what a reader has to know of it to standard error."""
    from guardfix.codemods.apply.applying import refusal
    from guardfix.codemods.apply.unified_diff import base_of, is_for_reading

    refused = [rewritten for rewritten in settled.rewrites if rewritten.refused]
    for rewritten in refused:
        write_note(printable(refusal(rewritten)))
    shown = ShownFixes([rewritten for rewritten in settled.rewrites if rewritten.changed], len(refused))
    show_changes(shown.changed, run)
    if run.quiet:
        return shown
    base = base_of(run.paths)
    if shown.changed and base != os.path.realpath(os.curdir):
        write_note(f"note: paths in the diff are relative to {printable(base)}; apply it there")
    for source in (rewritten.source for rewritten in shown.changed if is_for_reading(rewritten)):
        click.echo(
            f"note: {printable(source.path)}: this diff is only for reading, because patch and git apply don't accept "
            f"{source.encoding.upper()}; use `--apply` to write it",
            err=True,
        )
    return shown


def show_fixes(report: FixableReport, run: CommandRun) -> int:
    """The whole of `check --diff`; the exit status, which is 0 when there is no difference, as in Ruff."""
    from guardfix.codemods.apply.settling import settle

    shown = write_diff(settle(report), run)
    if not run.quiet:
        if shown.changed:
            write_note(f"Would change {count_of(len(shown.changed), 'file')}; use `--fix` to write.")
        else:
            write_note("Nothing to change.")
    return shown.status


def _show(lines: list[bytes], encoding: str, color: bool) -> None:
    """Print a diff: for a program in the file's own bytes, for a person as text."""
    if not color and not sys.stdout.isatty():
        click.echo(b"".join(lines), nl=False)
        return
    readable = "latin-1" if encoding == "latin-1" else "utf-8"
    for place, line in enumerate(lines):
        shown = os.fsdecode(line) if place < 2 else line.decode(readable, "replace")
        style = _DIFF_COLORS.get(shown[0]) if color and place >= 2 else None
        click.echo(click.style(shown, fg=style) if style else shown, nl=False, color=color)
