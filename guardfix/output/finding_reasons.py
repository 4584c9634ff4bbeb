"""Why a finding is one, as the formats tell it: the evidence, and the steps that lead to it, by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from guardfix.linter.findings import Finding, StepTaken
from guardfix.linter.named_tuples import NamedTuple


class ToldReason(NamedTuple):
    """A piece of evidence with its side, or a step with its number, and its place."""

    message: str
    path: str
    offset: int
    row: int


def told_reasons(finding: Finding) -> Iterator[ToldReason]:
    """All the evidence, then all the steps."""
    if finding.decision is not None:
        for evidence in finding.decision.evidence:
            yield ToldReason(finding.decision.reason(evidence), evidence.path, evidence.offset, evidence.row)
    for number, step in enumerate(finding.steps, 1):
        yield ToldReason(f"step {number}: {step.message}", step.path, step.offset, step.row)


class ShownSteps(NamedTuple):
    """The steps that are shown, each with its number from 1."""

    first: list[tuple[int, StepTaken]]
    """All of them, where none is left out."""
    left_out: str
    """Which ones are not shown, as `steps 5 to 17`; empty where all are."""
    last: list[tuple[int, StepTaken]]


def shown_steps(steps: Sequence[StepTaken], most: int) -> ShownSteps:
    """The beginning of the story and its end, in at most `most` lines; what is left out takes one of them."""
    numbered = list(enumerate(steps, 1))
    if len(numbered) <= most:
        return ShownSteps(numbered, "", [])
    begin = most // 2
    end = len(numbered) - (most - 1 - begin)
    return ShownSteps(numbered[:begin], f"steps {begin + 1} to {end}", numbered[end:])
