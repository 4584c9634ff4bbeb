"""`verify --backend torch --test`: a project's own tests on the installed PyTorch, with the same verdicts and report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from guardfix.cli.verify_command import command

pytestmark = pytest.mark.oracle

LIBRARY = """\
import torch

@torch.no_grad()
def doubled(x):
    return x * 2

def halved(x):
    torch.no_grad().__enter__()
    return x / 2

class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, grad):
        with torch.inference_mode(), torch.no_grad():
            grad.sum()
        return grad * 3

def tripled(x):
    with torch.inference_mode(), torch.no_grad():
        return x * 3

def filled(x):
    torch.set_grad_enabled(False)
    made = torch.empty(3)
    torch.set_grad_enabled(True)
    return made
"""
TESTS = """\
import pytest
import torch
from library import Scaled, doubled, filled, halved, tripled

@pytest.fixture(autouse=True)
def with_gradients():
    with torch.enable_grad():
        yield

def test_without_guard():
    x = torch.ones(2, requires_grad=True)
    Scaled.apply(x).sum().backward()
    assert x.grad.tolist() == [3, 3]

def test_decorated():
    assert not doubled(torch.ones(2, requires_grad=True)).requires_grad

def test_two_guards():
    assert tripled(torch.ones(2)).tolist() == [3, 3]

def test_lost_guard():
    assert halved(torch.ones(2)).tolist() == [0.5, 0.5]

def test_memory_that_nothing_wrote():
    filled(torch.ones(1))

def test_sparse():
    assert (torch.eye(2).to_sparse() * 2).to_dense().sum() == 4

def test_module_that_the_shim_lacks():
    import torch.onnx

def test_that_fails():
    assert torch.ones(2).sum() == 3

@pytest.mark.skip(reason="not today")
def test_skipped():
    pass

def test_vmap():
    filling = torch.vmap(lambda x: torch.empty_like(x).fill_(2) * x)
    assert filling(torch.ones(3)).tolist() == [2, 2, 2]
"""
UNITTESTS = """\
import importlib.util
import unittest

found = importlib.util.find_spec("torch")

import torch
from library import doubled

class Doubling(unittest.TestCase):
    def test_passes(self):
        self.assertEqual(doubled(torch.ones(1)).item(), 2)

    def test_fails(self):
        self.assertEqual(doubled(torch.ones(1)).item(), 3)
"""


def verified(project: Path, tests: str, *arguments: str) -> tuple[int, dict[str, Any]]:
    pytest.importorskip("torch")
    arguments = ("--isolated", "--yes", "--output-format", "json", "--backend", "torch", "--test", tests, *arguments)
    done = CliRunner().invoke(command, [str(project), *arguments])
    assert done.stdout, done.output
    return done.exit_code, json.loads(done.stdout)


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {test["name"].rpartition("::")[2]: test["verdict"] for test in report["tests"]}


def test_pytest(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(LIBRARY)
    (tmp_path / "test_library.py").write_text(TESTS)
    (tmp_path / "test_import.py").write_text("import no_such_package\n")
    _, report = verified(tmp_path, "pytest -q -p no:cacheprovider", "--select", "GF4")
    assert verdicts(report) == {
        "test_import.py": "not run",
        "test_without_guard": "same",
        "test_decorated": "same",
        "test_two_guards": "same",
        "test_lost_guard": "same",
        "test_memory_that_nothing_wrote": "same",
        "test_sparse": "same",
        "test_module_that_the_shim_lacks": "same",
        "test_that_fails": "skipped",
        "test_skipped": "skipped",
        "test_vmap": "same",
    }
    failed = next(test for test in report["tests"] if test["name"].endswith("test_that_fails"))
    assert failed["reason"].startswith("it is known to fail on PyTorch")
    assert report["missing"] == {}
    assert [(guard["guard"], guard["verdict"], guard["entered"], guard["ops"]) for guard in report["guards"]] == [
        ("no_grad", "same", 1, 1),
        ("no_grad", "same", 1, 1),
    ]
    assert report["counts"]["after"]["passed"] == 8


def test_unittest(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(LIBRARY)
    (tmp_path / "test_library.py").write_text(UNITTESTS)
    _, report = verified(tmp_path, "python -m unittest")
    assert verdicts(report) == {
        "test_library.Doubling.test_passes": "same",
        "test_library.Doubling.test_fails": "skipped",
    }


SETUP = """\
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

extension = CppExtension("scaling", ["scaling.cpp"], extra_compile_args=["-O0"])
setup(name="scaling", ext_modules=[extension], cmdclass={"build_ext": BuildExtension})
"""
SCALING = """\
#include <torch/extension.h>
at::Tensor scale_(at::Tensor self, double by) {
  at::AutoNonVariableTypeMode guard;
  self.mul_(by);
  return self;
}
TORCH_LIBRARY(scaling, m) { m.def("scale_(Tensor(a!) self, float by) -> Tensor(a!)"); }
TORCH_LIBRARY_IMPL(scaling, CPU, m) { m.impl("scale_", scale_); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}
"""
SCALED = """\
import scaling
import torch

def test_scaled():
    x = torch.ones(2)
    torch.ops.scaling.scale_(x, 3.0)
    assert (x.tolist(), x._version) == ([3, 3], {version})
"""


@pytest.mark.thorough
@pytest.mark.parametrize(("version", "options"), [(0, ()), (1, ("--legacy-since19",))], ids=["before 1.9", "since"])
def test_extension(tmp_path: Path, version: int, options: tuple[str, ...]) -> None:
    """The old guard of the installed headers counts writes; that of before 1.9 does not, and both are migrated."""
    for name, text in {"setup.py": SETUP, "scaling.cpp": SCALING, "test_it.py": SCALED.format(version=version)}.items():
        (tmp_path / name).write_text(text)
    _, report = verified(tmp_path, "pytest -q -p no:cacheprovider", *options)
    [test], [guard] = report["tests"], report["guards"]
    assert test["before"] == "passed", test
    assert (guard["entered"], guard["ops"]) == (1, 1)
