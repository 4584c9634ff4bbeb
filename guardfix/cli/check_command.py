"""`guardfix check`."""

from __future__ import annotations

import sys
from typing import Any

import click

from ..wording import printable
from .options import check_with, choice_from, choosing, run_from, selection


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
    run, choice = run_from(arguments), choice_from(arguments)
    if not arguments["fix"] and (choice.unsafe or choice.remove_redundant or not choice.hoist):
        raise click.UsageError("--unsafe, --no-hoist and --remove-redundant choose what --fix applies: add --fix")
    report = check_with(run, _import_the_rest)
    from guardfix.codemods.plan import with_fixes
    from guardfix.linter.files.source_positions import SourcePositions

    from ..output import text_format

    report = with_fixes(report, remove_redundant=choice.remove_redundant)
    failed = False
    if arguments["fix"]:
        from guardfix.codemods.apply.applying import apply_fixes

        outcome = apply_fixes(report, unsafe=choice.unsafe, hoist=choice.hoist)
        failed = bool(outcome.failed)
        for line in outcome.lines():
            click.echo(printable(line), err=True)
        report = with_fixes(check_with(run), remove_redundant=choice.remove_redundant)
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
    from guardfix.codemods import plan

    from ..output import text_format

    _ = plan, text_format
