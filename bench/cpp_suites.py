#!/usr/bin/env python3
"""Runs PyTorch's own C++ tests on the shim, and counts the tests that pass in each file.

    python bench/cpp_suites.py CHECKOUT [NAME...] [--failures] [--compile-only] [--timeout 60]

CHECKOUT is PyTorch's source, of which only the tests are read: version 2.6's, for example, from a Linux distribution's
source package. NAME chooses files by the end of their path (`test/cpp/api/modules.cpp`, or `modules`); without, those
of the table below. Each file is compiled against the shim's headers with gtest. Where it does not compile as a whole,
the tests (and helpers) that the compiler's errors point at are left out until the rest does; they count as failed,
and so does a test that crashes or runs longer than `--timeout` seconds. Tests that need another device than the CPU
are not counted. Exit status 1: a file of the table has fewer tests that pass than its target.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from guardfix.runtime_shim.cpp.compiler_diagnostics import CompileError, ProgramError
from guardfix.runtime_shim.cpp.cpp_compilation import CompilerOptions, compile_program

TARGETS = {
    "test/cpp/api/autograd.cpp": 57,
    "test/cpp/api/tensor.cpp": 44,
    "test/cpp/api/tensor_indexing.cpp": 52,
    "test/cpp/api/functional.cpp": 110,
    "test/cpp/api/modules.cpp": 210,
    "test/cpp/api/optim.cpp": 30,
    "test/cpp/api/any.cpp": 0,
    "test/cpp/api/dataloader.cpp": 0,
    "test/cpp/api/enum.cpp": 0,
    "test/cpp/api/expanding-array.cpp": 0,
    "test/cpp/api/grad_mode.cpp": 0,
    "test/cpp/api/inference_mode.cpp": 0,
    "test/cpp/api/init.cpp": 0,
    "test/cpp/api/memory.cpp": 0,
    "test/cpp/api/misc.cpp": 0,
    "test/cpp/api/module.cpp": 0,
    "test/cpp/api/moduledict.cpp": 0,
    "test/cpp/api/modulelist.cpp": 0,
    "test/cpp/api/namespace.cpp": 0,
    "test/cpp/api/nn_utils.cpp": 0,
    "test/cpp/api/operations.cpp": 0,
    "test/cpp/api/ordered_dict.cpp": 0,
    "test/cpp/api/parameterdict.cpp": 0,
    "test/cpp/api/parameterlist.cpp": 0,
    "test/cpp/api/rnn.cpp": 0,
    "test/cpp/api/sequential.cpp": 0,
    "test/cpp/api/serialize.cpp": 0,
    "test/cpp/api/static.cpp": 0,
    "test/cpp/api/tensor_flatten.cpp": 0,
    "test/cpp/api/tensor_options.cpp": 0,
    "test/cpp/api/transformer.cpp": 0,
    "aten/src/ATen/core/op_registration/op_registration_test.cpp": 60,
    "aten/src/ATen/core/List_test.cpp": 110,
    "aten/src/ATen/test/Dict_test.cpp": 40,
    "aten/src/ATen/test/basic.cpp": 0,
    "aten/src/ATen/test/scalar_test.cpp": 0,
    "aten/src/ATen/test/scalar_tensor_test.cpp": 0,
    "aten/src/ATen/test/broadcast_test.cpp": 0,
    "aten/src/ATen/test/wrapdim_test.cpp": 0,
    "aten/src/ATen/test/undefined_tensor_test.cpp": 0,
}
"""The files, and how many tests are to pass in each."""

_TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)
_OTHER_DEVICE = re.compile(r"_(?:Multi)?CUDA|CUDA(?:$|_)|_MPS|MPS$|Cuda|MultiGPU")


@dataclass
class Block:
    """A test, or something else at the top of a file: its lines, counted from 0, the end not included."""

    first: int
    end: int
    test: str = ""
    """Suite and name of the test, joined by a dot; empty for something else."""


def blocks_of(text: str) -> list[Block]:
    """The file in its parts. What begins in the first column ends with a `}` there, or a `;` on such a line."""
    lines = text.split("\n")
    blocks: list[Block] = []
    first: int | None = None
    for number, line in enumerate(lines):
        if first is None:
            if line[:1].isalpha() or line[:1] == "_":
                if line.startswith(("namespace", "using ", "extern ")) and line.rstrip().endswith(("{", ";")):
                    continue
                first = number
            else:
                continue
        ends = line.startswith("}") or (line.rstrip().endswith(";") and not line.startswith((" ", "\t")))
        if ends or (first == number and line.rstrip().endswith("}")):
            found = _TEST.match("\n".join(lines[first : first + 3]))
            blocks.append(Block(first, number + 1, f"{found[1]}.{found[2]}" if found else ""))
            first = None
    return blocks


def lines_to_blame(diagnostics: str, name: str) -> list[list[int]]:
    """For each error, the lines of the file (counted from 0) that it names: where it is, or what asked for it."""
    errors: list[list[int]] = []
    context: list[int] = []
    for line in diagnostics.splitlines():
        here = re.match(rf"(?:In file included from )?[^\s:]*{re.escape(name)}:(\d+)(?::\d+)?:", line)
        if ": error: " in line or ": fatal error: " in line:
            errors.append([*([int(here[1]) - 1] if here else []), *context])
            context = []
        elif here and ("required from" in line or "required by" in line):
            context.append(int(here[1]) - 1)
        elif "In instantiation of" in line or "In substitution of" in line:
            context = []
        elif here and errors and (not errors[-1] or "in expansion of macro" in line):
            errors[-1].append(int(here[1]) - 1)
    return errors


@dataclass
class Suite:
    """What became of the tests of a file."""

    tests: list[str]
    reasons: dict[str, str] = field(default_factory=dict)
    """Why a test failed: the compiler's first word on it, or how it ended."""
    passed: set[str] = field(default_factory=set)
    note: str = ""


