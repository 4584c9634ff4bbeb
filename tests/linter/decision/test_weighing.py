"""What signals come to, and what each number of the policy does: a case on both sides of it."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from guardfix.linter.decision.policy import POLICY
from guardfix.linter.decision.signal_kinds import Signal, SignalKind, Weight
from guardfix.linter.decision.weighing import is_settled, weigh
from guardfix.linter.findings import Side


def signals(words: str) -> list[Signal]:
    """`inference strong, kernel weak x2`: the signals of those sides and weights, each at a place of its own."""
    found = []
    for word in filter(None, words.split(", ")):
        side, weight, *times = word.split(" ")
        kind = SignalKind(word, Side(side), Weight(weight), "")
        for _ in range(int(times[0][1:]) if times else 1):
            found.append(Signal(kind, kind.side, word, "ops.cpp", len(found), 1))
    return found


def weighed(words: str, **changed: int) -> str:
    context, confidence = weigh(signals(words), replace(POLICY, **changed))
    return f"{context.value} {confidence.value}"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param("", "unknown low", id="nothing was found"),
        pytest.param("inference weak", "unknown low", id="one weak signal is not enough"),
        pytest.param("inference weak x2", "inference low", id="two weak ones are"),
        pytest.param("inference strong", "inference medium", id="one strong signal"),
        pytest.param("inference strong x2", "inference high", id="two strong signals for inference"),
        pytest.param("kernel strong x2", "kernel medium", id="two strong signals for a kernel are not sure"),
        pytest.param("kernel strong x9", "kernel medium", id="nor are many"),
        pytest.param("kernel decisive", "kernel high", id="a decisive one is"),
        pytest.param("below_autograd decisive", "below_autograd high", id="of an in-place op as well"),
        pytest.param(
            "kernel strong, below_autograd decisive", "below_autograd high", id="the heaviest says which kernel"
        ),
        pytest.param("below_autograd strong, kernel strong", "below_autograd medium", id="of equals the first says it"),
        pytest.param(
            "kernel strong, below_autograd strong", "kernel medium", id="of equals the first says it, turned round"
        ),
        pytest.param("kernel decisive, inference weak", "kernel high", id="a model elsewhere is not an objection"),
        pytest.param("kernel decisive, inference strong x4", "kernel medium", id="a model that runs here is one"),
        pytest.param("kernel decisive, remove strong", "kernel medium", id="a guard that covers nothing is one"),
        pytest.param("kernel decisive, against_inference strong", "kernel high", id="training is none for a kernel"),
        pytest.param("kernel decisive, remove decisive", "remove medium", id="in forward, and it covers nothing"),
        pytest.param("remove decisive, inference weak", "remove low", id="decisive for remove, but a model is near"),
        pytest.param("remove decisive, inference strong", "unknown low", id="decisive for remove, but a model runs"),
        pytest.param("remove strong", "remove low", id="remove is never more than low without a decisive signal"),
        pytest.param("remove strong x2", "remove low", id="however many there are"),
        pytest.param("inference strong x2, kernel strong", "unknown low", id="both sides are heard"),
        pytest.param("inference strong x2, kernel moderate", "inference low", id="a third of it is outweighed"),
        pytest.param("against_inference strong", "unknown low", id="against inference is for nothing"),
        pytest.param("inference strong x2, against_inference strong", "unknown low", id="training stops inference"),
        pytest.param("inference strong x2, against_inference moderate", "inference low", id="and doubt lowers it"),
        pytest.param("inference strong x2, against_inference weak", "inference medium", id="a weak doubt by one step"),
        pytest.param("kernel strong, against_inference strong", "kernel medium", id="it does not stop a kernel"),
        pytest.param("kernel tried", "kernel low", id="one that survived alone"),
        pytest.param("kernel tried, inference strong", "kernel low", id="the other was tried, and failed"),
        pytest.param("remove tried, inference moderate", "remove low", id="also where the other was hardly sure"),
        pytest.param("kernel tried, inference strong x4", "kernel low", id="however much speaks for it"),
        pytest.param("kernel tried, kernel strong", "kernel medium", id="it lowers nothing"),
        pytest.param("inference tried, kernel tried", "unknown low", id="two that survived decide nothing"),
        pytest.param("kernel tried, inference declared", "inference high", id="declared goes before"),
        pytest.param("inference declared", "inference high", id="declared is decided"),
        pytest.param("remove declared, inference strong x2", "remove high", id="also what is never sure otherwise"),
        pytest.param("inference declared, against_inference strong", "inference high", id="whatever speaks against it"),
        pytest.param("inference declared, kernel declared", "unknown low", id="two declarations decide nothing"),
    ],
)
def test_signals_come_to(words: str, expected: str) -> None:
    assert weighed(words) == expected


NUMBERS = [
    pytest.param("weak", 2, "inference weak", "unknown low", "inference low"),
    pytest.param("weak", 0, "inference weak x2", "inference low", "unknown low"),
    pytest.param("moderate", 1, "inference moderate", "inference low", "unknown low"),
    pytest.param("moderate", 3, "inference moderate", "inference low", "inference medium"),
    pytest.param("strong", 2, "inference strong", "inference medium", "inference low"),
    pytest.param("strong", 6, "inference strong", "inference medium", "inference high"),
    pytest.param("decisive", 5, "remove decisive, inference moderate", "remove low", "unknown low"),
    pytest.param("decisive", 9, "remove decisive, inference strong", "unknown low", "remove low"),
    pytest.param("tried", 3, "kernel tried", "kernel low", "kernel medium"),
    pytest.param("tried_settles", False, "kernel tried, inference strong", "kernel low", "unknown low"),
    pytest.param("declared_settles", False, "inference declared, kernel decisive", "inference high", "kernel medium"),
    pytest.param("counted_in_full", 1, "inference strong x2", "inference high", "inference medium"),
    pytest.param("counted_in_full", 3, "inference strong x3, kernel strong", "unknown low", "inference low"),
    pytest.param("counted_as_weak", 2, "inference strong x5, kernel strong", "inference low", "unknown low"),
    pytest.param(
        "counted_as_weak", 6, "inference strong x9, kernel strong, remove weak", "unknown low", "inference low"
    ),
    pytest.param("outweighs", 4, "inference strong x2, kernel moderate", "inference low", "unknown low"),
    pytest.param("outweighs", 2, "inference strong x2, kernel strong", "unknown low", "inference low"),
    pytest.param("least_score", 1, "inference weak", "unknown low", "inference low"),
    pytest.param("least_score", 3, "inference moderate", "inference low", "unknown low"),
    pytest.param("medium_score", 2, "inference moderate", "inference low", "inference medium"),
    pytest.param("medium_score", 4, "inference strong", "inference medium", "inference low"),
    pytest.param("high_score", 5, "inference strong, inference moderate", "inference medium", "inference high"),
    pytest.param("high_score", 7, "inference strong x2", "inference high", "inference medium"),
    pytest.param("kernel_is_high_only_if_decisive", False, "kernel strong x2", "kernel medium", "kernel high"),
    pytest.param("objection", 2, "kernel decisive, inference moderate", "kernel high", "kernel medium"),
    pytest.param("objection", 4, "kernel decisive, inference strong", "kernel medium", "kernel high"),
]


@pytest.mark.parametrize(("number", "other", "words", "today", "then"), NUMBERS)
def test_each_number_decides(number: str, other: int, words: str, today: str, then: str) -> None:
    assert weighed(words) == today
    assert weighed(words, **{number: other}) == then


def test_every_number_of_the_weighing_has_a_case() -> None:
    asked_elsewhere = {"calls_up", "most_callers"}  # test_callers.py
    assert {case.values[0] for case in NUMBERS} == POLICY.reasons().keys() - asked_elsewhere


def test_every_number_has_a_reason() -> None:
    assert all(reason for _, reason in POLICY.reasons().values())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param("", False, id="nothing"),
        pytest.param("inference strong", False, id="one strong signal"),
        pytest.param("inference strong x2", True, id="no doubt"),
        pytest.param("kernel strong x2", False, id="kernels without a decisive signal"),
        pytest.param("kernel decisive, inference strong x2", True, id="a decisive signal, whatever else there is"),
        pytest.param("inference strong x2, kernel weak", False, id="an objection"),
    ],
)
def test_settled(words: str, expected: bool) -> None:
    assert is_settled(signals(words), POLICY) is expected


def test_the_same_reason_at_two_places_counts_twice_but_not_at_one() -> None:
    one, two = signals("inference strong x2")
    assert one != two
    assert one == msgspec.structs.replace(two, offset=one.offset)
