"""What is said of one op when its small programs end, or the time limit ends them."""

from __future__ import annotations

from typing import cast

import pytest

from guardfix.runtime_shim.recording.guard_table import GuardCount
from guardfix.verify.library_server import LibraryServer, OpRun
from guardfix.verify.op_exercises import exercise_op
from guardfix.verify.op_signatures import ArgumentType, CallableOp, OpArgument
from guardfix.verify.program_runs import ProgramRun
from guardfix.verify.verdicts import Verdict

OP = CallableOp("my::op", "torch.ops.my.op", "my::op(Tensor x)", (OpArgument("x", ArgumentType("Tensor")),))


class Server:
    """Runs nothing: the answer is the same each time. Programs that look for inputs all end."""

    def __init__(self, run: ProgramRun) -> None:
        self.answer, self.searching = run, True

    def run(self, text: str, call: str) -> OpRun:
        looks_for_inputs = "print" not in text
        run = ProgramRun(0, "", "", []) if looks_for_inputs else self.answer
        return OpRun(run, None, {1: GuardCount(1, 1)})


ENDS = ProgramRun(0, "3.0\n", "", [])
ENDS_OTHERWISE = ProgramRun(0, "4.0\n", "", [])
CUT_OFF = ProgramRun(None, "", "it took too long", [], timed_out=True)
STOPPED = "it was stopped after 10 s, the limit for one call"


@pytest.mark.parametrize(
    ("before", "after", "verdict", "reason"),
    [
        (ENDS, ENDS, Verdict.SAME, "the same results and gradients in "),
        (ENDS, ENDS_OTHERWISE, Verdict.CHANGED, "the output differs"),
        (CUT_OFF, ENDS, Verdict.UNSUPPORTED, f"only the original program did not finish: {STOPPED}"),
        (
            CUT_OFF,
            CUT_OFF,
            Verdict.UNSUPPORTED,
            f"the program did not finish, before the migration and after it: {STOPPED}",
        ),
        (ENDS, CUT_OFF, Verdict.CHANGED, f"only the migrated program did not finish: {STOPPED}"),
    ],
    ids=["both end", "they end otherwise", "before is cut off", "both are cut off", "after is cut off"],
)
def test_the_verdict_of_an_op(before: ProgramRun, after: ProgramRun, verdict: Verdict, reason: str) -> None:
    servers = [cast(LibraryServer, Server(run)) for run in (before, after)]
    done = exercise_op(OP, servers, frozenset({1}), 5)
    assert done.verdict is verdict
    assert done.reason.startswith(reason)
