"""Workflow commands of GitHub Actions, which show findings as annotations of a change.

https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

import os

from guardfix.codemods.fixable import FixableReport
from guardfix.linter.findings import Severity

from ..foreign_text import own
from .finding_places import one_line
from .format_registry import Output, OutputFormat

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def _write_findings(report: FixableReport, output: Output) -> None:
    for finding in report.findings:
        start, end = report.start(finding), report.end(finding)
        place = {"file": os.path.abspath(finding.path), "line": start.row, "endLine": end.row}
        if start.row == end.row:  # columns of several lines are refused
            place |= {"col": start.column, "endColumn": end.column}
        properties = {"title": f"guardfix ({finding.code})", **place}
        options = ",".join(f"{name}={_property(one_line(str(value)))}" for name, value in properties.items())
        message = f"{one_line(finding.path)}:{start.row}:{start.column}: {finding.code} {one_line(finding.message)}"
        output.write(f"{own(f'::{_COMMANDS[finding.severity]} ')}{options}::{_data(message)}")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


FORMAT = OutputFormat(findings=_write_findings, for_machines=True)
