"""Findings as JSON, in the shape that Ruff's users know. The field names are a contract."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..linter.findings import Decision, Finding, Fix
from ..linter.sources import Position
from .places import Places

_DOCUMENTATION = "https://github.com/guardfix/guardfix/blob/main/docs/rules.md#"


def to_json(findings: Iterable[Finding]) -> str:
    """A JSON array, one object a finding."""
    places = Places()
    return json.dumps([finding_object(finding, places) for finding in findings], indent=2, ensure_ascii=False)


def finding_object(finding: Finding, places: Places) -> dict[str, Any]:
    start = places.start(finding.path, finding.span)
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "severity": finding.severity.value,
        "filename": finding.path,
        "location": _location(start),
        "end_location": _location(places.end(finding.path, finding.span)),
        "decision": _decision(finding.decision),
        "fix": _fix(finding, finding.fix, places),
        "more_fixes": [_fix(finding, fix, places) for fix in finding.more_fixes],
        "noqa_row": start.row,
        "url": f"{_DOCUMENTATION}{finding.code.lower()}-{finding.name}",
    }


def _location(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}


def _decision(decision: Decision | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    return {
        "context": decision.context.value,
        "replacement": decision.replacement,
        "confidence": decision.confidence.value,
        "evidence": [
            {
                "message": evidence.message,
                "filename": evidence.path,
                "row": evidence.row,
                "supports": evidence.supports.value,
            }
            for evidence in decision.evidence
        ],
    }


def _fix(finding: Finding, fix: Fix | None, places: Places) -> dict[str, Any] | None:
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