def first_error(diagnostics: str, lines: range, name: str) -> str:
    said = "left out"
    for match in re.finditer(rf"{re.escape(name)}:(\d+):\d+: error: (.*)", diagnostics):
        if int(match[1]) - 1 in lines:
            return match[2]
    match2 = re.search(r"error: (.*)", diagnostics)
    return f"{said}: {match2[1]}" if match2 else said


def compile_what_can(source: Path, options: CompilerOptions, suite: Suite, work: Path) -> Path | None:
    """The file with as many of its tests as compile."""
    text = source.read_text(encoding="utf-8", errors="replace")
    support = source.with_name("support.cpp")  # what the tests of a folder share
    kept = text.split("\n") + ([f'#include "{support}"'] if support.is_file() else [])
    blocks = blocks_of(text)
    target = work / source.name
    for _ in range(40):
        target.write_text("\n".join(kept))
        try:
            compile_program(target, options)
            return target
        except CompileError as error:
            diagnostics = error.diagnostics
        except ProgramError as error:
            suite.note = str(error).splitlines()[0]
            return None
        removed = False
        for lines in lines_to_blame(diagnostics, source.name):
            for line in lines:
                block = next((one for one in blocks if one.first <= line < one.end), None)
                if block is None or not any(kept[block.first : block.end]):
                    continue
                if block.test:
                    suite.reasons[block.test] = first_error(diagnostics, range(block.first, block.end), source.name)
                else:
                    suite.note += f" helper left out at line {block.first + 1}: " + first_error(
                        diagnostics, range(block.first, block.end), source.name
                    )
                kept[block.first : block.end] = [""] * (block.end - block.first)
                removed = True
                break
        if not removed:
            suite.note = next((line for line in diagnostics.splitlines() if "error" in line), "does not compile")
            return None
    return None


