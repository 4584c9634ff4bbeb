#!/usr/bin/env python3
"""How many tests of public extensions of PyTorch pass on the shim, among those that pass on PyTorch.

    python bench/extension_tests.py CHECKOUTS --torch PYTHON [--only NAME] [--failures]

CHECKOUTS is a folder as `bench/extensions.py` makes it; PYTHON an interpreter that has PyTorch 2.13, pytest and what
the projects themselves need (scipy). Each project is built and tested in a copy, as `guardfix verify --test` does it:
on the shim, and by PYTHON with its PyTorch. Outcomes on PyTorch are kept in CHECKOUTS, in `outcomes`, as building takes
many minutes; `--again` runs them again. Exit status 1 when fewer than 80 % pass.
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

from guardfix.verify.projects.compared_tests import Round
from guardfix.verify.projects.project_tests import BuiltCopy, TestSettings, build_command
from guardfix.verify.runs.tree_copies import TREE, TreeCopy

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
# Its package needs sox and much of Python; its ops need neither.
AUDIO_SETUP = """\
from glob import glob

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

folders = ".", "rnnt", "rnnt/cpu", "rir", "forced_align", "forced_align/cpu", "pybind"
sources = [path for folder in folders for path in sorted(glob(f"src/libtorchaudio/{folder}/*.cpp"))]
macros = [("INCLUDE_RIR", None), ("INCLUDE_ALIGN", None)]
extension = CppExtension("_torchaudio", sources, include_dirs=["src"], define_macros=macros)
setup(name="_torchaudio", ext_modules=[extension], cmdclass={"build_ext": BuildExtension})
"""
AUDIO = """\
import itertools

import pytest
import torch

import _torchaudio

ops = torch.ops.torchaudio


def rnnt_loss(logits, targets, blank, fused=True):
    batch, time, symbols, _ = logits.shape
    times, lengths = (torch.full((batch,), n, dtype=torch.int32) for n in (time, symbols - 1))
    return ops.rnnt_loss(logits, targets, times, lengths, blank, -1.0, fused)


def every_path(logits, targets, blank):
    # The sum over all ways through the lattice: `time` blanks, the last at the end, and the targets in order.
    time, symbols, _ = logits.shape
    scores = logits.log_softmax(-1)
    found = []
    for places in itertools.combinations(range(time + symbols - 2), symbols - 1):
        t = u = 0
        total = torch.zeros((), dtype=logits.dtype)
        for step in range(time + symbols - 2):
            if step in places:
                total, u = total + scores[t, u, targets[u]], u + 1
            else:
                total, t = total + scores[t, u, blank], t + 1
        found.append(total + scores[t, u, blank])
    return -torch.stack(found).logsumexp(0)


def example(seed=0, time=4, symbols=3):
    torch.manual_seed(seed)
    targets = torch.randint(1, 5, (2, symbols - 1), dtype=torch.int32)
    return torch.randn(2, time, symbols, 5, requires_grad=True), targets


@pytest.mark.parametrize("seed", range(4))
def test_transducer_loss_and_its_gradient(seed):
    logits, targets = example(seed)
    costs, _ = rnnt_loss(logits, targets, 0)
    expected = torch.stack([every_path(logits[i], targets[i].tolist(), 0) for i in range(2)])
    torch.testing.assert_close(costs, expected, rtol=1e-4, atol=1e-4)
    ours, theirs = (torch.autograd.grad(loss.sum(), logits, retain_graph=True)[0] for loss in (costs, expected))
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)


def test_transducer_loss_without_gradients():
    logits, targets = example()
    with torch.no_grad():
        costs, _ = rnnt_loss(logits, targets, 0)
    assert not costs.requires_grad
    torch.testing.assert_close(costs, rnnt_loss(logits, targets, 0)[0].detach())


def test_transducer_loss_refuses_other_types():
    logits, targets = example()
    with pytest.raises(RuntimeError, match="float32 or float16"):
        rnnt_loss(logits.double(), targets, 0)


