"""Each step of a C++ program says which line of its file it comes from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from guardfix.runtime_shim.recording.call_sites import with_lines
from guardfix.verify.program_copies import Settings
from guardfix.verify.programs.program_discovery import Program
from guardfix.verify.verifying import run_once

pytestmark = pytest.mark.skipif(shutil.which("addr2line") is None, reason="needs addr2line")

HEADER = """#pragma once
#include <torch/torch.h>
inline torch::Tensor doubled(const torch::Tensor& x) { return x.mul(2); }
"""
PROGRAM = """#include "doubled.h"

torch::Tensor half(const torch::Tensor& x) {
  return x.div(2);  // div
}

std::vector<torch::Tensor> pair(const torch::Tensor& x) {
  return {x + 1};  // add
}

int main() {
  auto x = torch::ones({2});  // ones
  x = half(x);
  x = doubled(x);  // mul
  x = pair(x)[0];
  auto f = [&] {
    return x.sub(1);  // sub
  };
  try {
    f().view({3});  // view
  } catch (const c10::Error&) {
  }
}
"""


def test_lines_are_those_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "doubled.h").write_text(HEADER)
    path = tmp_path / "program.cpp"
    path.write_text(PROGRAM)
    run = run_once(Program(path, tmp_path, named=True), Settings())
    assert run.status == 0, run.errors
    found = [(event["op"], event.get("line")) for event in run.events if event["event"] in ("step", "raised")]
    expected = [
        (line.rpartition("// ")[2], number) for number, line in enumerate(PROGRAM.splitlines(), 1) if "  // " in line
    ]
    order = ("ones", "div", "mul", "add", "sub", "view")
    assert sorted(found, key=lambda step: order.index(step[0])) == sorted(
        expected, key=lambda step: order.index(step[0])
    )
    assert not any("at" in event for event in run.events)


def test_without_addr2line_steps_have_no_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    events = [{"event": "compiled", "files": ["a.cpp"], "program": "a.so"}, {"event": "step", "op": "mul", "at": [1]}]
    assert with_lines(events) == [events[0], {"event": "step", "op": "mul"}]
