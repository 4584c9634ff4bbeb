"""`guardfix check`."""

from __future__ import annotations

import sys
from typing import Any

import click

from ..options import check_with, run_from, selection


@click.command("check")
@selection
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", help="How findings are printed.")
@click.option(
    "--fix",
    is_flag=True,
    help="Apply the safe fixes, as `guardfix migrate --apply` does, and report what is left.",
)
@click.option("--unsafe-fixes", is_flag=True, help="With --fix: the unsafe fixes too.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
def command(**arguments: Any) -> None:
    """Find guards that are used wrongly, and say why.

    PATHS are files and folders; the current folder when none is given.
    """
    run = run_from(arguments)
    from ..codemods.plan import with_fixes
    from ..output import text
    from ..output.places import Places

    report = with_fixes(check_with(run))
    if arguments["fix"]:
        from ..codemods.migrate import apply_fixes

        outcome = apply_fixes(report, unsafe=arguments["unsafe_fixes"])
        for line in outcome.lines():
            click.echo(line, err=True)
        report = with_fixes(check_with(run))
    if arguments["output_format"] == "json":
        from ..output.json import to_json

        click.echo(to_json(report.findings))
    else:
        places = Places()
        for finding in report.findings:
            click.echo(text.finding_text(finding, places, color=run.color), color=run.color)
    if not run.quiet:
        for note in text.notes(report):
            click.echo(note, err=True)
        if arguments["output_format"] == "text":
            click.echo(text.summary(report), nl=False)
    sys.exit(1 if report.findings and not arguments["exit_zero"] else 0)
