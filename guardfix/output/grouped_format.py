"""Findings below the name of their file, one line each."""

from __future__ import annotations

from itertools import groupby

from guardfix.codemods.fixable import FixableReport

from .finding_places import file_uri, one_line
from .finding_text import head_of, linked, mark_of
from .format_registry import Output, OutputFormat
from .statistics import write_counts
from .terminal_layout import TAB, cells, styling, wrapped


def _write_findings(report: FixableReport, output: Output) -> None:
    style = styling(output.color)
    for path, group in groupby(report.findings, key=lambda finding: finding.path):
        findings = list(group)
        starts = [report.start(finding) for finding in findings]
        rows = max(len(str(start.row)) for start in starts)
        columns = max(len(str(start.column)) for start in starts)
        output.write(linked(style(one_line(path), bold=True, underline=True), file_uri(path), output) + ":")
        for finding, start in zip(findings, starts, strict=True):
            place = f"  {start.row:>{rows}}:{start.column:<{columns}}"
            head = f"{place} {head_of(finding, output)}"
            taken = cells(f"{place} {finding.code} {mark_of(finding)}".rstrip()) + 1
            first, *rest = wrapped(one_line(finding.message), output.width, first=taken, indent=TAB)
            output.write("\n".join([f"{head} {first}".rstrip(), *rest]))
        output.write("")


FORMAT = OutputFormat(findings=_write_findings, statistics=write_counts)
