"""Pylint's `parseable` lines, which many CI servers read: `path:row: [CODE] message`."""

from __future__ import annotations

from guardfix.codemods.fixable import FixableReport

from .finding_places import one_line
from .format_registry import Output, OutputFormat


def _write_findings(report: FixableReport, output: Output) -> None:
    for finding in report.findings:
        row = report.start(finding).row
        output.write(f"{one_line(finding.path)}:{row}: [{finding.code}] {one_line(finding.message)}")


FORMAT = OutputFormat(findings=_write_findings, for_machines=True)