def run_tests(program: Path, command: list[str], suite: Suite, timeout: float) -> None:
    """Runs what is left of the tests; again without the one that ended it, until all had their turn."""
    waiting = [test for test in suite.tests if test not in suite.reasons]
    while waiting:
        arguments = [f"--gtest_filter={':'.join(waiting)}", "--gtest_catch_exceptions=1", "--gtest_color=no"]
        try:
            done = subprocess.run(
                [*command, str(program), "--", *arguments], capture_output=True, text=True, errors="replace",
                timeout=timeout * 3 + len(waiting), check=False, cwd=program.parent,
            )  # fmt: skip
            printed, status = done.stdout + done.stderr, f"ended with status {done.returncode}"
        except subprocess.TimeoutExpired as expired:
            printed, status = (expired.stdout or b"").decode(errors="replace"), "took too long"
        begun: str | None = None
        said: list[str] = []
        for line in printed.splitlines():
            mark = re.match(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] ([\w.]+)", line)
            if mark is None:
                said.append(line.strip())
                continue
            kind, name = mark[1], mark[2]
            if kind == "RUN":
                begun, said = name, []
            elif begun == name:
                if kind == "OK":
                    suite.passed.add(name)
                else:
                    suite.reasons[name] = " | ".join(said)[:400] or kind
                begun = None
        if begun is not None:
            suite.reasons[begun] = f"{status}: {' | '.join(said[-4:])[:300]}"
        rest = [test for test in waiting if test not in suite.passed and test not in suite.reasons]
        if len(rest) == len(waiting):
            suite.note += f" does not start: {printed.strip()[-300:]}"
            suite.reasons.update(dict.fromkeys(rest, "did not start"))
            return
        waiting = rest


def compiler_options(root: Path, folder: Path) -> CompilerOptions:
    return CompilerOptions(include=(root, root / "aten" / "src"), quoted_include=(folder,), link=("gtest",))


def measure(source: Path, root: Path, work: Path, options: argparse.Namespace) -> Suite:
    text = source.read_text(encoding="utf-8", errors="replace")
    tests = [block.test for block in blocks_of(text) if block.test and not _OTHER_DEVICE.search(block.test)]
    suite = Suite(tests)
    program = compile_what_can(source, compiler_options(root, source.parent), suite, work)
    if program is None:
        suite.reasons.update({test: "the file does not compile" for test in tests if test not in suite.reasons})
        return suite
    if options.compile_only:
        return suite
    runner = [sys.executable, str(Path(__file__).resolve()), "--run-one", str(root), str(source.parent)]
    run_tests(program, runner, suite, options.timeout)
    return suite


def run_one(arguments: list[str]) -> int:
    """Runs a program that `measure` compiled, in its own process."""
    from guardfix.runtime_shim.cpp.cpp_program import run_cpp

    root, folder, program, _, *rest = arguments
    return run_cpp(Path(program), rest, options=compiler_options(Path(root), Path(folder)))


def main() -> int:
    if sys.argv[1:2] == ["--run-one"]:
        return run_one(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--failures", action="store_true", help="print why tests failed")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--timeout", type=float, default=60.0)
    options = parser.parse_args()
    root = options.checkout.resolve()
    chosen = [name for name in TARGETS if not options.names or any(
        name.removesuffix(".cpp").endswith("/" + wanted.removesuffix(".cpp")) for wanted in options.names)]  # fmt: skip
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            source = root / name
            if not source.is_file():
                print(f"{name}: not there")
                continue
            started = time.monotonic()
            suite = measure(source, root, Path(folder), options)
            missed |= len(suite.passed) < TARGETS[name]
            target = f" (target {TARGETS[name]})" if TARGETS[name] else ""
            seconds = time.monotonic() - started
            note = f"; {suite.note.strip()}" if suite.note else ""
            print(
                f"{name}: {len(suite.passed)} of {len(suite.tests)} pass{target}, in {seconds:.0f} s{note}", flush=True
            )
            if options.failures:
                for test in suite.tests:
                    if test in suite.reasons:
                        print(f"    {test}: {suite.reasons[test]}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
