"""Findings as text: the place, the code around it, the evidence and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import click

from ..linter.engine import Report
from ..linter.findings import Applicability, Decision, Evidence, Finding, Severity
from ..quick import passed
from .places import Places

_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_SHOWN_EVIDENCE = 6
_TAB = "    "


def finding_text(finding: Finding, places: Places, *, color: bool) -> str:
    """One finding, over several lines."""
    style = partial(click.style) if color else (lambda text, **_: text)
    start, end = places.start(finding.path, finding.span), places.end(finding.path, finding.span)
    place = style(f"{finding.path}:{start.row}:{start.column}:", bold=True)
    code = style(finding.code, fg=_COLORS[finding.severity], bold=True)
    mark = {
        Applicability.SAFE: style("[*]", fg="green") + " ",
        Applicability.UNSAFE: style("[unsafe fix]", fg="yellow") + " ",
    }.get(finding.fix.applicability if finding.fix is not None else Applicability.DISPLAY, "")
    lines = [f"{place} {code} {mark}{finding.message}"]
    source = places.source(finding.path)
    margin = " " * len(str(start.row))
    bar = style("|", fg="blue")
    if source is not None and source.text:
        line = source.line(start.row)
        width = (end.column if end.row == start.row else len(line) + 1) - start.column
        before = line[: start.column - 1].replace("\t", _TAB)
        under = style("^" * max(1, width), fg=_COLORS[finding.severity])
        label = f" {finding.decision.context}, {finding.decision.confidence} confidence" if finding.decision else ""
        lines.append(f" {margin} {bar}")
        lines.append(f" {style(str(start.row), fg='blue')} {bar} {line.replace(chr(9), _TAB)}")
        lines.append(f" {margin} {bar} {' ' * len(before)}{under}{label}")
    equals = style("=", fg="blue")
    if finding.decision is not None:
        lines += [f" {margin} {equals} {text}" for text in _evidence_lines(finding.decision, finding.path)]
    if finding.fix is not None:
        kind = {
            Applicability.SAFE: "fix",
            Applicability.UNSAFE: "unsafe fix",
            Applicability.DISPLAY: "suggestion",
        }
        lines.append(
            f" {margin} {equals} {style(kind[finding.fix.applicability] + ':', bold=True)} {finding.fix.message}"
        )
    for fix in finding.more_fixes:
        lines.append(f" {margin} {equals} {style(f'{fix.applicability} fix ({fix.name}):', bold=True)} {fix.message}")
    return "\n".join(lines) + "\n"


def _evidence_lines(decision: Decision, path: str) -> Iterator[str]:
    shown = decision.evidence[:_SHOWN_EVIDENCE]
    for evidence in shown:
        yield f"{decision.reason(evidence)} ({_where(evidence, path)})"
    if len(decision.evidence) > len(shown):
        yield f"and {len(decision.evidence) - len(shown)} more, in --output-format json"
    if not decision.evidence:
        yield "nothing near it speaks for an inference workload or for a kernel"


def _where(evidence: Evidence, path: str) -> str:
    return f"line {evidence.row}" if evidence.path == path else f"{evidence.path}:{evidence.row}"


def summary(report: Report) -> str:
    """The last line: how many findings, in how many files, and what can be done about them."""
    if not report.findings:
        return passed(report.files)
    count = len(report.findings)
    files = len({finding.path for finding in report.findings})
    safe, unsafe = (
        sum(1 for f in report.findings if f.fix is not None and f.fix.applicability is kind)
        for kind in (Applicability.SAFE, Applicability.UNSAFE)
    )
    line = f"Found {_count(count, 'issue')} in {_count(files, 'file')} ({_count(report.files, 'file')} checked)."
    if safe:
        line += f"\n[*] {safe} fixable with `guardfix migrate --apply`."
    if unsafe:
        line += (
            f"\n{unsafe}{' more' if safe else ''} with `guardfix migrate --apply --unsafe`: read what each may change."
        )
    return line + "\n"


def notes(report: Report) -> Iterator[str]:
    """What a reader should know about how files were read."""
    for facts in report.project:
        for note in facts.notes:
            yield f"note: {facts.path}: {note}"
    if report.partial:
        places = ", ".join(f"{facts.path}:{facts.error_row}" for facts in report.partial[:3])
        more = f" and {len(report.partial) - 3} more" if len(report.partial) > 3 else ""
        yield f"note: {_count(len(report.partial), 'file')} could only be parsed in part ({places}{more})"
    if report.suppressed:
        yield f"note: {_count(report.suppressed, 'finding')} suppressed by comments"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
