"""Checkstyle's XML, which nearly every CI server and review bot reads."""

from __future__ import annotations

from itertools import groupby
from xml.etree.ElementTree import Element, SubElement

from guardfix.codemods.fixable import FixableReport

from .finding_places import one_line, xml_text
from .format_registry import Output, OutputFormat
from .xml_report import write_xml


def _write_findings(report: FixableReport, output: Output) -> None:
    root = Element("checkstyle", version="4.3")
    for path, findings in groupby(report.findings, key=lambda finding: finding.path):
        file = SubElement(root, "file", name=xml_text(one_line(path)))
        for finding in findings:
            start = report.start(finding)
            SubElement(
                file,
                "error",
                line=str(start.row),
                column=str(start.column),
                severity=finding.severity.value,
                message=xml_text(finding.message),
                source=f"guardfix.{finding.code}",
            )
    write_xml(root, output)


FORMAT = OutputFormat(findings=_write_findings, for_machines=True)
