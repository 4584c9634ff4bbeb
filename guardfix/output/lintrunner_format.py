"""What lintrunner reads from an adapter: one JSON object a line, and one with the whole text for each file with fixes.

lintrunner applies one replacement a file, so that the fixes of a file are one message of their own, as in PyTorch's
adapters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from guardfix.codemods.apply.rewriting import Rewrite
from guardfix.codemods.apply.settling import settle
from guardfix.codemods.fixable import FixableFinding, FixableReport
from guardfix.linter.findings import Severity

from ..foreign_text import readable
from .finding_places import rule_url
from .finding_reasons import told_reasons
from .format_registry import Output, OutputFormat
from .json_text import json_text

_CODE = "GUARDFIX"
_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "advice"}


def _write_findings(report: FixableReport, output: Output) -> None:
    for finding in report.findings:
        output.write(json_text(_message(finding, report)))
    for rewritten in settle(report).rewrites:
        # lintrunner writes UTF-8: what is encoded otherwise, it would spoil.
        if rewritten.changed and rewritten.source.encoding == "utf-8":
            output.write(json_text(_replacement(rewritten)))


def _message(finding: FixableFinding, report: FixableReport) -> dict[str, Any]:
    start = report.start(finding)
    return {
        "path": readable(finding.path),
        "line": start.row,
        "char": start.column,
        "code": _CODE,
        "severity": _SEVERITIES[finding.severity],
        "name": f"{finding.code} {finding.name}",
        "original": None,
        "replacement": None,
        "description": "\n".join(_description(finding)),
    }


def _description(finding: FixableFinding) -> Iterator[str]:
    yield finding.message
    for reason in told_reasons(finding):
        yield f"{reason.message} ({readable(reason.path)}:{reason.row})"
    if finding.fix is not None:
        yield f"{finding.fix.applicability} fix: {finding.fix.message}"
    if url := rule_url(finding):
        yield f"See {url}"


def _replacement(rewritten: Rewrite) -> dict[str, Any]:
    mark = rewritten.source.bom.decode("utf-8")
    count = len(rewritten.applied)
    return {
        "path": readable(rewritten.source.path),
        "line": None,
        "char": None,
        "code": _CODE,
        "severity": "warning",
        "name": "fixes",
        "original": mark + rewritten.source.text.decode("utf-8"),
        "replacement": mark + rewritten.text.decode("utf-8"),
        "description": f"Safe fixes: {count}. `lintrunner -a` applies them.",
    }


FORMAT = OutputFormat(findings=_write_findings, for_machines=True)
