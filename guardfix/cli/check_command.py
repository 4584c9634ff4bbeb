"""`guardfix check`."""

from __future__ import annotations

import sys
from typing import Any

import click

from .options import check_with, choice_from, choosing, run_from, selection
from .streams import printable


@click.command("check")
@selection
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", help="How findings are printed.")
@click.option(
    "--fix",
    is_flag=True,
    help="Apply the safe fixes, as `guardfix migrate --apply` does, and report what is left.",
)
@choosing
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
def command(**arguments: Any) -> None:
    """Find guards that are used wrongly, and say why.

    PATHS are files and folders; the current folder when none is given.
    """
    from guardfix.codemods.choice import FixChoice

    run, choice = run_from(arguments), choice_from(arguments)
    if not arguments["fix"] and choice != FixChoice():
        raise click.UsageError("--unsafe, --no-hoist and --remove-redundant choose what --fix applies: add --fix")
    found = check_with(run, _import_the_rest)
    from guardfix.codemods.fixable import fixes_for

    from ..output import text_format
    from ..output.source_positions import SourcePositions

    report = fixes_for(found, choice=choice)
    failed = False
    if arguments["fix"]:
        from guardfix.codemods.apply.applying import apply_fixes

        outcome = apply_fixes(report)
        failed = bool(outcome.failed)
        for line in outcome.lines():
            click.echo(printable(line), err=True)
        report = fixes_for(check_with(run), choice=choice)
    if arguments["output_format"] == "json":
        from ..output.json_format import to_json

        click.echo(to_json(report.findings))
    else:
        places = SourcePositions()
        for finding in report.findings:
            click.echo(text_format.finding_text(finding, places, color=run.color, width=run.width), color=run.color)
    if not run.quiet:
        for note in text_format.notes(report):
            click.echo(note, err=True)
        if arguments["output_format"] == "text":
            click.echo(text_format.summary(report, run.width), nl=False)
    sys.exit(2 if failed else 1 if report.findings and not arguments["exit_zero"] else 0)


def _import_the_rest() -> None:
    """What is imported before the files are read keeps the processes that read them waiting; afterwards, the user."""
    from guardfix.codemods import fixable

    from ..output import source_positions, text_format

    _ = fixable, source_positions, text_format
