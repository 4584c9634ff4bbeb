"""What the machine says of drawn C++ programs is what they do: see `drawn.cpp_agreement`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from guardfix.linter.flow import tensor_writes, tensors
from guardfix.linter.flow.events import EventKind

from .drawn.cpp_agreement import Ran, answers, draw_program, ran_on_the_shim

PROGRAMS = 250
SHARE = 0.95
"""Of the writes to inference tensors, the share that the machine must call certain. It doesn't know `resize_`."""

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[Ran]:
    return list(ran_on_the_shim([draw_program(seed) for seed in range(PROGRAMS)], tmp_path_factory.mktemp("modes")))


def disagreements(programs: list[Ran]) -> list[str]:
    found = [answer for ran in programs for answer in answers(ran)]
    wrong = [f"{one.kind} in row {one.row} of\n{one.text}" for one in found if one.answer == "wrong"]
    said = Counter(one.answer for one in found if one.kind is EventKind.INFERENCE_WRITTEN)
    few = [f"of writes to inference tensors: {said}"] if said["certain"] < SHARE * said.total() else []
    return [*wrong, *few]


def test_agrees_with_the_shim(programs: list[Ran]) -> None:
    assert disagreements(programs) == []
    kinds = Counter(answer.kind for ran in programs for answer in answers(ran) if answer.answer == "certain")
    for kind in (EventKind.INFERENCE_WRITTEN, EventKind.LEAF_WRITTEN, EventKind.NOT_RECORDED):
        assert kinds[kind] > 10, kinds


def _writes_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tensor_writes, "write_tensor", lambda *given, **named: True)


def _detaches_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tensors, "detached", lambda ref, state: ref)


@pytest.mark.parametrize(
    "mutate",
    [
        pytest.param(_writes_nothing, id="the machine forgets what writing does"),
        pytest.param(_detaches_nothing, id="the machine takes a detached tensor for the same one"),
    ],
)
def test_a_mistake_is_found(
    mutate: Callable[[pytest.MonkeyPatch], None], programs: list[Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(monkeypatch)
    assert disagreements(programs) != []
