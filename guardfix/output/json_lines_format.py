"""JSON for tools that read line by line: one object of `json` on each line."""

from __future__ import annotations

from guardfix.codemods.fixable import FixableReport

from .format_registry import Output, OutputFormat
from .json_format import finding_object
from .json_text import json_text


def _write_findings(report: FixableReport, output: Output) -> None:
    for finding in report.findings:
        output.write(json_text(finding_object(finding, report.positions)))


FORMAT = OutputFormat(findings=_write_findings, for_machines=True)
