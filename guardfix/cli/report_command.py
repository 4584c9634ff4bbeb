"""`guardfix report`: the findings as a page of HTML."""

from __future__ import annotations

import os
import shlex
from typing import Any

import click

from ..foreign_text import printable
from ..output.finding_places import repository_top
from ..output.json_text import json_text
from ..output.plain_echo import echo, write_bytes
from ..wording import count_of
from .chosen_fixes import FixOptions, choice_from
from .command_failure import Failure, raise_unless_missing
from .command_run import SharedOptions, check_with, finished, options_in, run_from
from .options import choosing, reading_limits, selection


@click.command("report", short_help="Write the findings as a single HTML page.")
@selection
@reading_limits
@choosing
@click.option(
    "--output",
    "-o",
    "output",
    type=click.Path(dir_okay=False),
    default="guardfix-report.html",
    show_default=True,
    metavar="FILE",
    help="The file to write; `-` for standard output.",
)
@click.option("--title", metavar="TEXT", help="The page's title; by default the name of the folder.")
@click.option(
    "--link",
    metavar="URL",
    default="",
    help="Where places in the code link to: an address with {path}, relative to the top of the repository, and "
    "{line}. By default, the files on disk.",
)
@click.option(
    "--verify-results",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Show the verdicts of `guardfix verify --output-format json > FILE` with the findings that they concern.",
)
@click.option(
    "--live",
    is_flag=True,
    hidden=True,
    help="For the server: the page asks it for changes, and on the line above it are the files that it links to.",
)
def command(
    output: str, title: str | None, link: str, live: bool, verify_results: str | None, **arguments: Any
) -> None:
    """Write the findings at and below PATHS as a single HTML file that needs no network.

    It shows every finding with its code, evidence and fix, has filters and a search, and lets you decide about guards
    that stay open. Without JavaScript, and in print, it is a plain table.
    """
    try:
        from ..report.html_page import html_page
        from ..report.report_content import CodeLinks, content_of
        from ..report.report_origin import ReportOrigin, last_report, origin_now
        from ..report.verify_results import BadVerifyResults, read_verify_results
    except ImportError as error:
        why = "the report needs Jinja2 and Pygments: `pip install 'guardfix[report]'`"
        raise_unless_missing(error, ("jinja2", "pygments", "markupsafe"), why)
    if link and "{path}" not in link:
        raise click.UsageError("--link has no {path}, so all places would link to the same page")
    try:
        verdicts = read_verify_results(verify_results) if verify_results else None
    except BadVerifyResults as error:
        raise Failure(f"{verify_results}: {error}") from None
    run = run_from(options_in(SharedOptions, arguments))
    choice = choice_from(options_in(FixOptions, arguments), run.options.minimum_torch)
    from guardfix.codemods.fixable import fixes_for

    from ..output.report_summary import notes
    from ..package_version import VERSION

    report = fixes_for(check_with(run), choice=choice)
    folder = os.curdir if output == "-" else os.path.dirname(output) or os.curdir
    named = title or os.path.basename(os.path.realpath(run.paths[0] if len(run.paths) == 1 else os.curdir))
    links = CodeLinks(link, folder, repository_top())
    content = content_of(
        report,
        title=named,
        version=VERSION,
        links=links,
        intents_from=run.options.root,
        notes=notes(report),
        verdicts=verdicts,
    )
    content.paths = shlex.join(map(printable, run.paths))
    content.made = ReportOrigin(*origin_now(repository_top()), len(content.findings))
    content.last = None if output == "-" else last_report(output)
    page = html_page(content, live=live)
    if live:
        write_bytes(f"{json_text(list(map(os.path.realpath, links.asked)))}\n".encode())
    if output == "-":
        write_bytes(page.encode("utf-8"))
    else:
        try:
            with open(output, "w", encoding="utf-8", newline="\n") as file:
                file.write(page)
        except OSError as error:
            raise Failure(f"{output}: {error.strerror or error}") from None
        if not run.quiet:
            found = f"{count_of(len(content.findings), 'finding')} in {count_of(content.files_with_findings, 'file')}"
            echo(f"Wrote {printable(output)}: {found}.")
    raise SystemExit(finished(report, 0))
