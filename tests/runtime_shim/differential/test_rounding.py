"""Numbers that rounding leaves unsettled: what may differ, and that planted faults are found all the same."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import pytest

import guardfix.runtime_shim as shim

from . import forked_runs, recording, suite
from .compare import Disagreement
from .generator import generate
from .program import Program
from .rounding import unsettled
from .runner import Step
from .test_faults import FAULTS, Fault
from .test_harness import TENSOR


def _seen(*values: float) -> Step:
    return Step("ok", None, {"a": replace(TENSOR, values=values)})


@pytest.mark.parametrize(
    ("expected", "got", "others", "excused"),
    [
        pytest.param(1.0, 1.001, [1.0, 1.0], False, id="nothing moves"),
        pytest.param(1.0, 1.001, [1.0000001, 0.9999999], False, id="it moves far less than it differs"),
        pytest.param(-0.4745, -0.4751, [-0.4746, -0.4744], True, id="it differs by some of the moves"),
        pytest.param(2.5, float("inf"), [2.5, 2.6], False, id="infinite where it hardly moves"),
        pytest.param(2.5e7, float("inf"), [1.2e7, 5e7], True, id="infinite where no digit is settled"),
        pytest.param(2.5e7, 1.0, [float("inf"), 2.5e7], True, id="it moves to infinity"),
        pytest.param(0.0, 0.5, [0.0, 0.0], False, id="a zero that stays"),
        pytest.param(64, 65, [63, 64], True, id="last bits seen through an integer"),
        pytest.param(64, 65, [64, 64], False, id="an integer that stays"),
        pytest.param(True, False, [True, True], False, id="a truth that stays"),
        pytest.param(True, False, [True, False], True, id="a truth that flips"),
    ],
)
def test_a_number_may_differ_as_far_as_it_moves(expected: Any, got: Any, others: list[Any], excused: bool) -> None:
    found = Disagreement(0, "values", "a", (expected, 1.0), (got, 1.0))
    assert unsettled(found, [[_seen(other, 1.0)] for other in others]) is excused


@pytest.mark.parametrize("aspect", ["dtype", "version", "outcome", "layout", "edges", "requires_grad", "message"])
def test_nothing_but_numbers_is_excused(aspect: str) -> None:
    assert not unsettled(Disagreement(0, aspect, "a", 1, 2), [[_seen(1.0)], [_seen(5.0)]])


def test_printed_numbers_may_move_and_words_may_not() -> None:
    runs = [[Step("ok", text)] for text in ("tensor([0.25, 7.1000])", "tensor([0.25, 7.3000])")]
    assert unsettled(Disagreement(0, "value", None, "tensor([0.25, 7.2000])", "tensor([0.25, 7.2500])"), runs)
    assert not unsettled(Disagreement(0, "value", None, "tensor([0.25, 7.2000])", "tensor([0.35, 7.2000])"), runs)
    assert not unsettled(Disagreement(0, "value", None, "tensor([0.25, 7.2000])", "[0.25, 7.2000]"), runs)


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    return pytest.importorskip("torch")


UNSETTLED = ("a = torch.tensor([4000.3, 0.7])", "b = a.exp2().sin() + (a * a * a).sin()", "c = b.view(torch.int32)")
SETTLED = ("a = torch.tensor([1.5, 0.75])", "b = (a * a).sum()", "c = b.view(torch.int32)", "d = a == 1.5")


@pytest.mark.oracle
def test_pytorch_moves_what_it_rounds_and_nothing_else(torch: ModuleType) -> None:
    def values(lines: tuple[str, ...]) -> list[set[object]]:
        runs = forked_runs.nudged_runs(Program("long", 0, lines), torch)
        assert runs is not None
        last = [run[-1].variables for run in runs]
        return [{variables[name].values for variables in last} for name in last[0]]

    moved = values(UNSETTLED)
    assert [len(found) > 1 for found in moved] == [False, True, True]
    assert [len(found) for found in values(SETTLED)] == [1, 1, 1, 1]


@pytest.mark.oracle
@pytest.mark.parametrize(("fault", "aspects"), FAULTS)
def test_planted_faults_are_not_excused(
    fault: Fault, aspects: set[str], torch: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = [generate(profile, seed) for seed in range(60_000, 60_025) for profile in ("documented", "long")]
    runs: list[recording.Recording] = list(forked_runs.record_all(drawn, torch))
    nudged = partial(forked_runs.nudged_runs, torch=torch)
    fault(monkeypatch)
    failures = [failure for item in runs if (failure := suite.check(item, shim, nudged=nudged))]
    assert aspects & {failure.disagreement.aspect for failure in failures}
    assert 1 - len(failures) / len(runs) < suite.TARGETS["long"]
