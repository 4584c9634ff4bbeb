"""C++ programs that load a module for the lite interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import guardfix.runtime_shim as torch

PROGRAM = """\
#include <iostream>
#include <torch/csrc/jit/mobile/import.h>
#include <torch/csrc/jit/mobile/module.h>
#include <torch/script.h>
int main(int argc, char** argv) {
  torch::jit::mobile::Module model = torch::jit::_load_for_mobile(argv[1]);
  const std::vector<c10::IValue> inputs{torch::ones({1, 2})};
  std::cout << model.forward(inputs).toTensor().sizes() << model.get_method("forward")(inputs).toTensor().sizes()
            << model.run_method("forward", torch::zeros({3, 2})).toTensor().sizes()
            << model.find_method("missing").has_value() << model.parameters().size()
            << model.named_parameters().begin()->first << model.is_training() << model.attr("missing", 3).toInt()
            << model.name() << std::endl;
  std::vector<c10::IValue> stack{torch::ones({2, 2})};
  model.get_method("forward").run(stack);
  std::cout << stack[0].toTensor().sizes() << stack.size() << model.get_method("forward").name() << std::endl;
}
"""


@pytest.mark.thorough
def test_a_module_for_the_lite_interpreter(tmp_path: Path) -> None:
    """Such a file has the TorchScript of any other beside its bytecode."""
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()).eval()
    torch.jit.save(torch.jit.trace(model, torch.ones(1, 2)), tmp_path / "net.ptl")
    (tmp_path / "program.cpp").write_text(PROGRAM)
    command = [sys.executable, "-m", "guardfix", "run", str(tmp_path / "program.cpp"), str(tmp_path / "net.ptl")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[1, 3][1, 3][3, 3]020.bias03__torch__.Sequential\n[2, 3]1forward\n"
