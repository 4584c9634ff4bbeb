"""`guardfix migrate`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from guardfix.linter.files.workspace import DISK, Workspace

from ..wording import printable
from .command_run import check_with, finished, run_from
from .options import choice_from, choosing, selection, standard_input
from .standard_input import write_fixed

if TYPE_CHECKING:
    from guardfix.codemods.apply.rewriting import Rewrite
    from guardfix.codemods.fixable import FixableReport

_DIFF_COLORS = {"+": "green", "-": "red", "@": "cyan"}


@click.command("migrate", short_help="Show or apply the changes that migrate guards.")
@selection
@standard_input
@click.option("--apply", is_flag=True, help="Write the changes instead of showing them.")
@choosing
def command(**arguments: Any) -> None:
    """Show the changes that migrate guards as a unified diff, or apply them.

    PATHS are files and directories; by default, the current directory. With `-` and --stdin-filename, the text is read
    from standard input, and --apply prints it migrated. Safe fixes keep the meaning of the
    program. What is left is listed after the diff, with the reason.
    """
    run = run_from(arguments)
    from guardfix.codemods.apply.applying import apply_fixes, rewrites
    from guardfix.codemods.apply.unified_diff import base_of, is_for_reading, unified_diff
    from guardfix.codemods.fixable import fixes_for

    from ..output.report_summary import notes

    report = fixes_for(check_with(run), choice=choice_from(arguments))
    if arguments["apply"] and run.standard_input is not None:
        rewritten = next(rewrites(report), None)
        moved = run.with_text(write_fixed(run.standard_input, rewritten)).workspace
        if not run.quiet:
            _tell_rest(report, [rewritten] if rewritten else [], written_to=moved)
        sys.exit(finished(report, 1 if rewritten and rewritten.refused else 0))
    if arguments["apply"]:
        outcome = apply_fixes(report)
        for line in outcome.lines():
            click.echo(printable(line), err=True)
        if not run.quiet:
            _tell_rest(report, outcome.written, written_to=DISK)
            if not outcome.written and not outcome.failed and not outcome.refused:
                click.echo("Nothing to change.", err=True)
        sys.exit(finished(report, 2 if outcome.failed else 1 if outcome.refused else 0))
    refused = 0
    changed = []
    base = base_of(run.paths)
    for_reading = []
    for rewritten in rewrites(report):
        if rewritten.refused:
            refused += 1
            click.echo(f"{printable(rewritten.source.path)}: not changed: {rewritten.refused}", err=True)
            continue
        changed.append(rewritten)
        _show(unified_diff(rewritten, base), rewritten.source.encoding, run.color)
        if is_for_reading(rewritten):
            for_reading.append(rewritten.source)
    if not run.quiet:
        if changed and base != os.path.realpath(os.curdir):
            click.echo(f"note: paths in the diff are relative to {printable(base)}; apply it there", err=True)
        for source in for_reading:
            click.echo(
                f"note: {printable(source.path)}: its diff is only for reading, as patch and git apply don't take "
                f"{source.encoding.upper()}; use `--apply` to write it",
                err=True,
            )
        for note in notes(report):
            click.echo(note, err=True)
        _tell_rest(report, changed)
        if changed:
            plural = "" if len(changed) == 1 else "s"
            click.echo(f"Would change {len(changed)} file{plural}; use `--apply` to write.", err=True)
        elif not report.findings:
            click.echo("Nothing to change.", err=True)
    sys.exit(finished(report, 1 if changed or refused else 0))


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


def _tell_rest(report: FixableReport, changed: Sequence[Rewrite], *, written_to: Workspace | None = None) -> None:
    """One line for each finding that stays as it is, with the reason; its place is the one in the file as it is now."""
    from guardfix.codemods.apply.leftovers import Why, why_left
    from guardfix.linter.facts import Span
    from guardfix.linter.files.source_positions import SourcePositions

    done = {id(finding) for rewrite in changed for finding, _ in rewrite.applied}
    moved = {rewrite.source.path: rewrite for rewrite in changed} if written_to else {}
    places = SourcePositions(written_to or report.workspace)
    for finding in report.findings:
        if id(finding) in done:
            continue
        span = finding.span
        if finding.path in moved:
            offset = moved[finding.path].offset_after(span.start)
            span = Span(offset, offset)
        start = places.start(finding.path, span)
        why, message = why_left(finding, report.choice)
        if why not in (Why.HELD_BACK, Why.REFUSED):  # these are reported with the file
            words = "needs --unsafe" if why is Why.UNSAFE else why
            place = f"{printable(finding.path)}:{start.row}:{start.column}"
            click.echo(f"{place}: {finding.code} {words}: {message}", err=True)
