"""JSON for tools; findings in the shape that Ruff's users know. The fields are a contract: none comes or goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from guardfix.codemods.fix import Fix
from guardfix.codemods.fixable import FixableFinding, FixableReport
from guardfix.linter.files.source_positions import SourcePositions
from guardfix.linter.files.sources import Position
from guardfix.linter.findings import Decision, Evidence, Finding, StepTaken
from guardfix.linter.frontends.frontend import frontend_of

from .finding_places import RULES_PAGE, rule_url
from .format_registry import Output, OutputFormat
from .json_text import json_text
from .statistics import write_count_objects

if TYPE_CHECKING:
    from guardfix.linter.rule import Rule

    from ..verify.verifying import Result


def _write(objects: list[dict[str, Any]], output: Output) -> None:
    """Write a JSON array; in ASCII, so that no terminal, locale or odd file name can spoil it."""
    output.write(json_text(objects, indent=2))


def _write_findings(report: FixableReport, output: Output) -> None:
    _write([finding_object(finding, report.positions) for finding in report.findings], output)


def _write_verdicts(results: Iterable[Result], backend: str, output: Output) -> None:
    from .verdict_json import result_object

    _write([result_object(result, backend) for result in results], output)


def _write_rules(rules: Sequence[Rule], output: Output) -> None:
    _write([_rule_object(rule) for rule in rules], output)


def finding_object(finding: FixableFinding, places: SourcePositions) -> dict[str, Any]:
    start = places.start(finding.path, finding.span)
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "severity": finding.severity.value,
        "filename": _name(finding.path),
        "location": _location(start),
        "end_location": _location(places.end(finding.path, finding.span)),
        "decision": _decision(finding.decision),
        "steps": [_told(step, step.message) for step in finding.steps] or None,
        "fix": _fix(finding, finding.fix, places),
        "noqa_row": _noqa_row(finding, places, start),
        "url": rule_url(finding) or None,
    }


def _noqa_row(finding: Finding, places: SourcePositions, start: Position) -> int:
    """The row at whose end a comment silences the finding: inside a string a comment can't be written."""
    source, frontend = places.source(finding.path), frontend_of(finding.path)
    if source is None or frontend is None:
        return start.row
    return frontend.silenced_row(source, finding.span.start)


def _name(path: str) -> str:
    """A path as UTF-8, whatever the locale; other bytes keep their surrogates, as `os.fsdecode` gives them."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def _location(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}


def _decision(decision: Decision | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    return {
        "context": decision.context.value,
        "replacement": decision.replacement,
        "confidence": decision.confidence.value,
        "evidence": [_told(evidence, decision.reason(evidence)) for evidence in decision.evidence],
    }


def _told(reason: Evidence | StepTaken, message: str) -> dict[str, Any]:
    return {"message": message, "filename": _name(reason.path), "row": reason.row}


def _fix(finding: Finding, fix: Fix | None, places: SourcePositions) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {
        "applicability": fix.applicability.value,
        "message": fix.message,
        "edits": [
            {
                "content": edit.content,
                "location": _location(places.start(finding.path, edit.span)),
                "end_location": _location(places.end(finding.path, edit.span)),
            }
            for edit in sorted(fix.edits)
        ],
    }


def _rule_object(rule: Rule) -> dict[str, Any]:
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "group": rule.group,
        "severity": rule.severity.value,
        "languages": list(rule.languages),
        "fix": rule.fix.most.value if rule.fix else None,
        "fix_availability": rule.fix.availability if rule.fix else "none",
        "default": rule.default,
        "since": rule.since or None,
        "url": rule.url if rule.url is not None else f"{RULES_PAGE}#{rule.code.lower()}-{rule.name}",
    }


FORMAT = OutputFormat(
    findings=_write_findings,
    verdicts=_write_verdicts,
    rules=_write_rules,
    for_machines=True,
    statistics=write_count_objects,
)
