"""What the page shows, as plain values: the findings with code, evidence, steps and fixes, and what they add up to."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple
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
from .report_origin import ReportOrigin
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
    asked: dict[str, None] = field(default_factory=dict)
    """The files to which a link was asked for."""

    def to(self, path: str, row: int) -> str:
        """The address of a row of a file."""
        self.asked[path] = None
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


class ReportPart(NamedTuple):
    """What can be done about some of the findings, and the command that does it."""

    name: str
    findings: int
    words: str
    command: str


_PARTS = (
    ("apply", ("can be applied now", "can be applied now"), "guardfix migrate --apply"),
    ("look", ("wants a look", "want a look"), "guardfix migrate --unsafe"),
    ("decide", ("needs you", "need you"), "guardfix migrate --interactive"),
)
_PART_OF = {Applicability.SAFE.value: "apply", Applicability.UNSAFE.value: "look"}
_CONFIDENCES = ("high", "medium", "low", "")


@dataclass
class ReportContent:
    """All that the page says."""

    title: str
    version: str
    files: int
    """How many files were looked at."""
    findings: list[dict[str, Any]] = field(default_factory=list)
    """Each as the page's script reads it, in the order in which the page shows them."""
    notes: list[str] = field(default_factory=list)
    paths: str = ""
    """What was checked, as a command names it."""
    made: ReportOrigin = field(default_factory=ReportOrigin)
    last: ReportOrigin | None = None
    """The report that this one replaces."""

    @property
    def files_with_findings(self) -> int:
        return len({one["path"] for one in self.findings})

    @property
    def parts(self) -> list[ReportPart]:
        """Those that have findings."""
        counts = Counter(one["part"] for one in self.findings)
        return [
            ReportPart(name, counts[name], words[counts[name] != 1], f"{command} {self.paths}".strip())
            for name, words, command in _PARTS
            if counts[name]
        ]

    @property
    def trend(self) -> str:
        """How many findings came or went since the last report, in words."""
        if self.last is None:
            return ""
        more = len(self.findings) - self.last.findings
        change = "as many" if not more else f"{abs(more):,} {'more' if more > 0 else 'fewer'}"
        then = " ".join(filter(None, (self.last.date, self.last.commit and f"at {self.last.commit}")))
        return f"{change} {'as' if not more else 'than'} on {then}"


def _order(one: dict[str, Any]) -> tuple[Any, ...]:
    """Parts, then groups, then the most certain first."""
    part = [name for name, _, _ in _PARTS].index(one["part"])
    return part, one["rule"], one["group"], _CONFIDENCES.index(one["confidence"]), one["path"], one["row"]


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
    content.findings.sort(key=_order)
    return content


def _finding(finding: FixableFinding, report: FixableReport, links: CodeLinks, intents_from: str) -> dict[str, Any]:
    start, end = report.start(finding), report.end(finding)
    source = report.positions.source(finding.path)
    decision, fix = finding.decision, finding.fix
    path = printable(finding.path).replace(os.sep, "/")
    return {
        "rule": finding.code,
        "name": finding.name,
        "part": _PART_OF.get(_fix_kind(fix), "decide"),
        "group": _group(decision),
        "severity": finding.severity.value,
        "path": path,
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


def _group(decision: Decision | None) -> str:
    """What the findings of a rule have in common with some others of it."""
    if decision is None:
        return ""
    if decision.context is not Context.UNKNOWN:
        return f"{decision.context}, `{decision.replacement}`" if decision.replacement else str(decision.context)
    return "reasons for different replacements" if decision.evidence else "nothing nearby says what the guard is for"


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

    def step_rows(steps: list[tuple[int, StepTaken]]) -> list[dict[str, Any]]:
        shown = ((number, _reason(step, step.message, finding.path, report, links)) for number, step in steps)
        return [{"number": number, **one} for number, one in shown]

    gap = [{"number": 0, "text": f"{left_out} are not shown"}] if left_out else []
    return [*step_rows(first), *gap, *step_rows(last)]


def _reason(
    reason: Evidence | StepTaken, message: str, path: str, report: FixableReport, links: CodeLinks
) -> dict[str, Any]:
    """The note on a place, and its line, in a finding of the file `path`."""
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
