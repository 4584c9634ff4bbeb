"""What `guardfix verify --test` found out: which tests differ, and which reach which guard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from ..wording import count_of

if TYPE_CHECKING:
    from ..verify.guard_sites import GuardSite
    from ..verify.project_tests import ProjectTests

_SHOWN = 3


def project_test_lines(result: ProjectTests, numbers: Collection[int]) -> Iterator[str]:
    """The tests that are not the same, the guards of these numbers with the tests that enter them, and what the shim
    lacks."""
    from ..verify.verdicts import Verdict

    for test in result.tests:
        judgement = test.judgement
        if judgement.verdict is not Verdict.SAME and test.missing is None:
            yield f"{test.name}: {judgement.verdict}"
            yield f"  {judgement.reason[:1].upper()}{judgement.reason[1:]}."
            if judgement.advice:
                yield f"  What to do: {judgement.advice}."
    for outcome in result.outcomes:
        site = outcome.site
        if site.number not in numbers:
            continue
        tests, entered, ops = _entering(result, site)
        if not tests:
            yield f"{site.where}: {site.guard}: {outcome.verdict}: {outcome.reason}"
            continue
        shown = ", ".join(tests[:_SHOWN]) + (f" and {len(tests) - _SHOWN} more" if len(tests) > _SHOWN else "")
        times = "once" if entered == 1 else f"{entered} times"
        yield f"{site.where}: {site.guard}: {outcome.verdict}"
        yield f"  Entered {times} by {count_of(len(tests), 'test')} ({shown}), {count_of(ops, 'op')} below it."
    for name, count in result.missing.most_common():
        yield f"The shim lacks {name}, which stops {count_of(count, 'test')}."


def _entering(result: ProjectTests, site: GuardSite) -> tuple[list[str], int, int]:
    """The tests that enter a guard before the migration (or only after it), how often, and the ops below."""
    names, entered, ops = [], 0, 0
    for test in result.tests:
        counts = [run.counts.get(site.number) for run in (test.before, test.after) if run is not None]
        count = next((count for count in counts if count is not None and count.entered), None)
        if count is not None:
            names.append(test.name)
            entered += count.entered
            ops += count.ops
    return names, entered, ops


def test_counts(result: ProjectTests) -> str:
    """How many tests have which verdict."""
    from ..verify.verdicts import Verdict

    counts = Counter(test.judgement.verdict for test in result.tests)
    parts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    return f"{count_of(len(result.tests), 'test')}: {parts}."


def project_test_object(result: ProjectTests) -> dict[str, Any]:
    """The same as JSON has it."""
    return {
        "tests": [
            {
                "name": test.name,
                "verdict": str(test.judgement.verdict),
                "reason": test.judgement.reason,
                "before": None if test.before is None else test.before.outcome,
                "after": None if test.after is None else test.after.outcome,
                "missing": test.missing,
            }
            for test in result.tests
        ],
        "guards": [
            {
                "filename": outcome.site.place.path,
                "location": {"row": outcome.site.place.row, "column": outcome.site.place.column},
                "guard": outcome.site.guard,
                "verdict": str(outcome.verdict),
                "reason": outcome.reason or None,
                "tests": tests,
                "entered": entered,
                "ops": ops,
            }
            for outcome in result.outcomes
            for tests, entered, ops in [_entering(result, outcome.site)]
        ],
        "missing": dict(result.missing.most_common()),
    }
