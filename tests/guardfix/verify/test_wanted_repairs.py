"""A fix that is meant to change the mode is `repaired` where it does that and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from guardfix.cli.verify_command import command
from guardfix.linter.rule import all_rules
from guardfix.verify.judging.wanted_repairs import WantedRepair, seen_repair

HEAD = "import torch\nw = torch.ones(3, requires_grad=True)\n"
BARE = "torch.no_grad()\ndef f(x):\n    return x * 2\n"


def verified(program: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = CliRunner().invoke(command, [str(program), *arguments, "--output-format", "json", "--isolated", "--yes"])
    assert done.exit_code in (0, 1), done.output
    [entry] = json.loads(done.stdout)
    return done.exit_code, entry


@pytest.mark.parametrize(
    ("text", "verdict", "reason"),
    [
        pytest.param(f"{BARE}y = f(w)\nprint(y)", "repaired", "1 result no longer requires grad", id="a result"),
        pytest.param(
            f"{BARE}y = f(w)\nz = y + 1\nprint(y.requires_grad, z.requires_grad)",
            "repaired",
            "`no_grad` covers 1 step that it didn't cover, which is what GF402 asks for",
            id="and what is made from it",
        ),
        pytest.param(f"{BARE}y = f(w.detach())\nprint(y)", "repaired", "nothing else differs", id="no visible effect"),
        pytest.param(f"{BARE}print(w.sum())", "not reached", "", id="never called"),
        pytest.param(
            f"{BARE}f(w).sum().backward()\nprint(w.grad)", "changed", "requires_grad true before", id="it must train"
        ),
        pytest.param(
            f"{BARE}y = f(w)\nprint(y + 1 if y.requires_grad else y + 2)", "changed", "", id="a branch on the mode"
        ),
        pytest.param(
            "def f(x):\n    with torch.no_grad:\n        return x * 2\n"
            "try:\n    print(f(w))\nexcept (AttributeError, TypeError):\n    print('not a guard')\n",
            "changed",
            "",
            id="an error of Python's that is caught",
        ),
        pytest.param(
            "with torch.no_grad:\n    print(w * 2)\n",
            "repaired",
            "before, \"'type' object does not support the context manager protocol\" ended it; now it runs on, "
            "which is what GF403 asks for",
            id="an error of Python's that ends it",
        ),
        pytest.param(
            "with torch.no_grad:\n    print(w * 2)\nw.add_(1)\n", "changed", "", id="and another one ends it then"
        ),
        pytest.param(
            "@torch.no_grad()\nasync def f(x):\n    return x * 2\nimport asyncio\nprint(asyncio.run(f(w)))",
            "repaired",
            "which is what GF401 asks for",
            id="a coroutine",
        ),
    ],
)
@pytest.mark.some(3)
def test_what_a_fix_is_meant_to_change(text: str, verdict: str, reason: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"{HEAD}{text}\n")
    status, entry = verified(program)
    assert (entry["verdict"], status) == (verdict, 0 if verdict == "repaired" else 1), entry
    assert reason in entry["reason"]
    assert entry["migrated"]


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        pytest.param(
            "with torch.inference_mode():\n    (w * 2).sum().backward()\nprint(w.grad)",
            "(w * 2).sum().backward()\nprint(w.grad)",
            "repaired",
            id="GF502: the error is gone",
        ),
        pytest.param(
            "with torch.inference_mode():\n    y = w * 2\ny.add_(1)\nprint(y)",
            "with torch.inference_mode():\n    y = w * 2\ny = y.clone().add_(1)\nprint(y)",
            "repaired",
            id="GF501: the tensor is cloned",
        ),
        pytest.param(
            "with torch.inference_mode():\n    y = w * 2\ny.add_(1)\nprint(y)",
            "with torch.no_grad():\n    y = w * 2\ny.add_(1)\nprint(y)",
            "repaired",
            id="GF501: another guard",
        ),
        pytest.param(
            "with torch.inference_mode():\n    (w * 2).sum().backward()\nprint(w.grad)",
            "(w * 3).sum().backward()\nprint(w.grad)",
            "changed",
            id="and another number",
        ),
        pytest.param(
            "def f(x):\n    return x * 2\nprint(f(w))",
            "@torch.no_grad()\ndef f(x):\n    return x * 2\nprint(f(w))",
            "changed",
            id="a guard that no finding asks for",
        ),
    ],
)
@pytest.mark.some(2)
def test_what_a_person_has_repaired(before: str, after: str, verdict: str, tmp_path: Path) -> None:
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text(f"{HEAD}{before}\n")
    two.write_text(f"{HEAD}{after}\n")
    status, entry = verified(one, "--against", str(two))
    assert (entry["verdict"], status) == (verdict, 0 if verdict == "repaired" else 1), entry


CPP_HEAD = "#include <torch/torch.h>\n#include <iostream>\n#include <thread>\n"
THREAD = """\
int main() {
  torch::nn::Linear model(3, 2);
  torch::Tensor output;
  {
    %s guard;
    std::thread worker([&] { output = model->forward(torch::ones({1, 3})); });
    worker.join();
  }
  %s
}
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler")
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (THREAD % ("torch::NoGradGuard", "std::cout << output.requires_grad() << std::endl;"), "repaired"),
        (THREAD % ("c10::InferenceMode", "std::cout << (output * 2).sizes() << std::endl;"), "repaired"),
        (THREAD % ("c10::InferenceMode", "(output * model->weight.sum()).sum().backward();"), "stricter"),
        (THREAD % ("torch::NoGradGuard", "output.sum().backward();"), "changed"),
        (
            "int main() {\n  auto w = torch::ones({3}, torch::requires_grad());\n  torch::NoGradGuard();\n"
            "  auto y = w * 2;\n  std::cout << y.requires_grad() << std::endl;\n}\n",
            "repaired",
        ),
    ],
)
def test_what_a_fix_of_cpp_is_meant_to_change(text: str, verdict: str, tmp_path: Path) -> None:
    program = tmp_path / "program.cpp"
    program.write_text(CPP_HEAD + text)
    _, entry = verified(program)
    assert entry["verdict"] == verdict, entry


