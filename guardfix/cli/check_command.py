"""`guardfix check`."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click

from ..output.format_registry import load_format
from ..wording import printable
from .command_run import check_with, finished, run_from
from .options import choice_from, choosing, output_format_option, selection, standard_input
from .standard_input import write_fixed


@click.command("check")
@selection
@standard_input
@output_format_option("findings", help="The output format.")
@click.option(
    "--fix",
    is_flag=True,
    help="Apply the safe fixes, as `guardfix migrate --apply` does, and report what is left.",
)
@choosing
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
def command(**arguments: Any) -> None:
    """Find guards that are used wrongly, and explain why.

    PATHS are files and directories; by default, the current directory. With `-` and --stdin-filename, standard input
    is checked; --fix then prints the fixed text, and what is left to standard error.
    """
    from guardfix.codemods.choice import FixChoice

    run, choice = run_from(arguments), choice_from(arguments)
    if not arguments["fix"] and choice != FixChoice():
        raise click.UsageError("--unsafe, --no-hoist and --remove-redundant need --fix")
    found = check_with(run, _import_the_rest)
    from guardfix.codemods.fixable import fixes_for

    from ..output.report_summary import notes, summary

    report = fixes_for(found, choice=choice)
    output, output_format = run.output(), load_format(arguments["output_format"])
    failed = False
    if arguments["fix"] and run.standard_input is not None:
        from guardfix.codemods.apply.applying import rewrites

        fixed = write_fixed(run.standard_input, next(rewrites(report), None))
        output = replace(output, stream=sys.stderr)
        report = fixes_for(check_with(run.with_text(fixed)), choice=choice)
    elif arguments["fix"]:
        from guardfix.codemods.apply.applying import apply_fixes

        outcome = apply_fixes(report)
        failed = bool(outcome.failed)
        for line in outcome.lines():
            click.echo(printable(line), err=True)
        report = fixes_for(check_with(run), choice=choice)
    output_format.findings(report, output)
    if not run.quiet:
        for note in notes(report):
            click.echo(note, err=True)
        if not output_format.for_machines:
            output.write(summary(report, run.width), newline=False)
    sys.exit(finished(report, 2 if failed else 1 if report.findings and not arguments["exit_zero"] else 0))


def _import_the_rest() -> None:
    """What is imported before the files are read keeps the processes that read them waiting; afterwards, the user."""
    from guardfix.codemods import fixable

    from ..output import report_summary, text_format

    _ = fixable, report_summary, text_format
