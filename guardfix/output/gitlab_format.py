"""GitLab's code quality report.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import os
from typing import Any

from guardfix.codemods.fixable import FixableFinding, FixableReport
from guardfix.linter.findings import Severity

from ..adoption.fingerprints import fingerprints
from ..foreign_text import readable
from .finding_places import below, repository_top
from .format_registry import Output, OutputFormat
from .json_text import json_text

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def _write_findings(report: FixableReport, output: Output) -> None:
    # The paths are relative to the project, wherever the job runs guardfix.
    top = os.path.realpath(os.environ.get("CI_PROJECT_DIR") or repository_top())
    names = [below(finding.path, top) or finding.path for finding in report.findings]
    marks = fingerprints(report, names)
    rows = zip(report.findings, names, marks, strict=True)
    output.write(json_text([_issue(finding, name, mark, report) for finding, name, mark in rows], indent=2))


def _issue(finding: FixableFinding, name: str, mark: str, report: FixableReport) -> dict[str, Any]:
    start, end = report.start(finding), report.end(finding)
    return {
        "check_name": finding.code,
        "description": f"{finding.code}: {finding.message}",
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": mark,
        "location": {
            "path": readable(name),
            "positions": {
                "begin": {"line": start.row, "column": start.column},
                "end": {"line": end.row, "column": end.column},
            },
        },
    }


FORMAT = OutputFormat(findings=_write_findings, for_machines=True)
