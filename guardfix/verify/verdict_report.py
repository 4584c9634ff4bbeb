"""Results -> text and JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from .program_migration import Place
from .program_runs import ProgramRun
from .traces import described
from .verdicts import Judgement, Silent, Verdict
from .verifying import Result

COLORS = {
    Verdict.SAME: "green",
    Verdict.REPAIRED: "cyan",
    Verdict.STRICTER: "yellow",
    Verdict.CHANGED: "red",
    Verdict.UNSUPPORTED: "magenta",
}


_SHOWN = 3


def lines(result: Result) -> list[str]:
    """The lines of one result below its headline."""
    judgement = result.judgement
    found = [_sentence(judgement.reason)]
    if judgement.advice:
        found.append(f"What to do: {judgement.advice}.")
    if judgement.verdict not in (Verdict.SAME, Verdict.UNSUPPORTED):
        found += _partings(judgement)
        if judgement.output is not None:
            before, after = judgement.output
            found.append(f"The output parts at: {before!r} before, {after!r} after.")
    if result.after is not None:
        found += _unsafe(result)
    found += _left(result)
    if result.left_out:
        plural = "" if result.left_out == 1 else "s"
        found.append(f"{result.left_out} file{plural} of its folder were not copied: there was too much.")
    return found


def _unsafe(result: Result) -> Iterator[str]:
    """The unsafe fixes that are verified, which `migrate` takes only when it is told to."""
    found = [fix for fix in result.migration.applied if fix.unsafe]
    for fix in found[:_SHOWN]:
        yield f"Migrated with `--unsafe`: {fix.place.in_words(result.program)}: {fix.message}."
    if len(found) > _SHOWN:
        yield f"And with {len(found) - _SHOWN} more unsafe fixes."


def _left(result: Result) -> Iterator[str]:
    """What of the program is not migrated, a line a finding; where nothing is, the reason told the first."""
    told = result.migration.foremost if result.after is None else None
    found = [left for left in result.migration.left if left is not told]
    for left in found[:_SHOWN]:
        yield f"Left as it is ({left.why}): {left.place.in_words(result.program)}: {left.message}."
    if len(found) > _SHOWN:
        yield f"Left as they are: {len(found) - _SHOWN} more; `guardfix check` shows them."


def _partings(judgement: Judgement) -> list[str]:
    comparison = judgement.comparison
    if comparison is None:
        return []
    first, parting = comparison.first, comparison.parting
    found = []
    if first is not None:
        found.append(f"The traces part at {first.where()}: {first.what()}.")
    if parting is not None and parting is not first:
        found.append(f"What the program gets to see parts at {parting.where()}: {parting.what()}.")
    return found


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!")) else ".")


def verdict_summary(results: Iterable[Result]) -> str:
    counts = Counter(result.judgement.verdict for result in results)
    total = sum(counts.values())
    parts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    return f"{total} program{'' if total == 1 else 's'}: {parts}."


def as_json(results: Iterable[Result], backend: str) -> str:
    return json.dumps([_entry(result, backend) for result in results], indent=2)


def _entry(result: Result, backend: str) -> dict[str, Any]:
    judgement = result.judgement
    comparison = judgement.comparison
    first = None if comparison is None else comparison.first
    parting = None if comparison is None else comparison.parting
    return {
        "filename": str(result.program.path),
        "against": result.against or None,
        "backend": backend,
        "verdict": str(judgement.verdict),
        "reason": judgement.reason,
        "advice": judgement.advice or None,
        "silently_wrong": {
            "before": [_silent(silent) for silent in judgement.silent_before],
            "after": [_silent(silent) for silent in judgement.silent_after],
        },
        "traces_part": _parting(first),
        "results_part": _parting(parting),
        "output_parts": judgement.output and dict(zip(("before", "after"), judgement.output, strict=True)),
        "migrated": [
            {**_place(fix.place), "applicability": "unsafe" if fix.unsafe else "safe", "message": fix.message}
            for fix in result.migration.applied
        ],
        "not_migrated": [
            {**_place(left.place), "why": str(left.why), "message": left.message} for left in result.migration.left
        ],
        "new_inference_tensors": 0 if comparison is None else comparison.inference,
        "before": _run(result.before),
        "after": _run(result.after),
    }


def _place(place: Place) -> dict[str, Any]:
    return {"code": place.code, "filename": place.path, "location": {"row": place.row, "column": place.column}}


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
    }
