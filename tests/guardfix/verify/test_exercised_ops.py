"""What is said of one op when its small programs end, or the time limit ends them."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from guardfix.runtime_shim.cpp.own_headers import INCLUDE
from guardfix.runtime_shim.recording.guard_table import GuardCount
from guardfix.verify.exercising.library_server import FILLS, READS_OUTSIDE, LibraryServer, OpRun
from guardfix.verify.exercising.op_exercises import exercise_op
from guardfix.verify.exercising.op_signatures import ArgumentType, CallableOp, OpArgument
from guardfix.verify.exercising.project_exercise import ExerciseSettings, exercise_project
from guardfix.verify.judging.guard_sites import GuardSite, SourcePlace
from guardfix.verify.judging.verdicts import Verdict
from guardfix.verify.programs.program_migration import Migration
from guardfix.verify.runs.program_runs import ProgramRun

OP = CallableOp("my::op", "torch.ops.my.op", "my::op(Tensor x)", (OpArgument("x", ArgumentType("Tensor")),))


class Server:
    """Runs nothing: the answer is the same each time. Programs that look for inputs all end."""

    def __init__(self, run: ProgramRun) -> None:
        self.answer, self.searching = run, True

    def run(self, text: str, call: str, fill: int = FILLS[0]) -> OpRun:
        looks_for_inputs = "print" not in text
        run = ProgramRun(0, "", "", []) if looks_for_inputs else self.answer
        return OpRun(run, None, {1: GuardCount(1, 1)})


class Other(Server):
    """A library that does something of its own: with other memory around its tensors, or with each call."""

    def __init__(self, *, output: str = "{fill}", overran: bool = False, status: int = 0, guard: int = 1) -> None:
        self.output, self.overran, self.status, self.guard, self.calls = output, overran, status, guard, 0

    def run(self, text: str, call: str, fill: int = FILLS[0]) -> OpRun:
        self.calls += 1
        if "print" not in text:
            return OpRun(ProgramRun(0, "", "", []), None, {self.guard: GuardCount(1, 1)})
        output = self.output.format(fill=fill, calls=self.calls)
        return OpRun(ProgramRun(self.status, output, "", []), None, {self.guard: GuardCount(1, 1)}, self.overran)


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


STEADY = Server(ENDS)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        pytest.param(Other(), STEADY, Verdict.SAME, id="the original reads outside"),
        pytest.param(Other(output="{calls}"), STEADY, Verdict.SAME, id="the original varies"),
        pytest.param(Other(output="5", overran=True), STEADY, Verdict.SAME, id="the original writes outside"),
        pytest.param(Other(output="", status=-11), STEADY, Verdict.SAME, id="the original crashes"),
        pytest.param(Other(output="5", guard=2), Other(output="6", guard=2), Verdict.SAME, id="no migrated guard"),
        pytest.param(Other(output="5"), Other(output="6"), Verdict.CHANGED, id="both are steady"),
        pytest.param(Other(output="5"), Other(output="", status=-11), Verdict.CHANGED, id="a crash that repeats"),
        pytest.param(Other(output="0"), Other(), Verdict.SAME, id="the same in the first place"),
    ],
)
def test_only_what_repeats_is_a_difference(before: Server, after: Server, verdict: Verdict) -> None:
    done = exercise_op(OP, [cast(LibraryServer, server) for server in (before, after)], frozenset({1}), 5)
    assert done.verdict is verdict, done.reason
    assert (done.worst is None) == (verdict is Verdict.SAME)


def test_an_input_that_makes_the_op_read_outside_is_not_accepted() -> None:
    class Reads(Server):
        def run(self, text: str, call: str, fill: int = FILLS[0]) -> OpRun:
            return OpRun(ProgramRun(0, str(fill), "", []), None, {1: GuardCount(1, 1)})

    servers = [cast(LibraryServer, Reads(ENDS)) for _ in range(2)]
    done = exercise_op(OP, servers, frozenset({1}), 5)
    assert done.verdict is Verdict.NOT_REACHED
    assert done.reason.endswith(READS_OUTSIDE)


# Neither function checks the sizes of its second argument.
UNCHECKED = """\
#include <torch/extension.h>
at::Tensor sums(const at::Tensor& x, const at::Tensor& weights) {
  at::AutoNonVariableTypeMode guard;
  auto y = at::zeros_like(x);
  const float* from = weights.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) y.data_ptr<float>()[i] = x.data_ptr<float>()[i] + from[i * 3];
  return y;
}
at::Tensor fills(at::Tensor x, const at::Tensor& like) {
  at::AutoNonVariableTypeMode guard;
  for (int64_t i = 0; i < like.numel(); ++i) x.data_ptr<float>()[i] = 2;
  return x.clone();
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("sums", &sums);
  m.def("fills", &fills);
}
"""


@pytest.mark.thorough  # compiles an extension twice
def test_kernels_that_check_nothing(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "unchecked.cpp"
    path.write_text(UNCHECKED)
    changed = UNCHECKED.replace("at::AutoNonVariableTypeMode", "at::AutoDispatchBelowADInplaceOrView")
    site = GuardSite(1, SourcePlace(str(path), 3, 3, "GF101"), "AutoNonVariableTypeMode", changed=True)
    counter = "::guardfix::Entered guardfix_entered_1(1); "
    header = f'#include "{INCLUDE / "guardfix" / "guard_counter.h"}"\n#line 1\n'
    texts = [(header + text.replace("  at::Auto", f"  {counter}at::Auto")).encode() for text in (UNCHECKED, changed)]
    migration = Migration({path: changed.encode()}, {path: (texts[0], texts[1])}, (site,))
    result = exercise_project([str(path)], migration, ExerciseSettings(examples=60))
    assert [(op.name, op.verdict) for op in result.ops] == [
        ("unchecked.fills", Verdict.SAME),
        ("unchecked.sums", Verdict.SAME),
    ], [op.reason for op in result.ops]
