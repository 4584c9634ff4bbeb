"""The steps of a verified program around what matters: where its runs part, or where its first guard is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..verify.judging.aligned_traces import AlignedStep, StepAgreement, aligned
from ..verify.judging.traces import TracedEvent, in_words
from ..verify.verifying import Result

_ABOVE, _BELOW = 3, 4


def trace_excerpt(result: Result) -> list[dict[str, Any]]:
    """A few aligned steps, in words, of the runs that the verdict is about; none where two runs aren't compared."""
    before, after = result.judged_runs
    if before is None or after is None:
        return []
    steps = list(aligned(before.events, after.events))
    middle = _middle(steps)
    return [
        {
            "step": step.number_before or step.number_after,
            "agreement": step.agreement.value,
            "before": _shown(step.before),
            "after": _shown(step.after),
        }
        for step in steps[max(0, middle - _ABOVE) : middle + _BELOW]
    ]


def _middle(steps: Sequence[AlignedStep]) -> int:
    for wanted in (StepAgreement.PARTED, StepAgreement.MARKS):
        for place, step in enumerate(steps):
            if step.agreement is wanted:
                return place
    guarded = (n for n, step in enumerate(steps) if any(e and e.get("guards") for e in (step.before, step.after)))
    return next(guarded, 0)


def _shown(event: TracedEvent | None) -> dict[str, Any] | None:
    if event is None:
        return None
    return {"line": event.get("line"), "guards": list(event.get("guards", ())), "message": in_words(event)}
