"""JUnit's XML as Jenkins and GitLab read it: a suite for each file with findings, a failed case for each finding."""

from __future__ import annotations

import os
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement

from guardfix.codemods.fixable import FixableReport

from ..foreign_text import printable
from .finding_places import one_line, rule_url, xml_text
from .finding_reasons import told_reasons
from .format_registry import Output, OutputFormat
from .xml_report import write_xml

_PACKAGE = "guardfix"


def _write_findings(report: FixableReport, output: Output) -> None:
    count = len(report.findings)
    # A report without a test counts as a failure in some servers.
    root = Element("testsuites", name=_PACKAGE, tests=str(count or 1), failures=str(count), errors="0")
    for path, group in groupby(report.findings, key=lambda finding: finding.path):
        findings = list(group)
        name = xml_text(one_line(path))
        suite = _suite(root, name, len(findings), failures=len(findings))
        for finding in findings:
            start = report.start(finding)
            case = SubElement(
                suite,
                "testcase",
                name=f"{_PACKAGE}.{finding.code} ({start.row}:{start.column})",
                classname=os.path.splitext(name)[0],
                time="0",
            )
            failure = SubElement(case, "failure", message=xml_text(finding.message), type=finding.severity.value)
            lines = [f"{name}:{start.row}:{start.column}: {finding.code} {finding.message}"]
            lines += [f"  {one.message} ({printable(one.path)}:{one.row})" for one in told_reasons(finding)]
            failure.text = xml_text("\n".join(filter(None, (*lines, rule_url(finding)))))
    if not report.findings:
        SubElement(_suite(root, _PACKAGE, 1), "testcase", name=_PACKAGE, classname=_PACKAGE, time="0")
    write_xml(root, output)


def _suite(root: Element, name: str, tests: int, *, failures: int = 0) -> Element:
    counts = {"tests": tests, "failures": failures, "errors": 0, "skipped": 0, "time": 0}
    return SubElement(root, "testsuite", {"name": name, "package": _PACKAGE, **{k: str(v) for k, v in counts.items()}})


FORMAT = OutputFormat(findings=_write_findings, for_machines=True)
