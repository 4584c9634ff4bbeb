"""Two recordings side by side: which steps belong together, and how they agree."""

from __future__ import annotations

from typing import Any

import pytest

from guardfix.verify.judging.aligned_traces import aligned


def step(op: str, data: str = "d", *, version: int | None = 0, thread: int = 0) -> dict[str, Any]:
    result = {
        "shape": [2], "dtype": "float32", "requires_grad": False, "grad_fn": None, "inference": version is None,
        "view": False, "version": version, "data": data, "first": ["1.0", "2.0"],
    }  # fmt: skip
    return {"event": "step", "thread": thread, "op": op, "kernels": ["CPU"], "guards": [], "results": [result]}


def raised(op: str) -> dict[str, Any]:
    return {"event": "raised", "thread": 0, "op": op, "error": "RuntimeError", "message": "no", "guards": []}


ALIGNED = [
    # (before, after, what is expected: op and number before, op and number after, agreement)
    pytest.param([], [], [], id="nothing"),
    pytest.param([step("a")], [step("a")], ["a1 a1 same"], id="the same"),
    pytest.param(
        [step("a", version=0), step("b")], [step("a", version=None), step("b")], ["a1 a1 marks", "b2 b2 same"],
        id="only what a migration changes",
    ),
    pytest.param(
        [step("a"), step("b", "x"), step("c")], [step("a"), step("b", "y"), step("c")],
        ["a1 a1 same", "b2 b2 parted", "c3 c3 same"], id="other data, and then the same again",
    ),
    pytest.param(
        [step("a"), step("b"), step("c")], [step("a"), step("c")],
        ["a1 a1 same", "b2 -- parted", "c3 c2 same"], id="a step that is gone",
    ),
    pytest.param(
        [step("a"), step("b")], [step("a"), raised("b")], ["a1 a1 same", "b2 b2 parted"], id="a call that raises now",
    ),
    pytest.param(
        [step("a")], [step("a"), step("b"), step("c")], ["a1 a1 same", "-- b2 parted", "-- c3 parted"], id="more after",
    ),
    pytest.param(
        [step("a"), step("w", thread=4)], [step("a"), step("w", thread=9)], ["a1 a1 same", "w1 w1 same"],
        id="threads by what they do",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "expected"), ALIGNED)
def test_steps_side_by_side(before: list[Any], after: list[Any], expected: list[str]) -> None:
    assert [
        f"{shown(one.before, one.number_before)} {shown(one.after, one.number_after)} {one.agreement.value}"
        for one in aligned(before, after)
    ] == expected


def shown(event: Any, number: int) -> str:
    return "--" if event is None else f"{event['op']}{number}"


def test_what_differs_is_said_where_it_differs() -> None:
    [same, other] = aligned([step("a"), step("b", version=0)], [step("a"), step("b", version=None)])
    assert same.difference == ""
    assert (
        other.difference
        == "`b`: a normal tensor before, an inference tensor after; version 0 before, version none after"
    )
