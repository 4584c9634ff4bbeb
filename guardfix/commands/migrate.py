"""`guardfix migrate`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from ..options import check_with, choice_from, choosing, run_from, selection

if TYPE_CHECKING:
    from ..linter.engine import Report

_DIFF_COLORS = {"+": "green", "-": "red", "@": "cyan"}


@click.command("migrate")
@selection
@click.option("--apply", is_flag=True, help="Write the changes. Without it they are only shown.")
@choosing
def command(**arguments: Any) -> None:
    """Show the changes that migrate guards as a unified diff; with --apply, make them.

    PATHS are files and folders; the current folder when none is given. Safe fixes keep the meaning of the
    program; what is left over is listed behind the diff, with the reason.
    """
    run = run_from(arguments)
    from ..codemods.migrate import apply_fixes, rewrites
    from ..codemods.plan import with_fixes
    from ..codemods.rewrite import unified_diff
    from ..output import text

    choice = choice_from(arguments)
    report = with_fixes(check_with(run), remove_redundant=choice.remove_redundant)
    if arguments["apply"]:
        outcome = apply_fixes(report, unsafe=choice.unsafe, hoist=choice.hoist)
        for line in outcome.lines():
            click.echo(line, err=True)
        if not run.quiet:
            done = {id(finding) for rewritten in outcome.written for finding, _ in rewritten.applied}
            _tell_rest(report, done, choice.unsafe)
            if not outcome.written and not outcome.failed and not outcome.refused:
                click.echo("Nothing to change.", err=True)
        sys.exit(2 if outcome.failed else 1 if outcome.refused else 0)
    changes = refused = 0
    done = set()
    for rewritten in rewrites(report, unsafe=choice.unsafe, hoist=choice.hoist):
        if rewritten.refused:
            refused += 1
            click.echo(f"{rewritten.source.path}: left as it is: {rewritten.refused}", err=True)
            continue
        changes += 1
        done |= {id(finding) for finding, _ in rewritten.applied}
        for line in unified_diff(rewritten).splitlines(keepends=True):
            color = _DIFF_COLORS.get(line[0]) if run.color and not line.startswith(("+++", "---")) else None
            click.echo(click.style(line, fg=color) if color else line, nl=False, color=run.color)
    if not run.quiet:
        for note in text.notes(report):
            click.echo(note, err=True)
        _tell_rest(report, done, choice.unsafe)
        if changes:
            plural = "" if changes == 1 else "s"
            click.echo(f"Would change {changes} file{plural}; `--apply` writes.", err=True)
        elif not report.findings:
            click.echo("Nothing to change.", err=True)
    sys.exit(1 if changes or refused else 0)


def _tell_rest(report: Report, done: Iterable[int], unsafe: bool) -> None:
    """One line for each finding that stays as it is, with the reason."""
    from ..linter.findings import Applicability
    from ..output.places import Places

    places = Places()
    for finding in report.findings:
        if id(finding) in done:
            continue
        start = places.start(finding.path, finding.span)
        fix = finding.fix
        if fix is None:
            why = f"no fix: {finding.message}"
        elif fix.applicability is Applicability.DISPLAY:
            why = f"shown only: {fix.message}"
        elif not unsafe and fix.applicability is Applicability.UNSAFE:
            why = f"needs --unsafe: {fix.message}"
        else:
            continue
        click.echo(f"{finding.path}:{start.row}:{start.column}: {finding.code} {why}", err=True)
