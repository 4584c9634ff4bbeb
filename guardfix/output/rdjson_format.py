"""Reviewdog's diagnostic format. Its columns count bytes of UTF-8, from 1.

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

from typing import Any

from guardfix.codemods.fixable import FixableFinding, FixableReport
from guardfix.linter.facts import Span
from guardfix.linter.findings import Applicability, Severity

from ..foreign_text import readable
from .finding_places import PROJECT_PAGE, rule_url
from .finding_reasons import told_reasons
from .format_registry import Output, OutputFormat
from .json_text import json_text

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def _write_findings(report: FixableReport, output: Output) -> None:
    whole = {
        "source": {"name": "guardfix", "url": PROJECT_PAGE},
        "severity": "WARNING",
        "diagnostics": [_diagnostic(finding, report) for finding in report.findings],
    }
    output.write(json_text(whole, indent=2))


def _diagnostic(finding: FixableFinding, report: FixableReport) -> dict[str, Any]:
    code = {"value": finding.code}
    if url := rule_url(finding):
        code["url"] = url
    diagnostic: dict[str, Any] = {
        "message": finding.message,
        "location": {"path": readable(finding.path), "range": _range(finding.path, finding.span, report)},
        "severity": _SEVERITIES[finding.severity],
        "code": code,
    }
    related = [
        {
            "message": reason.message,
            "location": {"path": readable(reason.path), "range": {"start": {"line": reason.row}}},
        }
        for reason in told_reasons(finding)
    ]
    if related:
        diagnostic["relatedLocations"] = related
    # A suggestion is applied by a click, one edit at a time: a fix of several edits would be applied by halves.
    if finding.fix is not None and finding.fix.applicability is not Applicability.DISPLAY:
        edits = finding.fix.edits
        if len(edits) == 1:
            diagnostic["suggestions"] = [
                {"range": _range(finding.path, edits[0].span, report), "text": edits[0].content},
            ]
    return diagnostic


def _range(path: str, span: Span, report: FixableReport) -> dict[str, Any]:
    return {"start": _position(path, span.start, report), "end": _position(path, span.end, report)}


def _position(path: str, offset: int, report: FixableReport) -> dict[str, int]:
    source = report.positions.source(path)
    if source is None:
        return {"line": 1, "column": 1}
    row = source.row(offset)
    return {"line": row, "column": offset - source.line_starts[row - 1] + 1}


FORMAT = OutputFormat(findings=_write_findings, for_machines=True)
