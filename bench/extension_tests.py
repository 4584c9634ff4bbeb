#!/usr/bin/env python3
"""How many tests of public extensions of PyTorch pass on the shim, among those that pass on PyTorch.

    python bench/extension_tests.py CHECKOUTS --torch PYTHON [--only NAME] [--failures]

CHECKOUTS is a folder as `bench/extensions.py` makes it; PYTHON an interpreter that has PyTorch 2.13, pytest and what
the projects themselves need (scipy). Each project is built and tested in a copy, as `guardfix verify --test` does it:
on the shim, and by PYTHON with its PyTorch. Outcomes on PyTorch are kept in CHECKOUTS, in `outcomes`, as building takes
many minutes; `--again` runs them anew. Exit status 1 when fewer than 80 % pass.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from guardfix.verify.project_tests import Round, TestSettings, build_and_test
from guardfix.verify.tree_copies import TREE, TreeCopy

TARGET = 0.8


@dataclass(frozen=True)
class Project:
    """A project of `bench/extensions.py` that has tests."""

    name: str
    tests: str
    written: tuple[tuple[str, str], ...] = ()
    """Files put beside its own, or over them, by their paths: for tests that default to a GPU, or that are scripts."""
    built_in: str = ""
    """The folder of its setup.py, if that isn't the root."""

    removed: str = ""
    """Folders without which it is built, as a pattern."""

    def prepare(self, copy: Path) -> None:
        for folder in copy.glob(self.removed) if self.removed else ():
            shutil.rmtree(folder)
        for path, text in self.written:
            (copy / path).write_text(text, encoding="utf-8")


TVDCN = """\
import sys

import pytest
import torch

sys.path.insert(0, "tests")
import test_grad


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("name", ["test_deform_conv", "test_deform_conv_transpose"])
def test_on_the_cpu(name, dim):
    getattr(test_grad, name)(dim, torch.float64, "cpu")
"""
LLTM = """\
import sys

import torch

sys.path[:0] = ["cpp", "."]
from lltm import LLTM, LLTMFunction
from python.lltm_baseline import LLTM as Baseline


def variables():
    torch.manual_seed(3)
    sizes = (3, 17), (15, 22), (1, 15), (3, 5), (3, 5)
    return [torch.randn(size, dtype=torch.float64, requires_grad=True) for size in sizes]


def test_gradients():
    assert torch.autograd.gradcheck(LLTMFunction.apply, variables())


def test_values():
    x, weights, bias, h, cell = variables()
    module, baseline = LLTM(17, 5), Baseline(17, 5)
    for one in (module, baseline):
        one.double()
        one.weights.data.copy_(weights)
        one.bias.data.copy_(bias)
    for ours, theirs in zip(module(x, (h, cell)), baseline(x, (h, cell))):
        assert torch.allclose(ours, theirs)
"""
# The ops alone: without images, videos, models and what exports to ONNX, without what is quantized, and without a file
# that PyTorch 2.13 doesn't compile.
VISION_SETUP = """\
from glob import glob

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

folders = ".", "ops", "ops/autograd", "ops/cpu"
sources = [path for folder in folders for path in sorted(glob(f"torchvision/csrc/{folder}/*.cpp"))]
sources.remove("torchvision/csrc/ops/cpu/interpolate_aa_kernels.cpp")
extension = CppExtension("torchvision._C", sources, include_dirs=["torchvision/csrc"])
setup(name="torchvision", ext_modules=[extension], cmdclass={"build_ext": BuildExtension})
"""
VISION_UTILITIES = """\
import pytest
import torch

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def cpu_only(test):
    return test
"""
VISION_PACKAGE = """\
from .extension import _HAS_OPS
from torchvision import ops
from torchvision.ops import misc
"""
VISION_WRITTEN = (
    ("setup.py", VISION_SETUP),
    ("torchvision/__init__.py", VISION_PACKAGE),
    ("torchvision/ops/_register_onnx_ops.py", "def _register_custom_op():\n    pass\n"),
    ("test/common_utils.py", VISION_UTILITIES),
)
PROJECTS = (
    Project("vision", "test/test_ops.py", VISION_WRITTEN, removed="torchvision/csrc/ops/quantized"),
    Project("extension-cpp 2019", "test_lltm.py", (("test_lltm.py", LLTM),), "cpp"),
    Project("extension-cpp 2024", "test"),
    Project("extension-cpp", "test"),
    Project("pytorch_scatter", "test"),
    Project("pytorch_cluster", "test"),
    Project("tvdcn", "test_cpu.py", (("test_cpu.py", TVDCN),)),
    Project("pyg-lib", "test"),
)


