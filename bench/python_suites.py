#!/usr/bin/env python3
"""Runs PyTorch's own Python tests on the shim, and counts those that pass among those that pass on PyTorch.

    python bench/python_suites.py SOURCE --torch PYTHON [--suite autograd …] [--failures] [--missing] [--table FILE]

SOURCE is a checkout of PyTorch 2.6 or its unpacked source package (Debian's `pytorch`, for example: `apt-get source
--download-only pytorch`, which needs a deb-src line). PYTHON is an interpreter that has torch 2.13: what passes there,
by the same harness, is what counts. The harness (bench/torch_suites) puts modules of its own in the place of
torch.testing._internal, on both. Outcomes are kept beside SOURCE: `--again` runs the shim's again, `--torch-again`
PyTorch's. Exit status 1: a suite has fewer passing tests than its target.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from guardfix.runtime_shim.extension.cmake_package import write_torch_distribution  # noqa: E402


class Suite(NamedTuple):
    """Classes of tests in files, and how many tests should pass."""

    title: str
    files: tuple[str, ...]
    target: int
    classes: str = ""

    def has(self, case: str) -> bool:
        return re.fullmatch(self.classes or ".*", case) is not None


NN_FILES = tuple(
    f"nn/test_{name}.py" for name in "module_hooks load_state_dict init dropout embedding pooling convolution".split()
)
SUITES = (
    Suite("TestAutograd", ("test_autograd.py",), 262, "TestAutograd"),
    Suite("TestMultithreadAutograd", ("test_autograd.py",), 11, "TestMultithreadAutograd"),
    Suite("TestAutogradDeviceType", ("test_autograd.py",), 41, "TestAutogradDeviceTypeCPU"),
    Suite("TestAutogradInferenceMode", ("test_autograd.py",), 0, "TestAutogradInferenceMode"),
    Suite("checkpoint", ("test_autograd.py",), 13, "TestNestedCheckpoint|TestSelectiveActivationCheckpoint"),
    Suite(
        "AllowMutationOnSaved, MultipleDispatch",
        ("test_autograd.py",),
        14,
        "TestAllowMutationOnSaved|TestAutogradMultipleDispatchCPU",
    ),
    Suite("autograd/test_functional", ("autograd/test_functional.py",), 59),
    Suite("test_view_ops", ("test_view_ops.py",), 240),
    Suite("test_indexing", ("test_indexing.py",), 72),
    Suite("test_custom_ops", ("test_custom_ops.py",), 80),
    Suite("modules", NN_FILES, 430),
    Suite("test_type_promotion", ("test_type_promotion.py",), 390),
    Suite("test_binary_ufuncs", ("test_binary_ufuncs.py",), 1400),
    Suite("lr_scheduler", ("optim/test_lrscheduler.py",), 140),
    Suite("test_autograd_fallback", ("test_autograd_fallback.py",), 28),
    Suite("test_torch", ("test_torch.py",), 430),
    Suite("test_tensor_creation_ops", ("test_tensor_creation_ops.py",), 410),
    Suite(
        "shapes, sorting, scatter and gather",
        ("test_shape_ops.py", "test_sort_and_select.py", "test_scatter_gather_ops.py"),
        230,
    ),
    Suite(
        "parametrization, lazy modules, packed sequences",
        ("nn/test_parametrization.py", "nn/test_lazy_modules.py", "nn/test_packed_sequence.py"),
        95,
    ),
    Suite("swa_utils", ("optim/test_swa_utils.py",), 13),
    Suite("test_python_dispatch, test_subclass", ("test_python_dispatch.py", "test_subclass.py"), 45),
    Suite(
        "test_overrides, without those for each function", ("test_overrides.py",), 30, "(?!TestTorchFunctionOverride).*"
    ),
    Suite("test_reductions", ("test_reductions.py",), 315),
    Suite("test_numpy_interop, test_complex", ("test_numpy_interop.py", "test_complex.py"), 45),
    Suite("test_type_info", ("test_type_info.py",), 3),
    Suite("test_stateless", ("test_stateless.py",), 40),
    Suite("differentiable optimizers", ("optim/test_optim.py",), 11),
    Suite("multihead attention", ("nn/test_multihead_attention.py",), 9),
    Suite("test_futures", ("test_futures.py",), 20),
)

Outcome = tuple[str, str]
"""What became of a test, and what it said."""


def read(path: Path) -> dict[tuple[str, str], Outcome]:
    """The last outcome of each test in a file of outcomes."""
    found: dict[tuple[str, str], Outcome] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            case, test, outcome, text = json.loads(line)
            known = found.get((case, test), ("",))[0]
            # A test that failed once has failed, whatever its other parts do.
            if not known or (outcome != "started" and not (outcome == "passed" and known != "started")):
                found[case, test] = outcome, text
    return found


def outcomes_of(file: str) -> str:
    """The name of a file of outcomes. Two folders may have a file of tests of one name."""
    return file.removesuffix(".py").replace("/", "-") + ".jsonl"


def run(python: str, backend: str, file: Path, outcomes: Path) -> None:
    """Run a file of tests, again after each test that ended the process."""
    outcomes.parent.mkdir(parents=True, exist_ok=True)
    path = [str(ROOT)]
    if backend == "shim":  # what the tests start imports `torch` as well
        path.append(str(write_torch_distribution(outcomes.parent / "as_torch")))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    for _ in range(60):
        before = outcomes.stat().st_size if outcomes.exists() else 0
        command = [python, "-m", "bench.torch_suites.suite_process", backend, str(file), str(outcomes)]
        with open(outcomes.with_suffix(".log"), "a", encoding="utf-8") as log:
            ended = subprocess.run(command, env=environment, stdout=log, stderr=log, check=False)
        if ended.returncode == 0 or (outcomes.exists() and outcomes.stat().st_size == before):
            return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--torch", metavar="PYTHON", help="an interpreter with torch 2.13")
    parser.add_argument("--suite", action="append", default=[], help="only suites whose title contains this")
    parser.add_argument("--again", action="store_true", help="run the shim's tests anew")
    parser.add_argument("--torch-again", action="store_true", help="run PyTorch's tests anew")
    parser.add_argument("--outcomes", type=Path, help="folder of the outcomes (default: beside SOURCE)")
    parser.add_argument("--failures", action="store_true", help="list the tests that fail on the shim alone")
    parser.add_argument("--missing", action="store_true", help="what the failures say, most frequent first")
    parser.add_argument("--table", type=Path, help="write the table between the marks of this file")
    options = parser.parse_args()
    tests = options.source / "test"
    folder = options.outcomes or options.source.parent / "suite-outcomes"
    suites = [s for s in SUITES if not options.suite or any(name in s.title for name in options.suite)]
    for file in dict.fromkeys(file for suite in suites for file in suite.files):
        for backend, python, anew in (
            ("torch", options.torch, options.torch_again),
            ("shim", sys.executable, options.again),
        ):
            outcomes = folder / backend / outcomes_of(file)
            if anew:
                outcomes.unlink(missing_ok=True)
            if python is not None and not outcomes.exists():
                run(python, backend, tests / file, outcomes)
    rows, said = [], Counter[str]()
    for suite in suites:
        passing = counted = 0
        for file in suite.files:
            name = outcomes_of(file)
            expected, found = read(folder / "torch" / name), read(folder / "shim" / name)
            for key, (outcome, _) in expected.items():
                if outcome != "passed" or not suite.has(key[0]):
                    continue
                counted += 1
                mine, text = found.get(key, ("absent", found.get(("", ""), ("", "not run"))[1]))
                passing += mine == "passed"
                if mine != "passed":
                    said[re.sub(r" \[.*", "", text)[:110] or mine] += 1
                    if options.failures:
                        print(f"{key[0]}.{key[1]}: {mine}: {text[:220]}")
        rows.append((suite, passing, counted))
    if options.missing:
        for text, times in said.most_common(60):
            print(f"{times:5} {text}")
    lines = ["| suite | tests that pass on PyTorch | of them on the shim |", "|---|---|---|"]
    for suite, passing, counted in rows:
        share = f" ({passing / counted:.0%})" if counted else ""
        lines.append(f"| {suite.title} | {counted} | {passing}{share} |")
        print(f"{suite.title:42} {passing:5} of {counted:5}{share}  target {suite.target}", flush=True)
    if options.table:
        write_table(options.table, lines)
    return 1 if any(passing < suite.target for suite, passing, _ in rows) else 0


def write_table(path: Path, lines: list[str]) -> None:
    """Put the table between the marks of a page."""
    start, end = "<!-- suites: bench/python_suites.py writes this table -->\n", "<!-- end of suites -->"
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(start)
    path.write_text(f"{before}{start}\n" + "\n".join(lines) + f"\n\n{end}" + rest.partition(end)[2], encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
