# Long because of its table of programs.
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
            + "from torch.utils.checkpoint import checkpoint\n"
            + "def run(batch):\n    return checkpoint(body, batch, use_reentrant=True)\n"
            + "loss = head(run(x).detach()).sum()\nloss.backward()\nloss = run(x).sum()\nloss.backward()\n"
        },
        "`loss`: `backward` finds no graph",
        ["`use_reentrant=False` at main.py:9"],
        id="not recorded, in a reentrant checkpoint of what requires no gradient",
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
        {
            "main.py": HEAD
            + "class Watch:\n    def __init__(self, t):\n        self.seen = t._version\n\n"
            + "with torch.inference_mode():\n    feats = body(x)\nWatch(feats)\n"
        },
        "`feats` is an inference tensor: it has no `_version`",
        ["`torch.no_grad()` in place of `torch.inference_mode` at main.py:11"],
        id="asked for its version",
    ),
    pytest.param(
        {
            "main.py": HEAD
            + "@torch.no_grad()\ndef row(i):\n    return head.weight[i]\n\ndef fill(i):\n    r = row(i)\n    r.fill_(1)\n\nfill(0)\n"
        },
        "`r`: `fill_` changes it in place",
        ["`with torch.no_grad():` around main.py:13"],
        id="a view that is made under no_grad and written outside",
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
        ["GF403 at main.py:7: call `torch.no_grad()`"],
        id="a guard without brackets",
    ),
]


@pytest.mark.parametrize(("files", "subject", "changes"), FAILING)
@pytest.mark.some(6)
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


def of(*lines: str, error: str) -> str:
    """A traceback with these frames."""
    frames = "".join(f'  File "main.py", line {line}\n' for line in lines)
    return f"Traceback (most recent call last):\n{frames}{error}\n"


IN_FUNCTION = """\
import torch

def act(net, x):
    torch.no_grad()
    return net(x).numpy()

def other(net, x):
    torch.no_grad()
    return net(x)
"""
SCRIPTED = """\
import torch

def clip(x):
    return x.clamp(0, 1)

@torch.jit.script
@torch.no_grad()
def post(x):
    return clip(x)
"""
BLOCK = """\
import torch

def forward(self, x):
    with torch.inference_mode():
        return self.proj(x)
"""
CURED = [
    pytest.param(
        IN_FUNCTION,
        of("5, in act", error="RuntimeError: Can't call numpy() on Tensor that requires grad."),
        [
            "GF402 at main.py:4: put `with torch.no_grad():` around the code that it should cover",
            "compute it under `no_grad` or inference mode",
        ],
        "    return net(x).detach().numpy()\n",
        id="a guard in the function has no effect",
    ),
    pytest.param(
        SCRIPTED,
        of(
            "6, in <module>",
            error='RuntimeError: \nundefined value clip:\n  File "/a/torch/utils/_contextlib.py", line 9',
        ),
        ["put the guard around the call of the scripted function", "`with torch.no_grad():` in the scripted code"],
        "@torch.no_grad()\n@torch.jit.script\n",
        id="a function is scripted without its guard",
    ),
    pytest.param(
        BLOCK,
        of("4, in forward", error="RuntimeError: \nUnknown builtin op: aten::inference_mode."),
        ["put the guard around the call of the scripted function"],
        "    with torch.no_grad():\n",
        id="a guard that TorchScript doesn't know",
    ),
]


@pytest.mark.parametrize(("text", "log", "by_hand", "written"), CURED)
def test_what_else_cures_it(
    text: str, log: str, by_hand: list[str], written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    answer = answer_for(log)
    assert answer is not None
    assert [cure.change for cure in answer.cures if not cure.edits] == by_hand
    assert written in rewrite_of(answer.cures[0]).text.decode()


def test_places_that_raise_the_same_are_named_where_the_text_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HEAD + "with torch.inference_mode():\n    a = body(x)\n    b = body(x)\na += 1\nb += 1\n"
    (tmp_path / "main.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    error = "RuntimeError: Inplace update to inference tensor outside InferenceMode is not allowed."
    assert [
        len(found.cause.elsewhere)
        for found in (answer_for(error), answer_for(of("10, in <module>", error=error)))
        if found
    ] == [1, 0]


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


CPP_CLASS = {
    "model.h": """\
        #pragma once
        #include <torch/torch.h>
        struct Model {
          Model();
          torch::Tensor features(const torch::Tensor& x);
          void step(const torch::Tensor& x);
          void reset();
          torch::nn::Linear body, head;
        };
        """,
    "model.cpp": """\
        #include "model.h"
        Model::Model() : body(3, 3), head(3, 1) {}
        torch::Tensor Model::features(const torch::Tensor& x) {
          c10::InferenceMode guard;
          return torch::relu(body->forward(x));
        }
        void Model::step(const torch::Tensor& x) {
          head->forward(features(x)).sum().backward();
        }
        void Model::reset() {
          head->weight.zero_();
        }
        """,
    "main.cpp": """\
        #include "model.h"
        int main() {
          Model model;
          model.step(torch::ones({2, 3}));
        }
        """,
}


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("Inference tensors cannot be saved for backward. To work around", "model.cpp:8"),
        ("a leaf Variable that requires grad is being used in an in-place operation.", "model.cpp:11"),
    ],
)
def test_members_of_cpp_objects_are_what_the_constructor_makes(
    said: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, CPP_CLASS)
    if "leaf" in said:
        (tmp_path / "main.cpp").write_text('#include "model.h"\nint main() { Model model; model.reset(); }\n')
    monkeypatch.chdir(tmp_path)
    answer = answer_for(f"terminate called after throwing an instance of 'c10::Error'\n  what():  {said}\n")
    assert answer is not None
    assert answer.place is not None
    assert f"{answer.place.path}:{answer.place.row}" == place
    assert answer.cures[0].edits
