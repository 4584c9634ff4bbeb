"""The rest of a very long recording is a digest of what has to be the same before and after a migration."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from guardfix.runtime_shim.recording.trace_events import Writer
from guardfix.verify.judging.traces import compare

RESULT = {
    "shape": [2], "dtype": "float32", "requires_grad": False, "grad_fn": None, "inference": False, "view": False,
    "version": 0, "data": "d", "first": ["1.0", "2.0"],
}  # fmt: skip
STEP = {"thread": 0, "op": "mul", "kernels": ["ADInplaceOrView", "CPU"], "guards": ["NoGrad"], "results": [RESULT]}


def step(thread: int = 0, op: str = "mul", guards: tuple[str, ...] = (), **result: Any) -> dict[str, Any]:
    return {**STEP, "thread": thread, "op": op, "guards": list(guards), "results": [{**RESULT, **result}]}


def recorded(*steps: dict[str, Any], limit: int = 1) -> list[dict[str, Any]]:
    stream = io.StringIO()
    writer = Writer(stream, limit=limit)
    for fields in steps:
        writer.write("step", **fields)
    writer.close()
    return [json.loads(line) for line in stream.getvalue().splitlines()]


FIRST = step()
SAME = {
    "the same": (step(), step()),
    "another guard, other kernels": (step(guards=("AutoNonVariableTypeMode",)), {**step(), "kernels": ["CPU"]}),
    "a version": (step(version=0), step(version=3)),
    "an inference tensor": (step(version=0), step(version=None, inference=True)),
    "a tracked view": (step(), step(view=True, requires_grad=True)),
    "the answer to a question": ({**step(op="_version"), "results": ["0"]}, {**step(op="_version"), "results": ["1"]}),
}
OTHER = {
    "other data": (step(), step(data="e")),
    "another op": (step(), step(op="add")),
    "another shape": (step(), step(shape=[1, 2])),
    "another dtype": (step(), step(dtype="float64")),
    "no graph": (step(grad_fn="MulBackward0"), step()),
    "another number": ({**step(op="item"), "results": ["1.0"]}, {**step(op="item"), "results": ["2.0"]}),
}


@pytest.mark.parametrize(("before", "after"), SAME.values(), ids=SAME.keys())
def test_what_a_migration_changes_is_not_in_the_digest(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert compare(recorded(FIRST, before), recorded(FIRST, after)).parting is None


@pytest.mark.parametrize(("before", "after"), OTHER.values(), ids=OTHER.keys())
def test_what_the_program_gets_to_see_is(before: dict[str, Any], after: dict[str, Any]) -> None:
    parting = compare(recorded(FIRST, before), recorded(FIRST, after)).parting
    assert parting is not None
    assert parting.step == 2


def test_one_step_more_shows() -> None:
    assert compare(recorded(FIRST, FIRST), recorded(FIRST, FIRST, FIRST)).parting is not None


def test_threads_are_digested_by_themselves() -> None:
    one, two = step(thread=0, op="add"), step(thread=1, op="mul")
    before = recorded(one, two, one, two, one, two)
    after = recorded(two, two, two, one, one, one)
    assert [event["steps"] for event in before if event["event"] == "cut"] == [2, 2]
    assert compare(before, after).parting is None


def test_what_is_no_step_is_written_and_not_counted() -> None:
    stream = io.StringIO()
    writer = Writer(stream, limit=1)
    for event in ("graph", "silent", "step", "raised"):
        writer.write(event, **STEP)
    writer.close()
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == [
        "graph",
        "silent",
        "step",
        "raised",
    ]


def test_each_test_may_be_as_long() -> None:
    stream = io.StringIO()
    writer = Writer(stream, limit=1)
    for _ in range(2):
        writer.write("step", **STEP)
        writer.close()
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["step", "step"]
