"""Logging commands of Azure Pipelines.

https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands
"""

from __future__ import annotations

import os

from guardfix.codemods.fixable import FixableReport
from guardfix.linter.findings import Severity

from ..foreign_text import own
from .finding_places import one_line
from .format_registry import Output, OutputFormat

_ESCAPES = {"%": "%AZP25", ";": "%3B", "]": "%5D", "\r": "%0D", "\n": "%0A"}
_PROPERTIES = str.maketrans(_ESCAPES)
_MESSAGE = str.maketrans({sign: _ESCAPES[sign] for sign in "%\r\n"})


def _write_findings(report: FixableReport, output: Output) -> None:
    for finding in report.findings:
        start = report.start(finding)
        # There is no type below a warning.
        kind = "error" if finding.severity is Severity.ERROR else "warning"
        path = one_line(os.path.abspath(finding.path)).translate(_PROPERTIES)
        output.write(
            f"{own('##vso[task.logissue ')}type={kind};sourcepath={path};linenumber={start.row};"
            f"columnnumber={start.column};code={finding.code};]{one_line(finding.message).translate(_MESSAGE)}"
        )


FORMAT = OutputFormat(findings=_write_findings, for_machines=True)
