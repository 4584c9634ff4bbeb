"""`guardfix explain` and `guardfix why`: what people have in their hands, and what they are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from guardfix.cli.main import cli

SAVED = "RuntimeError: Inference tensors cannot be saved for backward. To work around you can make a clone"


def guardfix(*arguments: str, given: str | None = None) -> str:
    outcome = CliRunner().invoke(cli, arguments, input=given)
    return outcome.output + (str(getattr(outcome.exception, "message", "")) if outcome.exception is not None else "")


EXPLAINED = [
    pytest.param(["GF501"], "GF501 inference-escape: ", id="a code"),
    pytest.param(["temporary-guard"], "GF201 temporary-guard: ", id="a name"),
    pytest.param(["temporary"], "GF201 temporary-guard: ", id="a part of one name"),
    pytest.param(["escape"], "GF501  inference-escape: a tensor", id="a part of several"),
    pytest.param(["GF50"], "GF502  inference-backward: ", id="the beginning of codes"),
    pytest.param(["GF505"], "Warning, group `raises`, always a safe fix, on by default, since 0.1.0.", id="in short"),
    pytest.param(["leaks"], "  GF205  heap-guard: a guard on the heap", id="a group"),
    pytest.param(["torch.no_grad"], "torch.no_grad: Python, grad mode\n", id="a guard of Python"),
    pytest.param(["no_grad()"], "torch.no_grad: Python, grad mode\n", id="a guard as it is called"),
    pytest.param(["at::NoGradGuard"], "c10::NoGradGuard: C++, grad mode\n", id="a guard by another namespace"),
    pytest.param(["autononvariabletypemode"], "GF101  legacy-guard: ", id="a guard in any case"),
    pytest.param([SAVED], "What cures it:\n  1. use `no_grad`", id="a message"),
    pytest.param(SAVED.split(), "What cures it:\n  1. use `no_grad`", id="a message without quotes"),
    pytest.param(["cannot be saved for backward"], "Rules about it:\n", id="a part of a message"),
    pytest.param(["does not require grad"], "Several messages have these words:\n", id="a part of several messages"),
    pytest.param(["inference tensor backward saved"], "The closest message:\n", id="some of its words"),
    pytest.param(["grad is None"], "errors.md#gradient-is-none", id="a symptom"),
    pytest.param(["some other words"], "no message of PyTorch that guardfix knows has these words", id="nothing"),
]


@pytest.mark.parametrize(("arguments", "part"), EXPLAINED)
def test_explain(arguments: list[str], part: str) -> None:
    assert part in guardfix("explain", *arguments)


PROGRAM = """\
import torch

body = torch.nn.Linear(3, 3)
head = torch.nn.Linear(3, 1)


def loss_of(x):
    with torch.inference_mode():
        feats = body(x)
    return head(feats).sum()


loss_of(torch.ones(2, 3)).backward()
"""
LOG = f"""\
Traceback (most recent call last):
  File "train.py", line 13, in <module>
    loss_of(torch.ones(2, 3)).backward()
  File "train.py", line 10, in loss_of
    return head(feats).sum()
{SAVED}
"""
ANSWER = """\
train.py:10: RuntimeError: Inference tensors cannot be saved for backward
    10 |     return head(feats).sum()

`feats` is an inference tensor: `Linear` must save it for backward.
  1. inference mode begins (train.py:8)
  2. calls `loss_of` (train.py:13)
  3. `Linear` makes an inference tensor (train.py:9)
  4. `Linear` must save `feats` for the gradient of its operand (train.py:10)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "log.txt").write_text(LOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        pytest.param(["why", "log.txt"], None, id="a file"),
        pytest.param(["why", "-"], LOG, id="standard input"),
        pytest.param(["why"], LOG, id="a pipe"),
        pytest.param(["why", LOG], None, id="pasted"),
        pytest.param(["explain", "-"], LOG, id="explain, piped"),
        pytest.param(["explain", LOG], None, id="explain, pasted"),
        pytest.param(["explain", "--traceback", "log.txt"], None, id="explain --traceback"),
    ],
)
def test_why_answers_however_it_is_given(arguments: list[str], given: str | None, folder: Path) -> None:
    assert ANSWER in guardfix(*arguments, given=given)


