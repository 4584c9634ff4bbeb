"""What `guardfix verify --test` found out: which tests differ, and which reach which guard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from ..wording import count_of
from .report_summary import remaining_guards
from .verdict_json import left_object, outcome_object

if TYPE_CHECKING:
    from ..verify.judging.guard_sites import GuardSite
    from ..verify.projects.compared_tests import ProjectTests

_SHOWN = 3


def project_test_lines(result: ProjectTests, numbers: Collection[int]) -> Iterator[str]:
    """The tests that are not the same, the guards of these numbers with the tests that enter them, what the shim lacks,
    and what was not migrated."""
    from ..verify.judging.verdicts import Verdict

    alike: dict[tuple[Verdict, str, str], list[str]] = {}
    for test in result.tests:
        judgement = test.judgement
        if judgement.verdict is not Verdict.SAME and (test.missing is None or judgement.verdict is Verdict.SKIPPED):
            alike.setdefault((judgement.verdict, judgement.reason, judgement.advice), []).append(test.name)
    for (verdict, reason, advice), names in alike.items():
        yield f"{_few(names)}: {verdict}"
        yield f"  {reason[:1].upper()}{reason[1:]}{'' if reason.endswith('.') else '.'}"
        if advice:
            yield f"  = do this: {advice}"
    for outcome in result.outcomes:
        site = outcome.site
        if site.number not in numbers:
            continue
        tests, entered, ops = _entering(result, site)
        if not tests:
            yield f"{site.where}: {site.guard}: {outcome.verdict}: {outcome.reason}"
            continue
        times = "once" if entered == 1 else f"{entered} times"
        yield f"{site.where}: {site.guard}: {outcome.verdict}"
        yield f"  Entered {times} by {count_of(len(tests), 'test')} ({_few(tests)}), {count_of(ops, 'op')} below it."
    for name, count in result.missing.most_common():
        yield f"The shim lacks {name}, which stops {count_of(count, 'test')}."
    left = result.migration.left
    for one in left[:_SHOWN]:
        yield f"Not migrated ({one.why}): {one.place.path}:{one.place.row}, {one.place.code}: {one.message}."
    if len(left) > _SHOWN:
        yield f"Not migrated: {len(left) - _SHOWN} more; `guardfix check` lists them."


def _few(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


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
    """How many tests have which verdict, how many ended how, and how many old guards remain."""
    from ..verify.judging.verdicts import Verdict

    counts = Counter(test.judgement.verdict for test in result.tests)
    parts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    before, after = (
        ", ".join(f"{count} {group}" for group, count in groups.items() if count or group in _ALWAYS_COUNTED)
        for groups in result.counts.values()
    )
    both = f"{before}, before and after" if before == after else f"{before} before; {after} after"
    lines = [
        f"{count_of(len(result.tests), 'test')}: {parts}.",
        f"{both} the migration.",
        remaining_guards(*result.migration.remaining),
    ]
    return "\n".join(filter(None, lines))


_ALWAYS_COUNTED = ("passed", "failed", "skipped")


def project_test_object(result: ProjectTests) -> dict[str, Any]:
    """The same as JSON has it."""
    return {
        "tests": [
            {
                "name": test.name,
                "verdict": str(test.judgement.verdict),
                "reason": test.judgement.reason,
                "advice": test.judgement.advice or None,
                "before": None if test.before is None else test.before.outcome,
                "after": None if test.after is None else test.after.outcome,
                "missing": test.missing,
            }
            for test in result.tests
        ],
        "guards": [
            {**outcome_object(outcome), "tests": tests, "entered": entered, "ops": ops}
            for outcome in result.outcomes
            for tests, entered, ops in [_entering(result, outcome.site)]
        ],
        "counts": result.counts,
        "missing": dict(result.missing.most_common()),
        "not_migrated": [left_object(left) for left in result.migration.left],
    }