def test_filter_and_its_gradient():
    torch.manual_seed(1)
    wave = torch.randn(2, 1, 6, dtype=torch.float64, requires_grad=True)
    a = torch.tensor([[1.0, 0.5, -0.25]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[0.5, 0.1, 0.2]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(ops._lfilter, (wave, a, b))
    y = ops._lfilter(wave, a, b).detach()
    x = torch.nn.functional.pad(wave.detach(), (2, 0))
    for n in range(6):
        past = [y[..., n - k] if n >= k else torch.zeros(2, 1, dtype=torch.float64) for k in (1, 2)]
        value = sum(b[0, k] * x[..., n + 2 - k] for k in range(3)) - 0.5 * past[0] + 0.25 * past[1]
        torch.testing.assert_close(y[..., n], value.detach())


def test_overdrive_changes_its_arguments():
    wave, temp = torch.rand(1, 5), torch.rand(1, 5)
    last_in, last_out, out = torch.zeros(1), torch.zeros(1), torch.zeros(1, 5)
    ops._overdrive_core_loop(wave, temp, last_in, last_out, out)
    assert out.abs().sum() > 0 and last_in.item() == temp[0, -1].item()


def test_alignment_is_the_best_path():
    torch.manual_seed(2)
    scores = torch.randn(1, 6, 4).log_softmax(-1)
    targets = torch.tensor([[1, 2, 2]], dtype=torch.int32)
    path, values = ops.forced_align(scores, targets, torch.tensor([6]), torch.tensor([3]), 0)

    def collapsed(labels):
        return [label for label, _ in itertools.groupby(labels) if label != 0]

    best = max(
        (labels for labels in itertools.product(range(4), repeat=6) if collapsed(labels) == [1, 2, 2]),
        key=lambda labels: sum(scores[0, t, label].item() for t, label in enumerate(labels)),
    )
    assert tuple(path[0].tolist()) == best
    torch.testing.assert_close(values[0], scores[0, torch.arange(6), path[0].long()])


def test_impulse_response():
    irs = torch.arange(6.0).reshape(1, 2, 1, 3)  # bands, images, microphones, samples
    made = ops._simulate_rir(irs, torch.tensor([[0], [2]], dtype=torch.int32), 8)
    assert made.flatten().tolist() == [0, 1, 2 + 3, 4, 5, 0, 0, 0]


def test_what_was_built():
    assert _torchaudio.is_rir_available() and _torchaudio.is_align_available() and _torchaudio.cuda_version() is None
"""
PROJECTS = (
    Project("audio", "test_ops_cpu.py", (("setup.py", AUDIO_SETUP), ("test_ops_cpu.py", AUDIO))),
    Project("vision", "test/test_ops.py", VISION_WRITTEN, removed="torchvision/csrc/ops/quantized"),
    Project("extension-cpp 2019", "test_lltm.py", (("test_lltm.py", LLTM),), "cpp"),
    Project("extension-cpp 2024", "test"),
    Project("extension-cpp", "test"),
    Project("pytorch_scatter", "test"),
    Project("pytorch_cluster", "test"),
    Project("tvdcn", "test_cpu.py", (("test_cpu.py", TVDCN),)),
    Project("pyg-lib", "test"),
)


def passed_on_torch(
    project: Project, root: Path, python: str, jobs: int, seconds: float = 3000
) -> tuple[set[str], float]:
    """Builds a copy with PyTorch and runs its tests there: those that pass, and how long all took."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / root.name
        TreeCopy(root, copy, TREE).restore({})
        project.prepare(copy)
        variables = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(copy), str(copy / "src"), os.environ.get("PYTHONPATH", "")]),
            "MAX_JOBS": str(jobs),
            "PATH": f"{Path(python).parent}:{os.environ['PATH']}",
        }
        if build_command(copy / project.built_in):
            built = subprocess.run(
                [python, "setup.py", "build_ext", "--inplace"], cwd=copy / project.built_in, env=variables,
                capture_output=True, text=True,
                check=False, timeout=3 * seconds,
            )  # fmt: skip
            if built.returncode != 0:
                print(built.stdout[-1000:], built.stderr[-2000:], file=sys.stderr)
                return set(), 0
        report = Path(folder) / "report.xml"
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
        command += [f"--junitxml={report}"]
        command += project.tests.split()
        began = time.monotonic()
        subprocess.run(command, cwd=copy, env=variables, stdout=subprocess.DEVNULL, check=False, timeout=seconds)
        took = time.monotonic() - began
        found = set()
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            if not any(child.tag in ("failure", "error", "skipped") for child in case):
                found.add(f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}")
        return found, took


def run_on_shim(project: Project, root: Path) -> Round:
    """Builds a copy on the shim and runs its tests there."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / root.name
        TreeCopy(root, copy, TREE).restore({})
        project.prepare(copy)
        build = f"sh -c 'cd {project.built_in} && python setup.py build_ext --inplace'" if project.built_in else None
        command = f"python -m pytest -q -p no:cacheprovider {project.tests}"
        return BuiltCopy(copy, Path(folder) / "run", TestSettings(command, build, seconds=3000)).test()


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
            record.write_text(json.dumps(sorted(passed_on_torch(project, root, options.torch, options.jobs)[0])))
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
