"""What `guardfix verify --exercise` found out: which ops differ, with a program that shows it; who enters a guard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..wording import count_of
from .verdict_json import outcome_object

if TYPE_CHECKING:
    from ..verify.exercising.op_exercises import ExercisedOp
    from ..verify.exercising.project_exercise import ExercisedProject
    from ..verify.judging.guard_outcomes import GuardOutcome
    from ..verify.judging.guard_sites import GuardSite

_SHOWN = 3


def exercise_lines(result: ExercisedProject, outcomes: Sequence[GuardOutcome]) -> Iterator[str]:
    """The ops that are not the same, each with its program; the guards of `outcomes`; what could not be loaded."""
    from ..verify.judging.verdicts import Verdict

    for op in result.ops:
        if op.verdict is Verdict.SAME:
            continue
        yield f"{op.shown}: {op.verdict}"
        yield f"  {op.reason[:1].upper()}{op.reason[1:]}."
        if op.advice:
            yield f"  = do this: {op.advice}"
        text = result.program_of(op)
        if text:
            yield "  This program shows it:"
            yield from (f"    {line}" for line in text.splitlines())
    for outcome in outcomes:
        site = outcome.site
        entering = _entering(result, site)
        if not entering:
            reason = "no op enters it" if outcome.reason == "never entered" else outcome.reason
            yield f"{site.where}: {site.guard}: {outcome.verdict}{': ' if reason else ''}{reason}"
            continue
        names = ", ".join(op.name for op in entering[:_SHOWN])
        more = f" and {len(entering) - _SHOWN} more" if len(entering) > _SHOWN else ""
        entered, ops = (
            sum(op.before[site.number, what] or op.after[site.number, what] for op in entering)
            for what in ("entered", "ops")
        )
        times = "once" if entered == 1 else f"{entered} times"
        yield f"{site.where}: {site.guard}: {outcome.verdict}"
        yield f"  Entered {times} by {count_of(len(entering), 'op')} ({names}{more}), {count_of(ops, 'op')} below it."
    for what, reason in result.failures:
        yield f"{what}: not loaded: {reason}"


def _entering(result: ExercisedProject, site: GuardSite) -> list[ExercisedOp]:
    return [op for op in result.ops if op.enters(site)]


def exercise_summary(result: ExercisedProject) -> str:
    """`12 ops exercised in 3,412 programs: 9 same, 1 stricter, 2 not reached.`"""
    from ..verify.judging.verdicts import Verdict

    counts = Counter(op.verdict for op in result.ops)
    parts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    programs = sum(op.calls for op in result.ops)
    return f"{count_of(len(result.ops), 'op')} exercised in {programs:,} programs: {parts}."


def exercise_object(result: ExercisedProject, outcomes: Sequence[GuardOutcome]) -> dict[str, Any]:
    """The same as JSON has it."""
    return {
        "ops": [
            {
                "name": op.name,
                "signature": op.shown,
                "verdict": str(op.verdict),
                "reason": op.reason,
                "programs": op.calls,
                "program": result.program_of(op) or None,
            }
            for op in result.ops
        ],
        "guards": [
            {**outcome_object(outcome), "ops": [op.name for op in _entering(result, outcome.site)]}
            for outcome in outcomes
        ],
        "not_loaded": [{"what": what, "reason": reason} for what, reason in result.failures],
    }
