"""What is found in a repository as rows of tables: one a use of a guard, one a finding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from guardfix.adoption.fingerprints import function_around, function_name
from guardfix.adoption.tree_progress import next_step
from guardfix.codemods.fixable import FixableFinding, FixableReport
from guardfix.foreign_text import printable
from guardfix.linter.facts import Facts, GuardUse
from guardfix.linter.facts.embedded_paths import real_path
from guardfix.linter.findings import Decision
from guardfix.linter.frontends.frontend import frontend_named
from guardfix.linter.guards import Guard, gradient_guards

if TYPE_CHECKING:
    from guardfix.verify.judging.guard_outcomes import GuardOutcome

    from .patch_series import PatchSeries

Row = dict[str, Any]


@dataclass(frozen=True)
class FoundRow:
    """A row, and the finding whose fix decides in which patch it is."""

    row: Row
    finding: FixableFinding | None

    def with_patch(self, series: PatchSeries) -> Row:
        """The whole row, when the patches are made."""
        one = self.finding
        patch = series.by_place.get((one.path, one.span.start, one.code)) if one is not None else None
        return {**self.row, "patch": patch}


def use_rows(report: FixableReport, verdicts: Iterable[GuardOutcome]) -> Iterator[FoundRow]:
    """One row for each use of a guard that does something to autograd, sorted by file and place.

    It is made from the files as they were checked: before anything is written to them.
    """
    by_place = {(one.site.place.path, one.site.place.row, one.site.place.column): one for one in verdicts}
    about: dict[tuple[str, GuardUse], list[FixableFinding]] = defaultdict(list)
    for finding in report.findings:
        if finding.use is not None:
            about[finding.path, finding.use].append(finding)
    for facts in sorted(report.project.checked(), key=lambda one: one.path):
        table = frontend_named(facts.language).guards
        for use in sorted(facts.guard_uses, key=lambda use: (use.type_span, use.span)):
            guard = table.get(use.guard)
            if guard is not None and gradient_guards(guard):
                yield _use_row(report, facts, use, guard, about.get((facts.path, use), []), by_place)


def _use_row(
    report: FixableReport,
    facts: Facts,
    use: GuardUse,
    guard: Guard,
    findings: list[FixableFinding],
    verdicts: dict[tuple[str, int, int], GuardOutcome],
) -> FoundRow:
    places = report.positions
    start, end = places.start(facts.path, use.type_span), places.end(facts.path, use.span)
    source = places.source(facts.path)
    chief = next((one for one in findings if one.decision is not None), next(iter(findings), None))
    decision = chief.decision if chief is not None else None
    verdict = verdicts.get((facts.path, start.row, start.column))
    function = (
        facts.functions[use.function] if use.function is not None and use.function < len(facts.functions) else None
    )
    row = {
        "path": printable(real_path(facts.path)),
        "row": start.row,
        "column": start.column,
        "end_row": end.row,
        "end_column": end.column,
        "start": use.span.start,
        "end": use.span.end,
        "guard": use.guard,
        "old": guard.deprecated_since is not None,
        "form": str(use.form),
        "function": printable(function_name(function.qualified)) if function is not None else None,
        "text": printable(" ".join(source.slice(use.span).split())[:200]) if source is not None else None,
        "rules": [one.code for one in findings],
        "message": chief.message if chief is not None else None,
        "context": str(decision.context) if decision is not None else None,
        "confidence": str(decision.confidence) if decision is not None else None,
        "replacement": decision.replacement if decision is not None else None,
        "evidence": _evidence(decision),
        **_fix_of(chief),
        "verdict": str(verdict.verdict) if verdict is not None else None,
        "verdict_reason": verdict.reason or None if verdict is not None else None,
    }
    return FoundRow(row, chief)


def _evidence(decision: Decision | None) -> list[str]:
    if decision is None:
        return []
    return [f"{printable(one.path)}:{one.row}: {decision.reason(one)}" for one in decision.evidence]


def _fix_of(finding: FixableFinding | None) -> Row:
    fix = finding.fix if finding is not None else None
    return {
        "fix": str(fix.applicability) if fix is not None else None,
        "fix_message": fix.message if fix is not None else None,
        "next_step": str(next_step(finding)) if finding is not None else None,
    }


def finding_rows(report: FixableReport) -> Iterator[FoundRow]:
    """One row for each finding, sorted by file and place; those about a use and the others."""
    places = report.positions
    for finding in report.findings:
        start = places.start(finding.path, finding.span)
        facts = report.project.files.get(finding.path)
        row = {
            "path": printable(real_path(finding.path)),
            "row": start.row,
            "column": start.column,
            "rule": finding.code,
            "name": finding.name,
            "severity": str(finding.severity),
            "message": printable(finding.message),
            "function": printable(function_around(finding, facts)) if facts is not None else None,
            "context": str(finding.decision.context) if finding.decision is not None else None,
            "confidence": str(finding.decision.confidence) if finding.decision is not None else None,
            "steps": [f"{printable(step.path)}:{step.row}: {printable(step.message)}" for step in finding.steps],
            **_fix_of(finding),
        }
        yield FoundRow(row, finding)
