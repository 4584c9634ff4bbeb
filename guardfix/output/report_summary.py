"""What is written beside the findings: the last lines, and notes on how files were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from guardfix.codemods.fixable import FixableFinding, FixableReport
from guardfix.linter.engine import Report
from guardfix.linter.files.languages import why_not_read
from guardfix.linter.files.suppressions import unknown_code
from guardfix.linter.findings import Applicability
from guardfix.linter.flow.project_events import unfinished_in
from guardfix.linter.guards import LEGACY
from guardfix.linter.parser_versions import untested_parsers

from ..foreign_text import printable
from ..wording import count_of, passed
from .terminal_layout import TAB, wrapped

_TELLS_UNKNOWN_CODES = "GF002"
"""The rule that reports what is noted here without it."""

if TYPE_CHECKING:
    from ..verify.judging.guard_outcomes import GuardOutcome
    from ..verify.verifying import Result


def summary(report: FixableReport, width: int | None = None, paths: Sequence[str] = ()) -> str:
    """The last lines: how many findings, in how many files, and what can be done about them. `paths` were named."""
    if not report.findings:
        return passed(report.files, why_not_read(paths) if report.files == 0 else "")
    count = len(report.findings)
    files = len({finding.path for finding in report.findings})
    safe, unsafe = (
        sum(1 for f in report.findings if f.fix is not None and f.fix.applicability is kind)
        for kind in (Applicability.SAFE, Applicability.UNSAFE)
    )
    line = f"Found {count_of(count, 'issue')} in {count_of(files, 'file')} ({count_of(report.files, 'file')} checked)."
    if safe:
        line += f"\n[*] {safe} can be applied: `guardfix migrate --apply`."
    if unsafe:
        line += f"\n{unsafe} {'wants' if unsafe == 1 else 'want'} review, as the fix may change behavior: "
        line += "`guardfix migrate --unsafe`."
    if left := count - safe - unsafe:
        line += f"\n{left} {'needs' if left == 1 else 'need'} your decision: {_deciding(report)}."
    return "".join(f"{part}\n" for paragraph in line.split("\n") for part in wrapped(paragraph, width, indent=TAB))


_MOST_RULES = 3
"""That a summary names; the findings above it name all."""


def _deciding(report: FixableReport) -> str:
    """The commands for findings without a fix that can be applied: guards to decide about, then the rest."""
    left = [f for f in report.findings if f.fix is None or f.fix.applicability is Applicability.DISPLAY]
    commands = ["`guardfix migrate --interactive`"] if any(map(is_for_a_person, left)) else []
    rest = sorted({finding.code for finding in left if not is_for_a_person(finding)})
    return ", ".join([*commands, *([f"`guardfix explain {' '.join(rest[:_MOST_RULES])}`"] if rest else [])])


def is_for_a_person(finding: FixableFinding) -> bool:
    """Whether a person can say what the old guard is for, so that there is a fix."""
    return finding.decision is not None and finding.use is not None and finding.use.guard == LEGACY


def notes(report: Report, *, verbose: bool = False) -> Iterator[str]:
    """What a reader should know about how files were read; if `verbose`, also how far code was followed."""
    for facts in report.project.checked():
        for note in facts.notes:
            yield f"note: {printable(facts.path)}: {note}"
    if report.rule(_TELLS_UNKNOWN_CODES) is None:
        for facts in report.project.checked():
            for suppression in facts.suppressions:
                for given in filter(unknown_code, suppression.codes):
                    row = facts.row(suppression.places[0].start) if suppression.places else suppression.rows.start
                    yield f"note: {printable(facts.path)}:{row}: no rule is called `{given}`, so it suppresses nothing"
    if report.partial:
        places = ", ".join(f"{printable(facts.path)}:{facts.error_row}" for facts in report.partial[:3])
        more = f" and {len(report.partial) - 3} more" if len(report.partial) > 3 else ""
        yield f"note: {count_of(len(report.partial), 'file')} could only be parsed partially ({places}{more})"
    if report.project.files and (untested := untested_parsers()):
        yield f"note: guardfix isn't tested with {' and '.join(untested)}: findings may differ"
    if report.suppressed:
        yield f"note: {count_of(report.suppressed, 'finding')} suppressed by comments"

    unfinished = unfinished_in(report.project) if verbose else []
    if unfinished:
        rows = [f"{printable(path)}:{report.project.files[path].row(span.start)}" for path, span in unfinished]
        what = "was too long" if len(rows) == 1 else "were too long"
        yield f"note: {count_of(len(rows), 'function')} {what} to be followed to the end: {', '.join(rows)}"


def lost_workers(report: Report) -> Iterator[str]:
    """What became of processes that were lost while they read files."""
    for how, count in Counter(report.lost).items():
        processes = "a process" if count == 1 else f"{count} processes"
        was, its = ("was", "its") if count == 1 else ("were", "their")
        yield f"guardfix: {processes} that read files {was} lost ({how}); {its} files were read again"


def remaining_guards(count: int, undecided: int) -> str:
    """`18 old guards remain: 15 undecided; try `--decide`.`; empty where none remains."""
    if not count:
        return ""
    line = f"{count_of(count, 'old guard')} {'remains' if count == 1 else 'remain'}"
    if not undecided:
        return f"{line}; `guardfix check` says why."
    return f"{line}: {'' if undecided == count else f'{undecided} '}undecided; try `--decide`."


def verdict_summary(results: Sequence[Result], outcomes: Sequence[GuardOutcome]) -> str:
    """The last lines of `guardfix verify`: how many programs have which verdict, and what is known of the guards."""
    from ..verify.judging.guard_outcomes import outcome_summary
    from ..verify.judging.verdicts import Verdict
    from ..verify.programs.program_migration import Migration

    counts = Counter(result.judgement.verdict for result in results if result.is_program)
    total = sum(counts.values())
    parts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    left = {one for result in results for one in result.migration.left}
    lines = [
        f"{count_of(total, 'program')}: {parts}.",
        remaining_guards(*Migration(left=tuple(left)).remaining),
        outcome_summary(outcomes) if outcomes else "",
    ]
    return "\n".join(filter(None, lines))
