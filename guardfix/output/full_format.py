"""Text for people. A finding is its place, the code around it, the evidence or the steps, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from guardfix.codemods.fixable import FixableFinding, FixableReport
from guardfix.linter.files.source_positions import SourcePositions
from guardfix.linter.findings import Applicability, Decision, Finding, StepTaken

from .finding_places import one_line, place_from
from .finding_reasons import shown_steps
from .finding_text import COLORS, mark_of, place_text, styled_code, styled_mark
from .format_registry import Output, OutputFormat
from .report_summary import is_for_a_person
from .statistics import write_counts
from .terminal_layout import TAB, cells, frame, styling, wrapped

if TYPE_CHECKING:
    from guardfix.linter.rule import Rule

    from ..verify.verifying import Result

_SHOWN_EVIDENCE = 6
_SHOWN_STEPS = 9
_ALL_OF_THEM = "in --output-format json"
_LEAST_BESIDE = 40
"""Columns for a rule's summary; where there are fewer, it is below the name."""


def _write_findings(report: FixableReport, output: Output) -> None:
    for finding in report.findings:
        output.write(finding_text(finding, report, output))


def finding_text(finding: FixableFinding, report: FixableReport, output: Output) -> str:
    """One finding, over several lines. On a terminal lines break at words, and code is cut to fit."""
    style, width, places = styling(output.color), output.width, report.positions
    start = report.start(finding)
    place, mark = f"{one_line(finding.path)}:{start.row}:{start.column}:", mark_of(finding)
    head = " ".join(filter(None, (place, finding.code, mark)))
    heading = (place_text(finding, report, output), styled_code(finding, output), styled_mark(finding, output))
    styled = " ".join(filter(None, heading))
    first, *rest = wrapped(one_line(finding.message), width, first=cells(head) + 1, indent=TAB)
    lines = [f"{styled} {first}".rstrip(), *rest]
    margin = " " * len(str(start.row))
    lines += _frame(finding, places, margin, style, width)
    equals = style("=", fg="blue")
    for title, text in _remarks(finding):
        first, *rest = wrapped(one_line(f"{title}{text}"), width, first=len(margin) + 4, indent=f" {margin}   ")
        if title and first.startswith(title):
            first = style(title, bold=True) + first.removeprefix(title)
        lines += [f" {margin} {equals} {first}", *rest]
    return "\n".join(lines) + "\n"


_WAY_OUT = (
    "say what it is for in a comment, such as `// guardfix: kernel`; or decide with `guardfix migrate --interactive`, "
    "or by running the program, with `guardfix verify --decide`"
)
_TITLES = {
    Applicability.SAFE: "fix:",
    Applicability.UNSAFE: "unsafe fix:",
    Applicability.DISPLAY: "suggestion:",
}


def _frame(
    finding: Finding, places: SourcePositions, margin: str, style: Callable[..., str], width: int | None
) -> Iterator[str]:
    """The line of code with carets under the finding, followed by the decision."""
    source = places.source(finding.path)
    if source is None or not source.text:
        return
    start, end = places.start(finding.path, finding.span), places.end(finding.path, finding.span)
    line = source.line(start.row)
    room = width - len(margin) - 4 if width is not None else None
    part = frame(line, start.column - 1, end.column - 1 if end.row == start.row else len(line), room)
    bar, color = style("|", fg="blue"), COLORS[finding.severity]
    yield f" {margin} {bar}"
    yield f" {style(str(start.row), fg='blue')} {bar} {part.code}"
    under = f" {margin} {bar} {part.before}{style(part.carets, fg=color)}"
    label = f"{finding.decision.context}, {finding.decision.confidence} confidence" if finding.decision else ""
    taken = len(part.before) + len(part.carets)
    if not label or room is None or taken + 1 + len(label) <= room:
        yield f"{under} {label}".rstrip()
        return
    yield under
    yield f" {margin} {bar} {' ' * max(0, min(len(part.before), room - len(label)))}{label}"


def _remarks(finding: FixableFinding) -> Iterator[tuple[str, str]]:
    """(title, text) of the notes below the code: the evidence, the steps, and the fixes."""
    if finding.decision is not None:
        for line in _evidence_lines(finding.decision, finding.path):
            yield "", line
    for line in _step_lines(finding.steps, finding.path):
        yield "", line
    if finding.fix is not None:
        yield _TITLES[finding.fix.applicability], f" {finding.fix.message}"
        for fix in finding.fix.further:
            yield f"{fix.applicability} fix ({fix.name}):", f" {fix.message}"
    elif is_for_a_person(finding):
        yield "help:", f" {_WAY_OUT}"


def _evidence_lines(decision: Decision, path: str) -> Iterator[str]:
    shown = decision.evidence[:_SHOWN_EVIDENCE]
    for evidence in shown:
        yield f"{decision.reason(evidence)} ({place_from(evidence.path, evidence.row, path)})"
    if len(decision.evidence) > len(shown):
        yield f"and {len(decision.evidence) - len(shown)} more, {_ALL_OF_THEM}"
    if not decision.evidence:
        yield "nothing nearby points to an inference workload or a kernel"


def _step_lines(steps: Sequence[StepTaken], path: str) -> Iterator[str]:
    first, left_out, last = shown_steps(steps, _SHOWN_STEPS)
    for number, step in first:
        yield _step_line(number, step, path)
    if left_out:
        yield f"{left_out}: {_ALL_OF_THEM}"
    for number, step in last:
        yield _step_line(number, step, path)


def _step_line(number: int, step: StepTaken, path: str) -> str:
    return f"step {number}: {one_line(step.message)} ({place_from(step.path, step.row, path)})"


def _write_verdicts(results: Iterable[Result], backend: str, output: Output) -> None:
    from .verdict_text import verdict_lines

    for result in results:
        for line in verdict_lines(result, color=output.color, width=output.width, verbose=output.verbose):
            output.write(line)


def _write_rules(rules: Sequence[Rule], output: Output) -> None:
    columns = [(rule.code, rule.name, rule.group or "", rule.fix_text) for rule in rules]
    widths = [max(map(len, column)) for column in zip(*columns, strict=True)]
    for rule, row in zip(rules, columns, strict=True):
        state = "" if rule.default else " (off by default)"
        head = "".join(f"{cell:<{width}}  " for cell, width in zip(row, widths, strict=True))
        beside = output.width is None or output.width - len(head) >= _LEAST_BESIDE
        narrow = "\n".join(wrapped(" ".join(filter(None, row)), output.width, indent=TAB))
        start = head if beside else f"{narrow}\n{TAB}"
        column = len(head) if beside else len(TAB)
        lines = wrapped(f"{rule.summary}{state}", output.width, first=column, indent=" " * column)
        output.write("\n".join([start + lines[0], *lines[1:]]))


FORMAT = OutputFormat(findings=_write_findings, verdicts=_write_verdicts, rules=_write_rules, statistics=write_counts)
