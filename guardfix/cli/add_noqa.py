"""`guardfix check --add-noqa`: comments silence every finding; those that can't be silenced are reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from guardfix.linter.files.workspace import Workspace

from ..foreign_text import printable
from ..output.plain_echo import echo
from ..wording import count_of
from .command_run import CommandRun, check_with
from .stderr_notes import write_note

if TYPE_CHECKING:
    from guardfix.codemods.fixable import FixableReport
    from guardfix.linter.findings import Finding

    from ..adoption.noqa_comments import Commented


def add_comments(report: FixableReport, run: CommandRun) -> int:
    """Write the comments; the exit status.

    The texts are checked again before they are written: a comment that silences nothing where it is, in the middle
    of a string, is tried on a line above, and else not written.
    """
    from guardfix.codemods.apply.applying import clear_abandoned
    from guardfix.codemods.apply.rewriting import Rewrite
    from guardfix.codemods.apply.writing import NotWritten, write

    from ..adoption.noqa_comments import commented

    wanted = list(report.findings)
    on_top = _still_found(wanted, commented(report, wanted), report, run)
    loud: list[Finding] = []
    if on_top:
        loud = _still_found(on_top, commented(report, _without(wanted, on_top), on_top), report, run)
    clear_abandoned(report)
    added = 0
    failed = False
    silenced = _without(wanted, loud)
    for one in commented(report, _without(wanted, on_top), _without(on_top, loud)):
        try:
            write(Rewrite(one.source, one.text))
        except NotWritten as error:
            failed = True
            write_note(f"{printable(one.source.path)}: not written: {error}")
        else:
            added += sum(1 for finding in silenced if finding.path == one.source.path)
    for finding in loud:
        start = report.start(finding)
        where = f"{printable(finding.path)}:{start.row}:{start.column}"
        write_note(f"{where}: {finding.code} can't be suppressed by a comment here")
    if not run.quiet:
        echo(f"Added comments for {count_of(added, 'finding')}.")
    return 2 if failed else 0


def _without(findings: Sequence[Finding], others: Sequence[Finding]) -> list[Finding]:
    known = set(map(id, others))
    return [finding for finding in findings if id(finding) not in known]


def _still_found(
    wanted: Sequence[Finding], files: Sequence[Commented], report: FixableReport, run: CommandRun
) -> list[Finding]:
    """Those of the findings that are also found in the commented texts."""
    by_path = {one.source.path: one for one in files}
    texts = {path: one.source.encode(one.text) for path, one in by_path.items()}
    again = check_with(replace(run, workspace=Workspace.over_disk(texts), quiet=True))
    left = {(finding.path, finding.code, again.start(finding)) for finding in again.findings}
    still = []
    for finding in wanted:
        start = report.start(finding)
        one = by_path.get(finding.path)
        here = start if one is None else start._replace(row=one.row_now(start.row))
        if one is None or (finding.path, finding.code, here) in left:
            still.append(finding)
    return still
