"""The results of `guardfix verify` as JSON objects."""

from __future__ import annotations

from typing import Any

from ..verify.judging.guard_outcomes import GuardOutcome, GuardReach
from ..verify.judging.guard_sites import SourcePlace
from ..verify.judging.traces import described
from ..verify.judging.verdicts import Silent
from ..verify.programs.program_migration import Left
from ..verify.runs.program_runs import ProgramRun
from ..verify.verifying import Result
from .trace_excerpt import trace_excerpt


def result_object(result: Result, backend: str) -> dict[str, Any]:
    judgement = result.judgement
    comparison = judgement.comparison
    first = None if comparison is None else comparison.first
    parting = None if comparison is None else comparison.parting
    return {
        "filename": result.name,
        "kind": "program" if result.is_program else "file",
        "against": result.against or None,
        "backend": backend,
        "verdict": str(judgement.verdict),
        "reason": judgement.reason,
        "advice": judgement.advice or None,
        "by_meaning": {
            f"torch {when}": {
                "verdict": str(one.verdict),
                "reason": one.reason,
                "silently_wrong": bool(one.silent_before),
            }
            for when, one in judgement.by_meaning
        },
        "silently_wrong": {
            "before": [_silent(silent) for silent in judgement.silent_before],
            "after": [_silent(silent) for silent in judgement.silent_after],
        },
        "traces_part": _parting(first),
        "results_part": _parting(parting),
        "trace": trace_excerpt(result),
        "output_parts": judgement.output and dict(zip(("before", "after"), judgement.output, strict=True)),
        "migrated": [
            {**_place(fix.place), "applicability": "unsafe" if fix.unsafe else "safe", "message": fix.message}
            for fix in result.migration.applied
        ],
        "not_migrated": [left_object(left) for left in result.migration.left],
        "notes": list(result.notes),
        "guards": [_guard(reach) for reach in result.guards],
        "new_inference_tensors": 0 if comparison is None else comparison.inference,
        "before": _run(result.before),
        "after": _run(result.after),
    }


def left_object(left: Left) -> dict[str, Any]:
    """A finding that is not migrated."""
    return {**_place(left.place), "why": str(left.why), "message": left.message}


def outcome_object(outcome: GuardOutcome) -> dict[str, Any]:
    """What came of a guard."""
    return {
        **_where(outcome.site.place),
        "guard": outcome.site.guard,
        "verdict": str(outcome.verdict),
        "reason": outcome.reason or None,
    }


def _guard(reach: GuardReach) -> dict[str, Any]:
    counts = {"before": reach.before, "after": reach.after}
    return {
        **_place(reach.site.place),
        "guard": reach.site.guard,
        "migrated": reach.site.changed,
        "entered": {when: None if count is None else count.entered for when, count in counts.items()},
        "ops": {when: None if count is None else count.ops for when, count in counts.items()},
    }


def _place(place: SourcePlace) -> dict[str, Any]:
    return {"code": place.code or None, **_where(place)}


def _where(place: SourcePlace) -> dict[str, Any]:
    return {"filename": place.path, "location": {"row": place.row, "column": place.column}}


def _silent(silent: Silent) -> dict[str, Any]:
    fields = {key: value for key, value in silent.event.items() if key not in ("event", "thread", "kind")}
    return {"kind": silent.kind, "message": silent.message, **fields}


def _parting(parting: Any) -> dict[str, Any] | None:
    if parting is None:
        return None
    return {
        "step": parting.step,
        "thread": parting.thread,
        "message": parting.what(),
        "before": described(parting.before),
        "after": described(parting.after),
    }


def _run(run: ProgramRun | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "status": run.status,
        "timed_out": run.timed_out,
        "out_of_memory": run.out_of_memory,
        "stdout": run.output,
        "stderr": run.errors,
        "steps": sum(event["event"] == "step" for event in run.events),
        "ops": run.ops,
    }