def passed_on_torch(project: Project, root: Path, python: str, jobs: int) -> set[str]:
    """Builds a copy with PyTorch and runs its tests there."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / root.name
        TreeCopy(root, copy, TREE).restore({})
        project.prepare(copy)
        variables = os.environ | {
            "PYTHONPATH": str(copy),
            "MAX_JOBS": str(jobs),
            "PATH": f"{Path(python).parent}:{os.environ['PATH']}",
        }
        built = subprocess.run(
            [python, "setup.py", "build_ext", "--inplace"], cwd=copy / project.built_in, env=variables,
            capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if built.returncode != 0:
            print(built.stdout[-1000:], built.stderr[-2000:], file=sys.stderr)
            return set()
        report = Path(folder) / "report.xml"
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", project.tests]
        subprocess.run(command, cwd=copy, env=variables, stdout=subprocess.DEVNULL, check=False)
        found = set()
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            if not any(child.tag in ("failure", "error", "skipped") for child in case):
                found.add(f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}")
        return found


def run_on_shim(project: Project, root: Path) -> Round:
    """Builds a copy on the shim and runs its tests there."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / root.name
        TreeCopy(root, copy, TREE).restore({})
        project.prepare(copy)
        build = f"sh -c 'cd {project.built_in} && python setup.py build_ext --inplace'" if project.built_in else None
        command = f"python -m pytest -q -p no:cacheprovider {project.tests}"
        return build_and_test(copy, Path(folder) / "run", TestSettings(command, build, seconds=3000))


def short(name: str) -> str:
    """A test's name as both harnesses give it: the file or class, and the test with its parameters."""
    parts = name.split("::")
    if len(parts) == 1:  # a file that couldn't be collected
        return name
    holder = re.sub(r".*/|\.py$", "", parts[-2])
    return f"{holder}::{parts[-1]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--torch", metavar="PYTHON", help="an interpreter that has PyTorch")
    parser.add_argument("--only", metavar="NAME")
    parser.add_argument("--again", action="store_true", help="run the tests on PyTorch anew")
    parser.add_argument("--failures", action="store_true", help="print why tests fail on the shim")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compilers at a time")
    options = parser.parse_args()
    os.environ["MAX_JOBS"] = str(options.jobs)
    kept = options.checkouts / "outcomes"
    kept.mkdir(exist_ok=True)
    total = good = 0
    for project in PROJECTS:
        root = (options.checkouts / project.name).resolve()
        if options.only not in (None, project.name) or not root.is_dir():
            continue
        record = kept / f"{project.name}.json"
        if options.torch and (options.again or not record.is_file()):
            record.write_text(json.dumps(sorted(passed_on_torch(project, root, options.torch, options.jobs))))
        started = time.monotonic()
        made = run_on_shim(project, root)
        if not made.tests:
            print(f"{project.name}: {(made.failed_build or made.output).strip()[-2000:]}")
        ours = {short(name): run for name, run in made.tests.items()}
        wanted = set(json.loads(record.read_text())) if record.is_file() else set(ours)
        passed = {name for name in wanted if name in ours and ours[name].outcome == "passed"}
        total, good = total + len(wanted), good + len(passed)
        print(
            f"{project.name:<20} {len(passed)} of {len(wanted)} pass, in {time.monotonic() - started:.0f} s", flush=True
        )
        if options.failures:
            reasons = Counter(
                "did not run" if name not in ours else ours[name].missing or ours[name].message.strip().split("\n")[-1]
                for name in wanted - passed
            )
            for reason, times in reasons.most_common(20):
                print(f"    {times:>4}  {reason}")
    print(f"{good} of {total} tests pass (target: {TARGET:.0%})")
    return 0 if total and good / total >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
