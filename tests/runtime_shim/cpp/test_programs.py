"""Whole programs, each with exactly what it prints; the marker `oracle` runs the same files on PyTorch."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from .running import FIXTURES, HERE, MODEL, PROGRAMS, guardfix_run, run_on_torch, torch_folder

programs = pytest.mark.parametrize("source", sorted(PROGRAMS.glob("*.cpp")), ids=lambda path: path.stem)
fixtures = pytest.mark.parametrize("source", sorted(FIXTURES.glob("*.*.cpp")), ids=lambda path: path.stem)
# What the others print is compared when they are verified: tests/guardfix/verify/test_verdicts.py.
FEW = {"silent_gradient.before"}  # other tests include the same header, which is precompiled once
few_fixtures = pytest.mark.parametrize(
    "source",
    [
        pytest.param(path, marks=() if path.stem in FEW else pytest.mark.thorough)
        for path in sorted(FIXTURES.glob("*.*.cpp"))
    ],
    ids=lambda path: path.stem,
)
GTESTS = HERE / "inference_mode_test.cpp"


def expected(source: Path) -> str:
    return source.with_suffix(".out").read_text(encoding="utf-8")


@programs
@pytest.mark.few("guards")
def test_program_prints_what_pytorch_prints(source: Path) -> None:
    outcome = guardfix_run(source, "--legacy-since19", "--", MODEL)
    assert outcome.out == expected(source)
    assert outcome.status == 0, outcome.err


@few_fixtures
def test_fixture_prints_what_it_says(source: Path) -> None:
    outcome = guardfix_run(source)
    assert outcome.out == expected(source)
    assert outcome.status == 0, outcome.err


def test_every_fixture_has_its_migrated_sibling() -> None:
    befores = {path.name.removesuffix(".before.cpp") for path in FIXTURES.glob("*.before.cpp")}
    afters = {path.name.removesuffix(".after.cpp") for path in FIXTURES.glob("*.after.cpp")}
    assert befores == afters
    assert len(befores) >= 13


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        pytest.param(
            "silent_gradient", " 12\n", "modified by an inplace operation", id="wrong gradient, then an error"
        ),
        pytest.param("inplace_kernel", "version 0", "version 1", id="a change that was not counted is counted"),
        pytest.param("mutated_outside", " 26\n", "Inplace update to inference tensor", id="worked, then refused"),
    ],
)
def test_migration_changes_what_it_should(name: str, before: str, after: str) -> None:
    assert before in expected(FIXTURES / f"{name}.before.cpp")
    assert after in expected(FIXTURES / f"{name}.after.cpp")
    assert after not in expected(FIXTURES / f"{name}.before.cpp")


@pytest.mark.thorough
def test_old_guard_since_19_is_another_guard() -> None:
    source = FIXTURES / "silent_gradient.before.cpp"
    assert "version of the saved tensor 0" in guardfix_run(source).out
    assert "version of the saved tensor 1" in guardfix_run(source, "--legacy-since19").out


@pytest.mark.thorough
def test_kernel_without_its_guard_says_that_it_recurses(tmp_path: Path) -> None:
    text = (FIXTURES / "roi_align.after.cpp").read_text(encoding="utf-8")
    assert text.count("at::AutoDispatchBelowADInplaceOrView g;") == 1
    source = tmp_path / "roi_align.cpp"
    source.write_text(text.replace("at::AutoDispatchBelowADInplaceOrView g;", ""), encoding="utf-8")
    outcome = guardfix_run(source)
    assert outcome.status == -6
    assert "boxes::roi_align: infinite recursion: its AutogradCPU kernel calls the op again" in outcome.err
    assert "Put at::AutoDispatchBelowADInplaceOrView in force" in outcome.err


@pytest.fixture(scope="module")
def gtest() -> None:
    """Asks the compiler for gtest: not while tests are collected, since that takes seconds."""
    compiler = shutil.which("g++") or "c++"
    command = [compiler, "-x", "c++", "-", "-fsyntax-only"]
    if subprocess.run(command, input=b"#include <gtest/gtest.h>", capture_output=True, check=False).returncode != 0:
        pytest.skip("gtest is not installed (libgtest-dev)")


@pytest.mark.usefixtures("gtest")
@pytest.mark.thorough
def test_gtest_file_passes_whole() -> None:
    outcome = guardfix_run(GTESTS, "--link", "gtest")
    assert "[  PASSED  ] 52 tests." in outcome.out, outcome.out[-3000:] + outcome.err
    assert outcome.status == 0


@pytest.mark.usefixtures("gtest")
@pytest.mark.thorough
def test_gtest_file_can_fail(tmp_path: Path) -> None:
    text = GTESTS.read_text(encoding="utf-8")
    wrong = text.replace("EXPECT_EQ(t._version(), version + 2);", "EXPECT_EQ(t._version(), version + 3);")
    assert wrong != text
    source = tmp_path / "wrong_test.cpp"
    source.write_text(wrong, encoding="utf-8")
    outcome = guardfix_run(source, "--link", "gtest", "--", "--gtest_filter=*NormalTensorsChangedInside*")
    assert outcome.status == 1
    assert "[  FAILED  ]" in outcome.out


# ---- the same files on PyTorch itself

needs_torch = pytest.mark.skipif(torch_folder() is None, reason="torch is not installed")


@pytest.mark.oracle
@pytest.mark.some(4)
@needs_torch
@programs
def test_pytorch_prints_it_too(source: Path, tmp_path: Path) -> None:
    outcome = run_on_torch(source, tmp_path, MODEL)
    assert outcome.out == expected(source)
    assert outcome.status == 0, outcome.err


@pytest.mark.oracle
@pytest.mark.some(4)
@needs_torch
@fixtures
def test_fixture_is_the_same_on_pytorch(source: Path, tmp_path: Path) -> None:
    on_torch = run_on_torch(source, tmp_path)
    on_shim = guardfix_run(source, "--legacy-since19")
    assert (on_shim.status, on_shim.out) == (on_torch.status, on_torch.out)


@pytest.mark.oracle
@needs_torch
@pytest.mark.usefixtures("gtest")
def test_gtest_file_passes_on_pytorch(tmp_path: Path) -> None:
    outcome = run_on_torch(GTESTS, tmp_path, link=("gtest", "gtest_main"))
    assert "[  PASSED  ] 52 tests." in outcome.out


@pytest.mark.oracle
@needs_torch
@pytest.mark.parametrize("name", ["autograd", "guards", "indexing", "errors"])
def test_headers_work_over_pytorchs_own_tensors(name: str) -> None:
    """Tells a fault of the headers from a fault of the shim: the same headers, PyTorch's Python module behind them."""
    source = PROGRAMS / f"{name}.cpp"
    outcome = guardfix_run(source, "--backend", "torch", "--legacy-since19")
    assert outcome.out == expected(source), outcome.err
