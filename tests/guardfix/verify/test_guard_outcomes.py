"""What the programs that reach a guard say about it together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from guardfix.runtime_shim.recording.guard_table import GuardCount
from guardfix.verify.judging.guard_outcomes import GuardReach, ProgramReach, guard_outcomes
from guardfix.verify.judging.guard_sites import GuardSite, SourcePlace, linkless_path
from guardfix.verify.judging.verdicts import Verdict

SITE = GuardSite(1, SourcePlace("op.cpp", 3, 3, "GF101"), "AutoNonVariableTypeMode", changed=True)
SAME, CHANGED, NOT_REACHED, UNSUPPORTED = Verdict.SAME, Verdict.CHANGED, Verdict.NOT_REACHED, Verdict.UNSUPPORTED
NOT_RUN, SKIPPED = Verdict.NOT_RUN, Verdict.SKIPPED
NEVER, IDLE, USED = GuardCount(), GuardCount(1, 0), GuardCount(1, 4)


def reach(name: str, verdict: Verdict, before: GuardCount, after: GuardCount, *, failed: bool = False) -> ProgramReach:
    return ProgramReach(name, verdict, f"why {name}", (GuardReach(SITE, before, after),), frozenset(), failed)


def cut_off(name: str, count: GuardCount) -> ProgramReach:
    found = reach(name, UNSUPPORTED, count, count)
    return replace(found, files=frozenset({str(linkless_path("op.cpp"))}), ended_early=True)


@pytest.mark.parametrize(
    ("programs", "verdict", "reason"),
    [
        ([], NOT_REACHED, "no program compiles its file"),
        ([reach("a", SAME, NEVER, NEVER)], NOT_REACHED, "no program compiles its file"),
        ([reach("a", SAME, USED, USED)], SAME, ""),
        ([reach("a", SAME, IDLE, IDLE)], NOT_REACHED, "a enters it, but no op runs below it"),
        ([reach("a", SAME, USED, USED, failed=True)], SAME, ""),
        ([reach("a", SAME, IDLE, IDLE, failed=True)], NOT_REACHED, "a enters it, and fails before an op runs below it"),
        ([reach("a", NOT_REACHED, IDLE, IDLE)], NOT_REACHED, "a enters it, but no op runs below it"),
        ([reach("a", NOT_REACHED, IDLE, IDLE, failed=True)], NOT_REACHED, "a enters it, and fails before"),
        ([reach("a", CHANGED, IDLE, IDLE, failed=True)], CHANGED, ""),
        ([reach("a", SAME, IDLE, IDLE, failed=True), reach("b", SAME, USED, USED)], SAME, ""),
        ([reach("a", SAME, USED, USED), reach("b", CHANGED, USED, USED)], CHANGED, ""),
        ([reach("a", UNSUPPORTED, USED, NEVER)], UNSUPPORTED, "a: why a"),
        ([reach("a", NOT_RUN, USED, USED, failed=True)], NOT_RUN, "a: why a"),
        ([reach("a", NOT_RUN, USED, USED, failed=True), reach("b", SAME, USED, USED)], SAME, ""),
        ([reach("a", SKIPPED, USED, USED)], NOT_REACHED, "a enters it, and is skipped"),
        ([reach("a", Verdict.NOTHING, USED, USED)], NOT_REACHED, "a enters it, but"),
        ([cut_off("a", NEVER), cut_off("b", NEVER)], NOT_REACHED, "never entered, but a and 1 more ended early"),
        ([cut_off("a", USED)], UNSUPPORTED, "a: why a"),
        ([cut_off("a", NEVER)], NOT_REACHED, "never entered, but a ended early"),
        ([cut_off("a", USED), reach("b", SAME, USED, USED)], SAME, ""),
        (
            [reach("a", CHANGED, USED, NEVER)],
            NOT_REACHED,
            "a enters it before the migration; after it, the program ends",
        ),
    ],
)
def test_a_guard_has_the_worst_verdict_of_what_shows_something_of_it(
    programs: list[ProgramReach], verdict: Verdict, reason: str
) -> None:
    [outcome] = guard_outcomes([SITE], programs)
    assert outcome.verdict is verdict
    assert outcome.reason.startswith(reason)
    assert bool(outcome.reason) is bool(reason)


@pytest.mark.parametrize(
    ("count", "failed", "verdict"),
    [(IDLE, False, SAME), (IDLE, True, NOT_REACHED), (USED, False, SAME), (NEVER, False, NOT_REACHED)],
)
def test_a_guard_that_is_taken_away_needs_no_op_below_it(count: GuardCount, failed: bool, verdict: Verdict) -> None:
    removed = replace(SITE, counted=(True, False), removed=True)
    program = ProgramReach("a", SAME, "", (GuardReach(removed, count, None),), frozenset(), failed)
    assert guard_outcomes([removed], [program])[0].verdict is verdict
