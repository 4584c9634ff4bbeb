"""One line a finding: `path:row:column: CODE [*] message`."""

from __future__ import annotations

from guardfix.codemods.fixable import FixableReport

from .finding_text import brief, place_text
from .format_registry import Output, OutputFormat
from .statistics import write_counts


def _write_findings(report: FixableReport, output: Output) -> None:
    for finding in report.findings:
        output.write(f"{place_text(finding, report, output)} {brief(finding, output)}")


FORMAT = OutputFormat(findings=_write_findings, statistics=write_counts)
