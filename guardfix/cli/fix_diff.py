"""A report's fixes as a diff on standard output: `guardfix migrate`, `guardfix check --diff`."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from ..foreign_text import own, printable, printed_code, readable
from ..output.plain_echo import echo, write_bytes
from ..output.terminal_layout import styling
from ..wording import count_of
from .command_run import CommandRun
from .stderr_notes import write_note

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


def show_changes(changed: Iterable[Rewrite], run: CommandRun) -> list[Rewrite]:
    """Print the diff of the files that change; those whose diff had to be made harmless."""
    from guardfix.codemods.apply.unified_diff import base_of, unified_diff

    base = base_of(run.paths)
    return [one for one in changed if not _show(unified_diff(one, base), one.source.encoding, run.color)]


def write_diff(settled: Settled, run: CommandRun) -> ShownFixes:
    """Print the diff of all files, and what a reader has to know of it to standard error."""
    from guardfix.codemods.apply.applying import refusal
    from guardfix.codemods.apply.unified_diff import base_of, is_for_reading

    refused = [rewritten for rewritten in settled.rewrites if rewritten.refused]
    for rewritten in refused:
        write_note(printable(refusal(rewritten)))
    shown = ShownFixes([rewritten for rewritten in settled.rewrites if rewritten.changed], len(refused))
    unseen = show_changes(shown.changed, run)
    if run.quiet:
        return shown
    base = base_of(run.paths)
    if shown.changed and base != os.path.realpath(os.curdir):
        write_note(f"note: paths in the diff are relative to {printable(base)}; apply it there")
    for source in (rewritten.source for rewritten in shown.changed if is_for_reading(rewritten)):
        write_note(
            f"note: {printable(source.path)}: this diff is only for reading, because patch and git apply don't accept "
            f"{source.encoding.upper()}; use `--apply` to write it"
        )
    for source in (rewritten.source for rewritten in unseen):
        write_note(
            f"note: {printable(source.path)}: what can't be seen is spelled out in this diff, so patch and git apply "
            "don't take it; write the diff to a file with `>`, or use `--apply`"
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


def _show(lines: list[bytes], encoding: str, color: bool) -> bool:
    """Print a diff; whether it is one that `patch` takes.

    A file gets the bytes that `patch` needs. A terminal, and the log that a pipe may end in, get what can be seen.
    """
    if not color and not sys.stdout.isatty() and _is_file(sys.stdout):
        write_bytes(b"".join(lines))
        return True
    coded = "latin-1" if encoding == "latin-1" else "utf-8"
    shown = [printed_code(line.decode(coded, "surrogateescape")) for line in lines]
    exact = [line.encode(coded, "surrogateescape") for line in shown] == lines
    if exact and not color and not sys.stdout.isatty():
        write_bytes(b"".join(lines))
        return True
    style = styling(color)
    for place, line in enumerate(map(readable, shown)):
        color_of_line = _DIFF_COLORS.get(line[0]) if place >= 2 else None
        echo(style(own(line), fg=color_of_line) if color_of_line else own(line), nl=False)
    return exact


def _is_file(stream: TextIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return False
