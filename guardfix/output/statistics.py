"""`--statistics`: how many findings each rule has, the most frequent first, as Ruff has it."""

from __future__ import annotations

from collections.abc import Sequence

from guardfix.codemods.fixable import FixableReport
from guardfix.linter.findings import Applicability

from .format_registry import Output, RuleCount
from .json_text import json_text
from .terminal_layout import styling


def counts_of(report: FixableReport) -> list[RuleCount]:
    """A row for each rule with a finding."""
    found: dict[str, list[int]] = {}
    names = {}
    for finding in report.findings:
        names[finding.code] = finding.name
        count = found.setdefault(finding.code, [0, 0])
        count[0] += 1
        count[1] += finding.fix is not None and finding.fix.applicability is Applicability.SAFE
    rows = [RuleCount(code, names[code], *count) for code, count in found.items()]
    return sorted(rows, key=lambda row: (-row.count, row.code))


def write_counts(rows: Sequence[RuleCount], output: Output) -> None:
    """A line for each rule; `[*]` where all its findings have a safe fix, `[-]` where some have."""
    style = styling(output.color)
    width = max((len(str(row.count)) for row in rows), default=0)
    marked = any(row.fixable for row in rows)
    for row in rows:
        mark = f"[{'*' if row.fixable == row.count else '-' if row.fixable else ' '}] " if marked else ""
        output.write(
            f"{style(f'{row.count:>{width}}', bold=True)}\t{style(row.code, fg='red', bold=True)}\t{mark}{row.name}"
        )


def write_count_objects(rows: Sequence[RuleCount], output: Output) -> None:
    """The same as a JSON array."""
    objects = [
        {
            "code": row.code,
            "name": row.name,
            "count": row.count,
            "fixable": row.fixable == row.count,
            "fixable_count": row.fixable,
        }
        for row in rows
    ]
    output.write(json_text(objects, indent=2))
