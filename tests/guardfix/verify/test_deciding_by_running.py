"""`--decide`: what each replacement of an undecided guard does, and what is kept of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from guardfix.cli.check_command import command as check
from guardfix.cli.verify_command import command as verify
from guardfix.verify.deciding_by_running import project_sources

# The context is hidden behind a pointer. Recorded, `y` would have a history; as an inference tensor it could not be
# changed outside the guard.
UNDECIDED = """\
#include <torch/torch.h>
#include <iostream>
using Step = at::Tensor (*)(const at::Tensor&);
at::Tensor step(const at::Tensor& x) {
  at::AutoNonVariableTypeMode guard;
  return x * 2;
}
static Step chosen = &step;
int main() {
  auto w = torch::ones({2}, torch::requires_grad());
  auto y = chosen(w);
  std::cout << y.requires_grad() << std::endl;
  y.add_(1);
}
"""


@pytest.fixture
def program(tmp_path: Path, cache: Path) -> Path:
    path = tmp_path / "program.cpp"
    path.write_text(UNDECIDED)
    return path


def decision(path: Path) -> dict[str, object]:
    done = CliRunner().invoke(check, [str(path), "--select", "GF101", "--isolated", "--output-format", "json"])
    [finding] = json.loads(done.stdout)
    found: dict[str, object] = finding["decision"]
    return found


@pytest.mark.thorough
def test_what_one_replacement_survives_becomes_evidence(program: Path) -> None:
    assert decision(program)["context"] == "unknown"
    done = CliRunner().invoke(verify, ["--decide", str(program), "--isolated"])
    lines = done.stdout.splitlines()
    assert done.exit_code == 0, done.output
    assert lines[0] == f"{program}:5: AutoNonVariableTypeMode, undecided"
    assert lines[1].startswith(f"  With c10::InferenceMode, {program} is stricter: ")
    assert lines[2].startswith(f"  With at::AutoDispatchBelowADInplaceOrView, {program} is same: ")
    assert lines[3].startswith(f"  Removed, {program} is changed: ")
    assert lines[4].startswith("  Only at::AutoDispatchBelowADInplaceOrView survives.")
    assert done.stderr == "1 of 1 undecided guards decided by running.\n"

    found = decision(program)
    assert (found["context"], found["confidence"]) == ("kernel", "low")
    [evidence] = found["evidence"]  # type: ignore[misc]
    assert evidence["message"] == (
        f"for kernel: by running {program}; c10::InferenceMode: {program} is stricter; removed: {program} is changed: no "
        "other replacement left it as it should be"
    )

    program.write_text(UNDECIDED.replace("x * 2", "x * 3"))
    assert decision(program)["context"] == "unknown", "what was run is not what stands there now"


@pytest.mark.thorough
def test_what_was_tried_goes_before_what_the_callers_suggest(program: Path) -> None:
    """`step` is called by `main`, which speaks for inference; as an inference tensor `y` could not be changed."""
    program.write_text(UNDECIDED.replace("chosen(w)", "step(w)"))
    before = decision(program)
    done = CliRunner().invoke(verify, ["--decide", str(program), "--isolated"])
    assert done.exit_code == 0, done.output
    found = decision(program)
    assert (before["context"], found["context"], found["confidence"]) == ("unknown", "kernel", "low")
    assert len(found["evidence"]) == 2  # type: ignore[arg-type]


@pytest.mark.thorough
def test_several_survivors_decide_nothing(program: Path) -> None:
    program.write_text(UNDECIDED.replace("chosen(w)", "chosen(w.detach())"))
    done = CliRunner().invoke(verify, ["--decide", str(program), "--isolated", "--output-format", "json"])
    [tried] = json.loads(done.stdout)
    assert (done.exit_code, tried["survivor"]) == (1, None)
    assert {trial["replacement"]: trial["survives"] for trial in tried["trials"]} == {
        "c10::InferenceMode": False,
        "at::AutoDispatchBelowADInplaceOrView": True,
        "removed": True,
    }
    assert decision(program)["context"] == "unknown"


@pytest.mark.thorough
def test_a_guard_that_no_program_enters_stays_undecided(program: Path) -> None:
    program.write_text(UNDECIDED.replace("auto y = chosen(w);", "auto y = w * 2;").replace("  y.add_(1);\n", ""))
    done = CliRunner().invoke(verify, ["--decide", str(program), "--isolated"])
    assert done.exit_code == 1
    assert (
        done.stdout.splitlines()[1]
        == "  Nothing that was run enters it. Try `--test` or `--exercise`, or declare in a comment what it is for."
    )


def test_a_guard_that_no_program_compiles_stays_undecided(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "part.cpp").write_text(UNDECIDED.partition("static")[0])
    (tmp_path / "program.cpp").write_text("#include <torch/torch.h>\nint main() { torch::NoGradGuard guard; }\n")
    done = CliRunner().invoke(verify, ["--decide", str(tmp_path), "--isolated"])
    assert (done.exit_code, done.stderr) == (1, "0 of 1 undecided guards decided by running.\n")
    assert (
        done.stdout.splitlines()[1]
        == "  Nothing that was run enters it. Try `--test` or `--exercise`, or declare in a comment what it is for."
    )


BOUND = UNDECIDED.partition("int main")[0].replace("torch/torch.h", "torch/extension.h") + (
    "at::Tensor run(const at::Tensor& x) { return chosen(x); }\n"
    'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }\n'
)


@pytest.mark.thorough  # compiles an extension for each replacement
def test_ops_are_witnesses(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "bound.cpp"
    path.write_text(BOUND)
    options = ["--decide", "--exercise", "--examples", "40", str(path), "--isolated", "--yes"]
    done = CliRunner().invoke(verify, options)
    lines = done.stdout.splitlines()
    assert lines[0] == f"{path}:5: AutoNonVariableTypeMode, undecided"
    assert re.match(r"  With c10::InferenceMode, bound\.run \(.*\) is stricter: ", lines[1])
    assert lines[2].startswith("  With at::AutoDispatchBelowADInplaceOrView, bound.run is same: ")
    assert re.match(r"  Removed, bound\.run (?:\(.*\) )?is changed: ", lines[3])
    assert done.exit_code == 0
    assert decision(path)["context"] == "kernel"


def test_what_tests_may_depend_on(tmp_path: Path) -> None:
    for name in ("src/a.cpp", "src/a.h", "tests/test_a.py", "data.bin", ".git/b.py", "README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    expected = {str(tmp_path.resolve() / name) for name in ("src/a.cpp", "src/a.h", "tests/test_a.py")}
    assert project_sources(tmp_path) == expected
