"""`verify --exercise`: ops that no test reaches are called with made-up inputs, before and after migration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from guardfix.cli.verify_command import command
from guardfix.verify.exercising.project_exercise import ExercisedProject, ExerciseSettings, exercise_project
from guardfix.verify.judging.verdicts import Verdict, VerificationFailed
from guardfix.verify.programs.program_migration import Migration

# A write that autograd does not see; a result that is an inference tensor after; a check; another device; no guard.
LIBRARY = """\
import torch

library = torch.library.Library("exercised", "DEF")
library.define("add_to_(Tensor(a!) self, Tensor by) -> Tensor(a!)")
library.define("scaled(Tensor x, float factor=2.0) -> Tensor")
library.define("on_gpu(Tensor x) -> Tensor")
library.define("with_net(__torch__.torch.classes.my.Net net) -> Tensor")

def add_to_(self, by):
    if self.shape != by.shape:
        raise ValueError("self and by differ")
    with {hidden}:
        self.add_(by)
    return self

def scaled(x, factor=2.0):
    if x.dim() != 3:
        raise ValueError("x must be 3-dimensional")
    with {handed_out}:
        return x * factor

def on_gpu(x):
    raise ValueError("x must be a CUDA tensor")

for kernel in (add_to_, scaled, on_gpu):
    library.impl(kernel.__name__, kernel, "CPU")

class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        with {in_backward}:
            return grad * 2

def total(x: torch.Tensor, times: int = 1) -> torch.Tensor:
    return x.sum() * times

def about_text(text: str) -> str:
    return text
"""
KERNEL = "torch._C._AutoDispatchBelowADInplaceOrView()"
BEFORE = LIBRARY.format(hidden=KERNEL, handed_out="torch.no_grad()", in_backward=KERNEL)
AFTER = LIBRARY.format(hidden="torch.no_grad()", handed_out="torch.inference_mode()", in_backward="torch.enable_grad()")


def write_project(folder: Path) -> Migration:
    (folder / "layers.py").write_text(BEFORE)
    return Migration(texts={(folder / "layers.py").resolve(): AFTER.encode()})


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> ExercisedProject:
    folder = tmp_path_factory.mktemp("exercised")
    return exercise_project([str(folder)], write_project(folder), ExerciseSettings(examples=25))


def verdict(result: ExercisedProject, name: str) -> tuple[Verdict, str]:
    [op] = [op for op in result.ops if op.name == name]
    return op.verdict, op.reason


def program(result: ExercisedProject, name: str) -> list[str]:
    [op] = [op for op in result.ops if op.name == name]
    return result.program_of(op).splitlines()


def test_ops_functions_and_autograd_functions_are_found(result: ExercisedProject) -> None:
    assert [op.name for op in result.ops] == [
        "exercised::add_to_",
        "exercised::on_gpu",
        "exercised::scaled",
        "exercised::with_net",
        "layers.Doubled",
        "layers.total",
    ]


def test_a_write_that_was_hidden(result: ExercisedProject) -> None:
    found, reason = verdict(result, "exercised::add_to_")
    assert found is Verdict.REPAIRED
    assert "used a saved tensor" in reason
    shown = program(result, "exercised::add_to_")
    assert shown[:2] == ["import torch", "import layers"]
    assert any(line.startswith("kept = ") for line in shown)
    assert "loss.backward()" in shown
    assert len(shown) <= 12


def test_a_result_that_can_not_be_used_any_more(result: ExercisedProject) -> None:
    found, reason = verdict(result, "exercised::scaled")
    assert found is Verdict.CHANGED
    assert "`requires_grad`: true before, false after" in reason
    assert len(program(result, "exercised::scaled")) <= 6
    [op] = [op for op in result.ops if op.name == "exercised::scaled"]
    assert "inference tensor" in op.differences[Verdict.STRICTER].judgement.reason


def test_a_gradient_that_was_cut_off(result: ExercisedProject) -> None:
    found, _ = verdict(result, "layers.Doubled")
    assert found in (Verdict.REPAIRED, Verdict.CHANGED)
    assert any("create_graph=True" in line for line in program(result, "layers.Doubled"))


def test_what_does_the_same_is_the_same(result: ExercisedProject) -> None:
    found, reason = verdict(result, "layers.total")
    assert found is Verdict.SAME
    assert reason.startswith("the same results and gradients in ")
    assert program(result, "layers.total") == []


def test_what_can_not_be_called_says_why(result: ExercisedProject) -> None:
    assert verdict(result, "exercised::with_net") == (
        Verdict.NOT_REACHED,
        "no inputs can be generated: it takes __torch__.torch.classes.my.Net",
    )
    found, reason = verdict(result, "exercised::on_gpu")
    assert found is Verdict.NOT_REACHED
    assert reason.endswith("the last new error: ValueError: x must be a CUDA tensor")


def test_a_folder_without_ops(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("x = 1\n")
    with pytest.raises(VerificationFailed, match="there is no op to exercise"):
        exercise_project([str(tmp_path)], Migration(), ExerciseSettings())


OPS = """\
#include <torch/extension.h>
at::Tensor& shift_(at::Tensor& self, const at::Tensor& by) {
  TORCH_CHECK(self.dim() == 2, "self must be 2D");
  TORCH_CHECK(self.sizes() == by.sizes());
  at::AutoNonVariableTypeMode guard;
  self.add_(by);
  return self;
}
at::Tensor crash(const at::Tensor& x) { return *static_cast<at::Tensor*>(nullptr) * x; }
at::Tensor half(const at::Tensor& x, int64_t times) {
  at::AutoNonVariableTypeMode guard;  // guardfix: kernel
  return x / (2 * times);
}
TORCH_LIBRARY(exercised_ops, m) {
  m.def("shift_(Tensor(a!) self, Tensor by) -> Tensor(a!)");
  m.def("crash(Tensor x) -> Tensor", &crash);
}
TORCH_LIBRARY_IMPL(exercised_ops, CPU, m) { m.impl("shift_", shift_); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("half", &half); }
"""


@pytest.mark.thorough  # compiles an extension twice
def test_a_library_in_cpp(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "shifting.cpp").write_text(OPS)
    saved = tmp_path / "shown.py"
    options = ["--exercise", str(folder), "--isolated", "--yes", "--save", str(saved), "--output-format", "json"]
    done = CliRunner().invoke(command, options)
    found = json.loads(done.stdout)
    assert {op["name"]: op["verdict"] for op in found["ops"]} == {
        "exercised_ops::crash": "not reached",
        "exercised_ops::shift_": "repaired",
        "shifting.half": "same",
    }
    assert [(guard["verdict"], guard["ops"]) for guard in found["guards"]] == [
        ("repaired", ["exercised_ops::shift_"]),
        ("same", ["shifting.half"]),
    ]
    assert done.exit_code == 0
    assert saved.read_text().startswith("import torch\nfrom torch.utils.cpp_extension import load\n")
