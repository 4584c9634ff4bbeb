"""Uses that a person decides: which replacements there are, and what a choice makes of a finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from guardfix.linter.facts.intents import Purpose
from guardfix.linter.findings import Applicability
from guardfix.linter.guards import LEGACY

from ..edits.intent_edits import CHOSEN, declared_decision
from ..fix import Fix
from ..fixable import FixableFinding, FixableReport

Choices = Mapping[tuple[str, int], Purpose]
"""What was chosen, by the file and the place of the use."""

_OFFERED = (Purpose.INFERENCE, Purpose.KERNEL, Purpose.BELOW_AUTOGRAD, Purpose.REMOVE)


@dataclass(frozen=True)
class Offer:
    """One replacement that could be made."""

    purpose: Purpose
    finding: FixableFinding
    """The finding, decided so; its fix makes the replacement."""
    fix: Fix

    @property
    def replacement(self) -> str:
        """What would be there; empty where nothing would."""
        assert self.finding.decision is not None
        return self.finding.decision.replacement or ""


def open_uses(report: FixableReport) -> list[FixableFinding]:
    """The findings about the old guard that the run leaves as they are: undecided, or with no fix that it takes."""
    return [
        finding
        for finding in report.findings
        if finding.decision is not None
        and finding.use is not None
        and finding.use.guard == LEGACY
        and not report.choice.wanted(finding.fix)
    ]


def offers(finding: FixableFinding, report: FixableReport) -> Iterator[Offer]:
    """The replacements that can be written at a use, whatever speaks for or against them."""
    for purpose in _OFFERED:
        decided = chosen(finding, purpose, report)
        if decided.fix is not None and decided.fix.applicability is not Applicability.DISPLAY:
            yield Offer(purpose, decided, decided.fix)


def chosen(finding: FixableFinding, purpose: Purpose, report: FixableReport) -> FixableFinding:
    """The finding as a person decided it."""
    assert finding.decision is not None
    assert finding.use is not None
    facts = report.project.files[finding.path]
    decision = declared_decision(purpose, finding.use, facts, finding.decision, CHOSEN, "chosen in this run")
    return replace(finding, decision=decision, chosen=True)


def with_choices(report: FixableReport, choices: Choices) -> FixableReport:
    """The report with what was chosen."""
    if not choices:
        return report
    findings = [_chosen(finding, choices, report) for finding in report.findings]
    return replace(report, findings=findings)


def _chosen(finding: FixableFinding, choices: Choices, report: FixableReport) -> FixableFinding:
    purpose = choices.get((finding.path, finding.span.start))
    if purpose is None or finding.decision is None or finding.use is None:
        return finding
    return chosen(finding, purpose, report)
