"""What the formats for people share: a finding's place, its code with the mark of its fix, and its message."""

from __future__ import annotations

from guardfix.codemods.fixable import FixableFinding, FixableReport
from guardfix.linter.findings import Applicability, Severity

from .finding_places import file_uri, one_line, rule_url
from .format_registry import Output
from .terminal_layout import hyperlink, styling

COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_MARKS = {Applicability.SAFE: "[*]", Applicability.UNSAFE: "[unsafe fix]", Applicability.DISPLAY: ""}


def mark_of(finding: FixableFinding) -> str:
    """What follows the code of a finding that has a fix."""
    return _MARKS[finding.fix.applicability] if finding.fix is not None else ""


def styled_mark(finding: FixableFinding, output: Output) -> str:
    mark = mark_of(finding)
    color = "green" if mark == _MARKS[Applicability.SAFE] else "yellow"
    return styling(output.color)(mark, fg=color) if mark else ""


def styled_code(finding: FixableFinding, output: Output) -> str:
    """The code, which leads to the rule's page where the terminal has links."""
    styled = styling(output.color)(finding.code, fg=COLORS[finding.severity], bold=True)
    return linked(styled, rule_url(finding), output)


def place_text(finding: FixableFinding, report: FixableReport, output: Output) -> str:
    """`path:row:column:`, which leads to the file where the terminal has links."""
    start = report.start(finding)
    styled = styling(output.color)(f"{one_line(finding.path)}:{start.row}:{start.column}:", bold=True)
    return linked(styled, file_uri(finding.path) if output.links else "", output)


def brief(finding: FixableFinding, output: Output) -> str:
    """`CODE [*] message`."""
    return f"{head_of(finding, output)} {one_line(finding.message)}"


def head_of(finding: FixableFinding, output: Output) -> str:
    """`CODE [*]`."""
    return " ".join(filter(None, (styled_code(finding, output), styled_mark(finding, output))))


def linked(text: str, uri: str, output: Output) -> str:
    """A text that leads to an address, where the terminal has links."""
    return hyperlink(text, uri) if output.links and uri else text
