"""How far a tree is: what is left, how sure guardfix is of it, and who has to decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from guardfix.codemods.fixable import FixableFinding, FixableReport
from guardfix.linter.findings import Applicability
from guardfix.linter.str_enum import StrEnum

from .baseline import Baseline
from .code_owners import NO_OWNER, CodeOwners


class NextStep(StrEnum):
    """What a finding needs."""

    APPLY = "apply"
    REVIEW = "review"
    DECIDE = "decide"


Steps = Counter[NextStep]
"""How many findings need which step."""


@dataclass
class TreeProgress:
    """Findings, counted."""

    files: int
    """How many files were looked at."""
    steps: Steps = field(default_factory=Counter)
    by_rule: dict[str, Steps] = field(default_factory=dict)
    by_folder: dict[str, Steps] = field(default_factory=dict)
    by_owner: dict[str, Steps] = field(default_factory=dict)
    """Files may have several owners."""
    contexts: dict[str, Counter[str]] = field(default_factory=dict)
    """Of findings with a decision: context -> confidence -> count."""
    baseline: tuple[int, int, int] | None = None
    """(findings that it held when it was created, how many of these are left, findings besides)."""


def next_step(finding: FixableFinding) -> NextStep:
    """Apply a safe fix, review an unsafe one, or decide."""
    if finding.fix is None or finding.fix.applicability is Applicability.DISPLAY:
        return NextStep.DECIDE
    return NextStep.APPLY if finding.fix.applicability is Applicability.SAFE else NextStep.REVIEW


def progress_of(
    report: FixableReport, names: Mapping[str, str], owners: CodeOwners, baseline: Baseline | None, depth: int
) -> TreeProgress:
    """What a report comes to. `names` are the files' paths from the top of the repository; `depth` parts of a folder's
    name are kept apart."""
    found = TreeProgress(report.files)
    for finding in report.findings:
        step = next_step(finding)
        name = names[finding.path]
        folder = "/".join(name.split("/")[:-1][:depth]) or "."
        found.steps[step] += 1
        for table, key in ((found.by_rule, f"{finding.code} {finding.name}"), (found.by_folder, folder)):
            table.setdefault(key, Counter())[step] += 1
        for owner in owners.of(name) or (NO_OWNER,):
            found.by_owner.setdefault(owner, Counter())[step] += 1
        if finding.decision is not None:
            by_confidence = found.contexts.setdefault(finding.decision.context.value, Counter())
            by_confidence[finding.decision.confidence.value] += 1
    if baseline is not None:
        compared = baseline.compared(report)
        found.baseline = (baseline.initial, compared.kept.total(), len(compared.new))
    return found