def step(
    op: str, *, data: str = "a", grad: bool = True, guards: tuple[str, ...] = (), thread: int = 0
) -> dict[str, Any]:
    result = {"shape": [1], "dtype": "float32", "requires_grad": grad, "grad_fn": "N" if grad else None}
    result |= {"inference": False, "view": False, "version": 0, "data": data, "first": ["1"]}
    return {"event": "step", "thread": thread, "op": op, "guards": guards, "results": [result]}


def raised(message: str) -> dict[str, Any]:
    return {"event": "raised", "thread": 0, "op": "mul", "error": "RuntimeError", "message": message}


PLAIN, COVERED = step("mul"), step("mul", grad=False, guards=("no_grad",))
NO_GRAPH = raised("element 0 of tensors does not require grad and does not have a grad_fn")


@pytest.mark.parametrize(
    ("before", "after", "is_repair"),
    [
        ([PLAIN], [COVERED], True),
        ([COVERED], [PLAIN], True),
        ([PLAIN, step("add")], [COVERED, step("add", grad=False)], True),
        ([PLAIN, step("add")], [COVERED, step("add", data="b")], False),
        ([PLAIN, step("add", grad=False)], [COVERED, step("add")], False),
        ([PLAIN], [step("mul", grad=False)], False),
        ([PLAIN], [step("mul", grad=False, guards=("c10::SomeGuard",))], False),
        ([PLAIN], [step("mul", grad=False, data="b", guards=("no_grad",))], False),
        ([PLAIN], [COVERED, step("add")], False),
        ([PLAIN, step("add")], [COVERED], False),
        ([COVERED, NO_GRAPH], [PLAIN, step("add"), step("add")], True),
        ([COVERED, raised("CUDA out of memory")], [PLAIN, step("add")], False),
        ([COVERED, NO_GRAPH], [PLAIN, step("add"), raised("something else")], False),
        ([PLAIN], [NO_GRAPH], False),
        # The threads end in another order: their steps differ in what is recorded only.
        (
            [step("mul", data="a", thread=1), step("mul", data="b", thread=2)],
            [
                step("mul", data="b", grad=False, guards=("no_grad",), thread=1),
                step("mul", data="a", grad=False, guards=("no_grad",), thread=2),
            ],
            True,
        ),
        ([PLAIN], [PLAIN], False),
    ],
)
def test_a_repair_is_all_that_differs(before: list[Any], after: list[Any], is_repair: bool) -> None:
    assert (seen_repair(before, after, [WantedRepair("GF207", "NoGradGuard")]) is not None) == is_repair
    assert seen_repair(before, after, []) is None


def test_rules_that_keep_results() -> None:
    """Those about names, arguments and guards that are there twice; every other rule's fix changes a mode."""
    keeping = {rule.code for rule in all_rules() if rule.keeps_results}
    assert keeping == {
        *("GF001", "GF002", "GF101", "GF102", "GF103", "GF104", "GF105", "GF301", "GF302", "GF303", "GF407", "GF505")
    }
