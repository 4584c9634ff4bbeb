"""SARIF 2.1.0, which code scanning services and editors read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import os
from typing import Any

from guardfix.codemods.fixable import FixableFinding, FixableReport
from guardfix.linter.facts import Span
from guardfix.linter.findings import Decision, Severity, StepTaken
from guardfix.linter.rule import Rule

from ..adoption.fingerprints import FINGERPRINT, fingerprints
from ..package_version import VERSION
from .finding_places import PROJECT_PAGE, below, file_uri, repository_top, rule_url, uri_of
from .format_registry import Output, OutputFormat
from .json_text import json_text

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_TOP = "%SRCROOT%"


def _write_findings(report: FixableReport, output: Output) -> None:
    top = repository_top()
    names = [below(finding.path, top) or finding.path for finding in report.findings]
    first: dict[str, FixableFinding] = {}
    for finding in report.findings:
        first.setdefault(finding.code, finding)
    codes = sorted(first)
    run = {
        "tool": {
            "driver": {
                "name": "guardfix",
                "version": VERSION,
                "semanticVersion": VERSION,
                "informationUri": PROJECT_PAGE,
                "rules": [_rule(first[code], report.rule(code)) for code in codes],
            }
        },
        "originalUriBaseIds": {_TOP: {"uri": file_uri(top).rstrip("/") + "/"}},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(finding, codes.index(finding.code), mark, report, top)
            for finding, mark in zip(report.findings, fingerprints(report, names), strict=True)
        ],
    }
    output.write(json_text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2))


def _rule(finding: FixableFinding, rule: Rule | None) -> dict[str, Any]:
    described: dict[str, Any] = {"id": finding.code, "name": finding.name}
    if rule is not None:
        described["shortDescription"] = {"text": f"{rule.summary}."}
        described["help"] = {"text": rule.documentation, "markdown": rule.documentation}
        described["defaultConfiguration"] = {"enabled": rule.default, "level": _LEVELS[rule.severity]}
    if url := rule_url(finding):
        described["helpUri"] = url
    group = [rule.group.value] if rule is not None and rule.group is not None else []
    described["properties"] = {"tags": ["correctness", "pytorch", *group]}
    return described


def _result(finding: FixableFinding, index: int, mark: str, report: FixableReport, top: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [_location(finding.path, _region(finding.path, finding.span, report), top)],
        "partialFingerprints": {FINGERPRINT: mark},
    }
    if finding.decision is not None:
        result["relatedLocations"] = [
            {
                "id": number,
                **_location(one.path, {"startLine": one.row}, top),
                "message": {"text": finding.decision.reason(one)},
            }
            for number, one in enumerate(finding.decision.evidence)
        ]
        result["properties"] = _properties(finding.decision)
    if finding.steps:
        result["codeFlows"] = [{"threadFlows": [{"locations": [_step(step, report, top) for step in finding.steps]}]}]
    if finding.fix is not None and finding.fix.edits:
        result["fixes"] = [
            {
                "description": {"text": f"{finding.fix.applicability} fix: {finding.fix.message}"},
                "artifactChanges": [
                    {
                        "artifactLocation": _artifact(finding.path, top),
                        "replacements": [
                            {
                                "deletedRegion": _region(finding.path, edit.span, report),
                                "insertedContent": {"text": edit.content},
                            }
                            for edit in sorted(finding.fix.edits)
                        ],
                    }
                ],
            }
        ]
    return result


def _step(step: StepTaken, report: FixableReport, top: str) -> dict[str, Any]:
    """A location of a flow. Without an end, a region reaches to the end of its line."""
    region = {"startLine": step.row}
    if report.positions.source(step.path) is not None:
        region["startColumn"] = report.positions.start(step.path, Span(step.offset, step.offset)).column
    return {"location": {**_location(step.path, region, top), "message": {"text": step.message}}}


def _properties(decision: Decision) -> dict[str, Any]:
    return {
        "context": decision.context.value,
        "replacement": decision.replacement,
        "confidence": decision.confidence.value,
    }


def _location(path: str, region: dict[str, int], top: str) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": _artifact(path, top), "region": region}}


def _artifact(path: str, top: str) -> dict[str, str]:
    name = below(path, top)
    if name is None:
        return {"uri": file_uri(os.path.realpath(path))}
    return {"uri": uri_of(name), "uriBaseId": _TOP}


def _region(path: str, span: Span, report: FixableReport) -> dict[str, int]:
    start, end = report.positions.start(path, span), report.positions.end(path, span)
    return {
        "startLine": start.row,
        "startColumn": start.column,
        "endLine": end.row,
        "endColumn": end.column,
    }


FORMAT = OutputFormat(findings=_write_findings, for_machines=True)
