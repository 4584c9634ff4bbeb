"""The programs of the specification, each with what PyTorch 2.13 printed, message for message.

In a program `torch` is the module under test; `p(...)` records a line; `E(f)` is f's value, or
`!Type: message` when it raises; `F(t)` shows a tensor's flags.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAMS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "specification.json").read_text(encoding="utf-8")
)

# Each program runs in a process of its own: it may leave guards in force. One interpreter forks them all.
RUNNER = """
import importlib, json, os, re, sys, warnings
warnings.simplefilter("ignore")
torch = importlib.import_module(sys.argv[1])
sys.modules["torch"] = torch
# What most programs need is imported once, and not by each fork.
torch.nn.Linear, torch.autograd.Function, torch.library.define, torch.utils.checkpoint, torch.nn.functional.conv2d
hasattr(torch, "conv2d")

def attempt(f, show):
    try:
        return f()
    except Exception as e:
        return show(e)

def E(f):
    return attempt(f, lambda e: f"!{type(e).__name__}: {e}")

def F(t):
    def g(f):
        return attempt(f, lambda e: f"<{type(e).__name__}>")
    fn = g(lambda: t.grad_fn)
    name = fn if isinstance(fn, str) else (None if fn is None else type(fn).__name__)
    return (f"inf={int(t.is_inference())} rg={int(t.requires_grad)} leaf={g(lambda: int(t.is_leaf))} "
            f"view={int(t._is_view())} ver={g(lambda: t._version)} gf={name}")

def run(code):
    lines = []
    names = dict(torch=torch, E=E, F=F, p=lambda *a: lines.append(" ".join(str(x) for x in a)))
    try:
        exec(compile(code, "<program>", "exec"), names)
    except Exception as e:
        lines.append(f"UNCAUGHT !{type(e).__name__}: {e}")
    return lines

answers = []
for code in json.load(sys.stdin):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        with os.fdopen(write, "w") as out:
            json.dump(run(code), out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    answers.append(json.loads(text) if text else ["CRASH"])
json.dump(answers, sys.stdout)
"""


def run_programs(codes: list[str], module: str = "guardfix.runtime_shim") -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, module],
        input=json.dumps(codes),
        capture_output=True,
        text=True,
        check=True,
    )
    return [[re.sub(r" (object )?at 0x[0-9a-f]+", "", line) for line in lines] for lines in json.loads(done.stdout)]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[str]]:
    return dict(zip((p["id"] for p in PROGRAMS), run_programs([p["code"] for p in PROGRAMS]), strict=True))


@pytest.mark.parametrize("program", PROGRAMS, ids=[f"{p['id']}: {p['title']}"[:70] for p in PROGRAMS])
def test_program_gives_what_pytorch_gave(program: dict[str, Any], outcomes: dict[str, list[str]]) -> None:
    assert outcomes[program["id"]] == program["expected"]


def test_the_runner_reports_what_differs() -> None:
    assert run_programs(["p(1)\np(E(lambda: 1 / 0))\nraise ValueError('x')"]) == [
        ["1", "!ZeroDivisionError: division by zero", "UNCAUGHT !ValueError: x"]
    ]


@pytest.mark.oracle
def test_programs_are_what_pytorch_does() -> None:
    pytest.importorskip("torch")
    assert run_programs([p["code"] for p in PROGRAMS], "torch") == [p["expected"] for p in PROGRAMS]
