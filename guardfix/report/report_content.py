"""What the page shows, as plain values: the findings with code, evidence, steps and fixes, and what they add up to."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from guardfix.codemods.fix import Fix
from guardfix.codemods.fixable import FixableFinding, FixableReport
from guardfix.foreign_text import printable
from guardfix.linter.facts.intents import Purpose
from guardfix.linter.files.sources import Source
from guardfix.linter.findings import Applicability, Context, Decision, Evidence, Finding, StepTaken
from guardfix.output.finding_places import below, rule_url
from guardfix.output.finding_reasons import shown_steps

from .code_excerpts import BEFORE, BEHIND, excerpt
from .fix_columns import columns
from .verify_results import VerifyResults

_MOST_EVIDENCE = 20
_MOST_STEPS = 41
_MOST_ROWS = 60
"""Rows of a fix that are shown."""
NO_FIX = "none"


@dataclass(frozen=True)
class CodeLinks:
    """Where a place in the code leads to."""

    template: str = ""
    """An address with {path} and {line}; when empty, the file itself, from the page on."""
    page_folder: str = os.curdir
    top: str = ""
    """The folder that {path} starts from."""

    def to(self, path: str, row: int) -> str:
        """The address of a row of a file."""
        if self.template:
            name = below(path, self.top) or path
            return self.template.replace("{path}", _quoted(name)).replace("{line}", str(row))
        try:
            name = os.path.relpath(path, self.page_folder)
        except ValueError:  # on another drive
            name = path
        return f"{_quoted(name.replace(os.sep, '/'))}#L{row}"


def _quoted(name: str) -> str:
    return quote(os.fsencode(name))


@dataclass
class ReportContent:
    """All that the page says."""

    title: str
    version: str
    files: int
    """How many files were looked at."""
    findings: list[dict[str, Any]] = field(default_factory=list)
    """Each as the page's script reads it."""
    notes: list[str] = field(default_factory=list)

    def counts(self, key: str) -> list[tuple[str, int]]:
        """How many findings have which value, the most frequent first."""
        return Counter(str(one[key]) for one in self.findings if one[key]).most_common()

    def rule_name(self, code: str) -> str:
        """The name of a rule that has findings."""
        return next((str(one["name"]) for one in self.findings if one["rule"] == code), "")

    @property
    def files_with_findings(self) -> int:
        return len({one["path"] for one in self.findings})

    @property
    def undecided(self) -> int:
        return sum(1 for one in self.findings if one["context"] == Context.UNKNOWN)


def content_of(
    report: FixableReport,
    *,
    title: str,
    version: str,
    links: CodeLinks,
    intents_from: str = "",
    notes: Iterable[str] = (),
    verdicts: VerifyResults | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ReportContent:
    """Make the values. `intents_from` is the folder from which the patterns of `[tool.guardfix.intent]` start;
    `verdicts` is what verifying said."""
    content = ReportContent(printable(title), version, report.files, notes=list(notes))
    for number, finding in enumerate(report.findings, 1):
        shown = _finding(finding, report, links, intents_from)
        said = verdicts and verdicts.about(finding.path, finding.code, shown["row"])
        content.findings.append({**shown, "verdict": said["verdict"] if said else "", "verified": said or None})
        if progress is not None and number % 50 == 0:
            progress(number, len(report.findings))
    return content


def _finding(finding: FixableFinding, report: FixableReport, links: CodeLinks, intents_from: str) -> dict[str, Any]:
    start, end = report.start(finding), report.end(finding)
    source = report.positions.source(finding.path)
    decision, fix = finding.decision, finding.fix
    path = printable(finding.path).replace(os.sep, "/")
    return {
        "rule": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "path": path,
        "folder": os.path.dirname(path) or ".",
        "row": start.row,
        "column": start.column,
        "href": links.to(finding.path, start.row),
        "url": rule_url(finding),
        "message": printable(finding.message),
        "context": decision.context.value if decision is not None else "",
        "confidence": decision.confidence.value if decision is not None else "",
        "replacement": (decision.replacement or "") if decision is not None else "",
        "code": _code(source, start.row, end.row, start.column),
        "mark": [start.row, start.column, end.row, end.column],
        "evidence": _evidence(decision, finding.path, report, links),
        "steps": _steps(finding, report, links),
        "fix": _fix_kind(fix),
        "fixMessage": printable(fix.message) if fix is not None else "",
        "columns": _columns(source, fix),
        "intent": _intent_pattern(finding, intents_from) if _is_open(decision) else "",
    }


def _is_open(decision: Decision | None) -> bool:
    return decision is not None and decision.context is Context.UNKNOWN


def _fix_kind(fix: Fix | None) -> str:
    return fix.applicability.value if fix is not None else NO_FIX


def _code(source: Source | None, first: int, last: int, column: int) -> list[Any]:
    if source is None or not source.text:
        return []
    found = excerpt(source, first - BEFORE, min(last, first + 8) + BEHIND, column)
    return [found.row, [list(line) for line in found.lines]]


def _evidence(decision: Decision | None, path: str, report: FixableReport, links: CodeLinks) -> list[dict[str, Any]]:
    if decision is None:
        return []
    shown = decision.evidence[:_MOST_EVIDENCE]
    return [_reason(evidence, decision.reason(evidence), path, report, links) for evidence in shown]


def _steps(finding: Finding, report: FixableReport, links: CodeLinks) -> list[dict[str, Any]]:
    """The steps with their numbers; those that are left out of a long story are an entry with the number 0."""
    first, left_out, last = shown_steps(finding.steps, _MOST_STEPS)

    def told(steps: list[tuple[int, StepTaken]]) -> list[dict[str, Any]]:
        shown = ((number, _reason(step, step.message, finding.path, report, links)) for number, step in steps)
        return [{"number": number, **one} for number, one in shown]

    gap = [{"number": 0, "text": f"{left_out} are not shown"}] if left_out else []
    return [*told(first), *gap, *told(last)]


def _reason(
    reason: Evidence | StepTaken, message: str, path: str, report: FixableReport, links: CodeLinks
) -> dict[str, Any]:
    """What is said of a place, and its line, in a finding of the file `path`."""
    source = report.positions.source(reason.path)
    lines = excerpt(source, reason.row, reason.row).lines if source is not None and source.text else []
    name = printable(reason.path).replace(os.sep, "/")
    return {
        "text": printable(message),
        "place": f"line {reason.row}" if reason.path == path else f"{name}:{reason.row}",
        "href": links.to(reason.path, reason.row),
        "code": [lines[0].text, lines[0].parts] if lines else [],
    }


def _columns(source: Source | None, fix: Fix | None) -> list[list[list[Any]]]:
    if source is None or fix is None or not fix.edits:
        return []
    return [[list(row) for row in place[:_MOST_ROWS]] for place in columns(source, fix.edits)]


def _intent_pattern(finding: FixableFinding, intents_from: str) -> str:
    """The file, as a pattern of the configuration names it."""
    folder = os.path.realpath(intents_from or os.curdir)
    return printable(below(finding.path, folder) or finding.path)


PICKED_PURPOSES = [purpose.value for purpose in Purpose]
FIX_KINDS = [*(kind.value for kind in Applicability), NO_FIX]