def test_a_change_is_made(folder: Path) -> None:
    shown = guardfix("why", "log.txt")
    assert "To make a change: guardfix why log.txt --apply 1\n" in shown
    assert "-     with torch.inference_mode():\n       +     with torch.no_grad():\n" in shown
    assert guardfix("why", "log.txt", "--apply", "2").endswith("Changed train.py.\n")
    assert (folder / "train.py").read_text() == PROGRAM.replace("    return", "    feats = feats.clone()\n    return")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        pytest.param(["why", "log.txt", "--apply", "3"], "change 3 is to be made by hand", id="by hand"),
        pytest.param(["why", "log.txt", "--apply", "9"], "there are only 3 changes", id="too many"),
        pytest.param(["why", "KeyError: 'x'"], "there is no message of PyTorch about guards", id="another error"),
        pytest.param(["explain", "--traceback", "none.txt"], "no such file: none.txt", id="no file"),
        pytest.param(["why", "logs/none.txt"], "no such file: logs/none.txt", id="no such log"),
        pytest.param(["why"], "standard input is empty: pipe", id="nothing"),
        pytest.param(["explain"], "standard input is empty: pipe", id="nothing to explain"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: list[str], part: str, folder: Path) -> None:
    assert part in guardfix(*arguments)
    assert (folder / "train.py").read_text() == PROGRAM


def test_without_source_it_explains_the_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = guardfix("why", given=LOG)
    assert "The source isn't here: name its folder with `--source`" in shown
    assert "What cures it:\n  1. use `no_grad`" in shown


OPEN = "void {0}(at::Tensor t) {{\n  at::AutoNonVariableTypeMode guard(true);\n  t.add_(1);\n}}\n"


def test_the_way_out_of_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.cpp").write_text(OPEN.format("f") + OPEN.format("g"))
    shown = guardfix("check", "--isolated", "a.cpp")
    assert (
        "= help: say what it is for in a comment, such as `// guardfix: kernel`; or decide with `guardfix migrate"
        in shown
    )
    assert shown.endswith("2 need your decision: `guardfix migrate --interactive`.\n")
    (tmp_path / "idle.py").write_text("import torch\n\ntorch.no_grad()\n")
    shown = guardfix("check", "--isolated", "a.cpp", "idle.py")
    assert shown.endswith("3 need your decision: `guardfix migrate --interactive`, `guardfix explain GF402`.\n")
    escapes = "with torch.inference_mode():\n    w = torch.ones(2)\n(torch.ones(2, requires_grad=True) * w).sum()\n"
    (tmp_path / "escape.py").write_text(f"import torch\n\n{escapes}")
    shown = guardfix("check", "--isolated", "idle.py", "escape.py")
    assert shown.endswith("2 need your decision: `guardfix explain GF402 GF501`.\n")
    pages = guardfix("explain", "GF402", "gf501")
    assert [line.split()[0] for line in pages.splitlines() if line.startswith("GF")] == ["GF402", "GF501"]
    told = guardfix("migrate", "--isolated", ".")
    assert told.count("GF101 no fix") == 1
    assert "(also a.cpp:6:3, b.cpp:2:3, b.cpp:6:3 and 2 more)" in told
    assert told.endswith("6 need your decision: `guardfix migrate --interactive`.\n")


def test_why_nothing_was_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("# x\n")
    (tmp_path / "notes.txt").write_text("x\n")
    why = "No C++ or Python files to check: "
    assert guardfix("check", "README.md").startswith(f"{why}the C++ in the code blocks of README.md is checked with")
    assert guardfix("check", "notes.txt") == f"{why}notes.txt is in neither language, by its name.\n"


ADVICE = [
    pytest.param(
        "for (auto& batch : batches) {\n  buffer.copy_(batch);\n}", "keep the buffer", id="a buffer in a loop"
    ),
    pytest.param(
        "for (auto& batch : batches) {\n  buffer = next(batch);\n  buffer.copy_(batch);\n}", "", id="no buffer"
    ),
    pytest.param("buffer.copy_(batches[0]);", "make it an ordinary tensor first", id="once"),
]


@pytest.mark.parametrize(("code", "advice"), ADVICE)
def test_a_buffer_that_a_loop_fills_is_written_under_the_mode(code: str, advice: str, tmp_path: Path) -> None:
    begin = "torch::Tensor buffer;\n{\n  c10::InferenceMode guard;\n  buffer = torch::zeros({3});\n}\n"
    path = tmp_path / "a.cpp"
    path.write_text(f"#include <torch/torch.h>\nvoid f(std::vector<torch::Tensor>& batches) {{\n{begin}{code}\n}}\n")
    shown = guardfix("check", "--isolated", str(path))
    assert advice in shown if advice else "suggestion" not in shown


def test_work_that_is_awaited_from_another_thread_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "import asyncio, torch\nasync def f(model, x):\n    with torch.no_grad():\n"
        "        y = await asyncio.to_thread(model, x)\n        await asyncio.sleep(1)\n    return y\n"
    )
    shown = guardfix("check", "--isolated", "--select", "GF406", str(path))
    assert "; what `to_thread` is given runs in another thread, which the guard doesn't reach" in shown
