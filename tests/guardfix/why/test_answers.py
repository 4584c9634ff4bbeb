"""Programs that fail: each is run on the shim, asked about by its output, changed as the first cure says, and run again."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

import pytest

from guardfix.module_command import module_command
from guardfix.why.answers import ErrorAnswer, answer_for, rewrite_of, subject_of

HEAD = """\
import torch
from torch import nn

head = nn.Linear(3, 1)
body = nn.Linear(3, 3)
x = torch.ones(2, 3)
"""


def run(folder: Path) -> tuple[int, str]:
    command = [*module_command("guardfix"), "run", "main.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stderr


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text))


def story(answer: ErrorAnswer) -> list[str]:
    event = answer.cause.event
    assert event is not None
    files = answer.cause.files
    return [f"{step.path}:{files[step.path].row(step.span.start)} {step.message}" for step in event.steps]


FAILING = [
    pytest.param(
        {
            "main.py": HEAD
            + "with torch.inference_mode():\n    feats = body(x)\nloss = head(feats).sum()\nloss.backward()\n"
        },
        "`feats` is an inference tensor: `Linear` must save it for backward",
        [
            "`torch.no_grad()` in place of `torch.inference_mode` at main.py:7",
            "`feats = feats.clone()` above main.py:9",
        ],
        id="saved, at the top of a script",
    ),
    pytest.param(
        {
            "encoding.py": """\
                import torch

                body = torch.nn.Linear(3, 3)

                @torch.inference_mode()
                def encode(x):
                    return body(x)
                """,
            "main.py": HEAD
            + textwrap.dedent("""\
                from encoding import encode

                class Trainer:
                    def __init__(self):
                        self.cache = {}

                    def features(self, i):
                        if i not in self.cache:
                            self.cache[i] = encode(x)
                        return self.cache[i]

                    def step(self, i):
                        head(self.features(i)).sum().backward()

                def main():
                    trainer = Trainer()
                    for i in range(2):
                        trainer.step(i)

                main()
                """),
        },
        "is an inference tensor: `Linear` must save it for backward",
        ["`torch.no_grad()` in place of `torch.inference_mode` at encoding.py:5"],
        id="saved, by way of another file and a cache",
    ),
    pytest.param(
        {"main.py": HEAD + "with torch.inference_mode():\n    total = torch.zeros(3)\ntotal += 1\n"},
        "`total` is an inference tensor: `+=` changes it in place",
        [
            "`torch.no_grad()` in place of `torch.inference_mode` at main.py:7",
            "`total = total.clone()` above main.py:9",
        ],
        id="written",
    ),
    pytest.param(
        {"main.py": HEAD + "with torch.inference_mode():\n    start = body(x)\nstart.requires_grad_()\n"},
        "`start` is an inference tensor: `requires_grad_` makes it require grad",
        [
            "`torch.no_grad()` in place of `torch.inference_mode` at main.py:7",
            "`start = start.clone()` above main.py:9",
        ],
        id="made to require gradients",
    ),
    pytest.param(
        {"main.py": HEAD + "with torch.no_grad():\n    loss = head(x).sum()\n    loss.backward()\n"},
        "`loss`: `backward` finds no graph",
        ["`torch.enable_grad()` in place of `torch.no_grad` at main.py:7, so that the block records"],
        id="not recorded, in a block",
    ),
    pytest.param(
        {
            "main.py": HEAD
            + "@torch.no_grad()\ndef score():\n    return head(x).sum()\n\nloss = score()\nprint(loss)\nloss.backward()\n"
        },
        "`loss`: `backward` finds no graph",
        ["`torch.enable_grad()` in place of `torch.no_grad` at main.py:7, so that the block records"],
        id="not recorded, in a function whose result is differentiated elsewhere",
    ),
    pytest.param(
        {
            "main.py": HEAD
            + textwrap.dedent("""\
                def attack(x):
                    x = x.clone().requires_grad_()
                    head(x).sum().backward()
                    return x.grad

                @torch.no_grad()
                def evaluate(x):
                    return attack(x)

                evaluate(x)
                """)
        },
        "what is differentiated has no graph: `backward` raises",
        [
            "`@torch.enable_grad()` above `attack` at main.py:7",
            "`torch.enable_grad()` in place of `torch.no_grad` at main.py:12, so that the block records",
        ],
        id="not recorded, since the caller has the guard",
    ),
    pytest.param(
        {
            "main.py": HEAD
            + textwrap.dedent("""\
                class Square(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        ctx.save_for_backward(x)
                        return x**2

                    @staticmethod
                    def backward(ctx, g):
                        x = ctx.saved_tensors[0].detach().requires_grad_()
                        return torch.autograd.grad(x**2, x, g)[0]

                Square.apply(head.weight).sum().backward()
                """)
        },
        "line 16 of main.py is in `backward` of an autograd Function, which PyTorch calls without recording",
        ["`@torch.enable_grad()` above `backward` at main.py:14"],
        id="not recorded, in backward",
    ),
    pytest.param(
        {"main.py": HEAD + "def scale(m):\n    m.weight *= 2\n\nscale(head)\n"},
        "",
        ["`with torch.no_grad():` around main.py:8"],
        id="a parameter that is written",
    ),
    pytest.param(
        {"main.py": HEAD + "print(head(x).numpy())\n"},
        "",
        ["`.detach()` before `.numpy()` at main.py:7"],
        id="given to numpy",
    ),
    pytest.param(
        {"main.py": HEAD + "with torch.no_grad:\n    print(head(x).sum())\n"},
        "",
        ["add `()`, which makes the guard at main.py:7"],
        id="a guard without brackets",
    ),
]


@pytest.mark.parametrize(("files", "subject", "changes"), FAILING)
@pytest.mark.some(3)
def test_the_first_change_cures_the_error(
    files: dict[str, str], subject: str, changes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    status, shown = run(tmp_path)
    assert status == 1
    answer = answer_for(shown)
    assert answer is not None
    assert subject in subject_of(answer)
    assert [cure.change for cure in answer.cures if cure.edits] == changes
    for cure in answer.cures:
        if cure.edits:
            (tmp_path / cure.path).write_bytes(rewrite_of(cure).text)
            assert run(tmp_path)[0] == 0
            write(tmp_path, files)


def test_the_way_of_the_tensor_is_told_through_calls_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = FAILING[1].values[0]
    assert isinstance(files, dict)
    write(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    answer = answer_for(run(tmp_path)[1])
    assert answer is not None
    assert [line.partition("`")[0] + line.partition("`")[2] for line in story(answer)] == [
        "encoding.py:5 inference mode begins",
        "main.py:26 calls main`",
        "main.py:24 calls step`",
        "main.py:19 calls features`",
        "main.py:15 calls encode`",
        "encoding.py:7 Linear` makes an inference tensor",
        "main.py:19 Linear` must save `self.cache` for the gradient of its operand",
    ]


SAVED = "RuntimeError: Inference tensors cannot be saved for backward. To work around you can make a clone"


def test_files_are_found_when_the_program_ran_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src" / "app").mkdir(parents=True)
    (tmp_path / "src" / "other").mkdir()
    text = HEAD + "with torch.inference_mode():\n    feats = body(x)\nhead(feats).sum().backward()\n"
    (tmp_path / "src" / "app" / "train.py").write_text(text)
    (tmp_path / "src" / "other" / "train.py").write_text("print(1)\n")
    monkeypatch.chdir(tmp_path)
    log = (
        f'Traceback (most recent call last):\n  File "/srv/job/app/train.py", line 9, in <module>\n    head\n{SAVED}\n'
    )
    answer = answer_for(log, ["src"])
    assert answer is not None
    assert answer.cause.event is not None
    assert (answer.place is not None and answer.place.path) == "src/app/train.py"


def test_a_message_without_source_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer = answer_for(f'Traceback (most recent call last):\n  File "/srv/train.py", line 9, in <module>\n{SAVED}\n')
    assert answer is not None
    assert answer.message.key == "inference-tensor-saved"
    assert (answer.cause.event, answer.cause.guards, subject_of(answer)) == (None, (), "")
    assert answer.cures
    assert not any(cure.edits for cure in answer.cures)


def test_another_error_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert answer_for("ValueError: bad input") is None


OTHER_PLACES = [
    # The event that the source shows isn't at the frame, nor in its function.
    (HEAD + "def ok():\n    with torch.inference_mode():\n        y = body(x)\n    return head(y)\n\n\ndef bad(t):\n"
     "    return head(t)\n", 14),
]  # fmt: skip


@pytest.mark.parametrize(("text", "row"), OTHER_PLACES)
def test_an_event_elsewhere_is_not_the_error(
    text: str, row: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    log = f'Traceback (most recent call last):\n  File "main.py", line {row}, in bad\n    return head(t)\n{SAVED}\n'
    answer = answer_for(log)
    assert answer is not None
    assert answer.cause.event is None
    assert "the nearest place where inference mode begins is main.py:8" in subject_of(answer)


CPP = """\
#include <torch/torch.h>
namespace app {
torch::Tensor encode(torch::nn::Linear& net, const torch::Tensor& x) {
  c10::InferenceMode guard;
  return net->forward(x);
}
torch::Tensor loss_of(torch::nn::Linear& net, torch::nn::Linear& head, const torch::Tensor& x) {
  auto feats = encode(net, x);
  return (feats * head->weight).sum();
}
}  // namespace app
int main() {
  torch::nn::Linear net(3, 3), head(3, 3);
  app::loss_of(net, head, torch::ones({3})).backward();
}
"""
CPP_LOG = """\
terminate called after throwing an instance of 'c10::Error'
  what():  Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal tensor
Exception raised from set_saved_variable at ../torch/csrc/autograd/saved_variable.cpp:23 (most recent call first):
frame #2: at::_ops::mul_Tensor::call(at::Tensor const&, at::Tensor const&) + 0x13e (0x7f3 in libtorch_cpu.so)
frame #3: app::loss_of(torch::nn::Linear&, torch::nn::Linear&, at::Tensor const&) + 0x2d (0x55 in ./train)
frame #4: main + 0x1c (0x55 in ./train)
"""


@pytest.mark.parametrize(
    "log", [CPP_LOG, CPP_LOG.split("Exception raised")[0]], ids=["with a backtrace", "what() alone"]
)
def test_a_cpp_error_is_followed(log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.cpp").write_text(CPP)
    monkeypatch.chdir(tmp_path)
    answer = answer_for(log)
    assert answer is not None
    assert subject_of(answer) == "`feats` is an inference tensor: `*` must save it for backward"
    changes = [cure.change for cure in answer.cures if cure.edits]
    assert changes == [
        "`NoGradGuard` in place of `c10::InferenceMode` at train.cpp:4",
        "`feats = feats.clone();` above train.cpp:9",
    ]
    first = rewrite_of(answer.cures[0]).text.decode()
    assert "  c10::NoGradGuard guard;\n" in first
