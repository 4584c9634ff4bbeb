"""Findings as diagnostics: message, rule with its page, and the evidence and the steps as related places."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol.types import (
    CodeDescription,
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    DiagnosticTag,
    Location,
)

from guardfix.codemods.fixable import FixableFinding
from guardfix.linter.facts import Span
from guardfix.linter.findings import Severity
from guardfix.output.finding_places import file_uri, rule_url
from guardfix.output.finding_reasons import told_reasons

from .editor_positions import EditorLines

SOURCE = "guardfix"

LinesOf = Callable[[str], EditorLines]
"""A file's lines, by its path."""

_SEVERITIES = {
    Severity.ERROR: DiagnosticSeverity.Error,
    Severity.WARNING: DiagnosticSeverity.Warning,
    Severity.INFO: DiagnosticSeverity.Information,
}
_DEPRECATED = frozenset({"GF101", "GF102", "GF104", "GF505"})
_UNNECESSARY = frozenset({"GF002", "GF103", "GF302", "GF303", "GF407"})


def diagnostic_of(finding: FixableFinding, lines_of: LinesOf) -> Diagnostic:
    """One finding as the editor shows it."""
    url = rule_url(finding)
    return Diagnostic(
        range=lines_of(finding.path).range(finding.span),
        message=_message(finding),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=CodeDescription(url) if url else None,
        source=SOURCE,
        tags=_tags(finding.code) or None,
        related_information=_related(finding, lines_of) or None,
    )


def _message(finding: FixableFinding) -> str:
    decision = finding.decision
    if decision is None:
        return finding.message
    return f"{finding.message} ({decision.context}, {decision.confidence} confidence)"


def _tags(code: str) -> list[DiagnosticTag]:
    if code in _DEPRECATED:
        return [DiagnosticTag.Deprecated]
    return [DiagnosticTag.Unnecessary] if code in _UNNECESSARY else []


def _related(finding: FixableFinding, lines_of: LinesOf) -> list[DiagnosticRelatedInformation]:
    """The evidence and the steps, each with its place, in this file or another."""
    found = []
    for reason in told_reasons(finding):
        place = lines_of(reason.path).range(Span(reason.offset, reason.offset))
        found.append(DiagnosticRelatedInformation(Location(file_uri(reason.path), place), reason.message))
    return found
