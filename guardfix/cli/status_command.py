"""`guardfix status`: what is left to do in a tree, and who has to do it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from ..adoption.code_owners import NO_OWNER, CodeOwners
from ..adoption.tree_progress import NextStep, TreeProgress, progress_of
from ..foreign_text import printable
from ..output.finding_places import below, repository_top
from ..output.json_text import json_text
from ..output.plain_echo import echo
from ..output.terminal_layout import TAB, terminal_width, wrapped
from ..wording import count_of, passed
from .chosen_fixes import FixOptions, choice_from
from .command_run import SharedOptions, check_with, options_in, run_from
from .finding_filters import read_baseline
from .options import choosing, reading_limits, selection

if TYPE_CHECKING:
    from ..adoption.tree_progress import Steps

_TITLES = {NextStep.APPLY: "apply", NextStep.REVIEW: "review", NextStep.DECIDE: "decide"}
_MEANINGS = {
    NextStep.APPLY: "can be applied: `guardfix migrate --apply`",
    NextStep.REVIEW: "want{s} review: `guardfix migrate --unsafe`",
    NextStep.DECIDE: "need{s} your decision: `guardfix migrate --interactive`, `guardfix check`",
}
_CONFIDENCES = ("high", "medium", "low")


@click.command("status", short_help="Count what is left: by rule, context, folder and owner.")
@selection
@reading_limits
@choosing
@click.option("--baseline", metavar="FILE", type=click.Path(dir_okay=False), help="Compare with this baseline.")
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="How many levels of folders to distinguish.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON; `guardfix schema status` describes it.")
def command(baseline: str | None, depth: int, as_json: bool, **arguments: Any) -> None:
    """Count what is left to do at and below PATHS: which findings have a fix, and which a person has to decide.

    Owners come from CODEOWNERS. With a baseline, given or configured, the progress since it was created is shown.
    """
    run = run_from(options_in(SharedOptions, arguments))
    choice = choice_from(options_in(FixOptions, arguments), run.options.minimum_torch)
    from guardfix.codemods.fixable import fixes_for

    report = fixes_for(check_with(run), choice=choice)
    top = repository_top()
    names = {finding.path: below(finding.path, top) or finding.path for finding in report.findings}
    file = baseline or run.baseline
    held = read_baseline(file) if file else None
    owners = CodeOwners.read(top)
    found = progress_of(report, names, owners, held, depth)
    echo(
        json_text(_object(found), indent=2)
        if as_json
        else _text(found, os.path.basename(file or ""), terminal_width()),
        nl=as_json,
    )


def _text(found: TreeProgress, baseline: str, width: int | None) -> str:
    total = found.steps.total()
    lines = (
        [f"{count_of(total, 'finding')} in {count_of(found.files, 'file')}."]
        if total
        else [passed(found.files).rstrip()]
    )
    for step in NextStep:
        if count := found.steps[step]:
            lines.append(f"  {count:>5} {_MEANINGS[step].format(s='s' if count == 1 else '')}")
    if found.baseline is not None:
        before, left, more = found.baseline
        done = f"{100 * (before - left) // before}%" if before else "100%"
        lines += ["", f"{printable(baseline)}: {left} of {before} left, {done} done; {more} not in it."]
    lines = [part for line in lines for part in _broken(line, width)]
    if found.contexts:
        lines += ["", *_table("By context", found.contexts, _CONFIDENCES)]
    titles = tuple(_TITLES.values())
    for title, table in (("By rule", found.by_rule), ("By folder", found.by_folder), ("By owner", found.by_owner)):
        if table and not (table is found.by_owner and table.keys() <= {NO_OWNER}):
            lines += ["", *_table(title, table, titles)]
    return "".join(f"{line}\n" for line in lines)


def _broken(line: str, width: int | None) -> list[str]:
    """The line as it fits the terminal, with what is indented in it."""
    text = line.lstrip()
    lead = line[: len(line) - len(text)]
    start, *others = wrapped(text, width, first=len(lead), indent=2 * TAB)
    return [lead + start, *others]


def _table(title: str, rows: Mapping[str, Counter[Any]], columns: tuple[str, ...]) -> list[str]:
    """Lines of a table, the row with the most first."""
    ordered = sorted(rows.items(), key=lambda pair: (-pair[1].total(), pair[0]))
    width = max(len(title) - 2, *(len(printable(name)) for name in rows))
    head = f"{title:<{width + 2}}  {'all':>6}" + "".join(f"  {column:>6}" for column in columns)
    return [head] + [
        f"  {printable(name):<{width}}  {count.total():>6}"
        + "".join(f"  {count[column] or '.':>6}" for column in columns)
        for name, count in ordered
    ]


def _object(found: TreeProgress) -> dict[str, Any]:
    return {
        "files": found.files,
        "findings": _steps(found.steps),
        "baseline": found.baseline and dict(zip(("before", "left", "new"), found.baseline, strict=True)),
        "contexts": {
            context: {confidence: count[confidence] for confidence in _CONFIDENCES}
            for context, count in sorted(found.contexts.items())
        },
        "rules": _by_name(found.by_rule),
        "folders": _by_name(found.by_folder),
        "owners": _by_name(found.by_owner),
    }


def _by_name(table: Mapping[str, Steps]) -> dict[str, dict[str, int]]:
    return {name: _steps(count) for name, count in sorted(table.items())}


def _steps(count: Steps) -> dict[str, int]:
    return {step.value: count[step] for step in NextStep}
