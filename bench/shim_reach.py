#!/usr/bin/env python3
"""The functions of the runtime shim that no program and no test executes, by file, with their lines.

    python bench/shim_reach.py [FOLDER…] [--tests PATH…] [--names] [--timeout 120] [--data DIR] [--record]

Runs every program fixture, the programs of each FOLDER (C++ files with a main and Python scripts that use torch, found
as `guardfix verify` finds them) and the tests of each PATH, a folder or file of pytest's, all on the shim and under
coverage. Ops that C++ calls run Python kernels, so they count as well. A program that fails or is stopped counts for
what it executed, unless it ends by a signal, as C++ does at an exception that leaves main. Prints the lines of
unreached functions in each file, whether that is all of its functions, and the totals; with `--names` the functions as
well. `--record` writes the files that were reached to tests/reached_files.txt. Coverage's data are kept in the folder
`--data`, and those of earlier runs there are counted too.

Don't run it on programs that you don't trust: they aren't contained.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import coverage

import guardfix.runtime_shim
from guardfix.verify.programs.program_discovery import find_programs

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "tests" / "reached_files.txt"
SHIM = Path(guardfix.runtime_shim.__path__[0]).resolve()
ON_THE_SHIM = """\
import sys
from guardfix.runtime_shim.cpp.extension_module import bind_for_good
bind_for_good("guardfix.runtime_shim")
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""
CONFIGURATION = """\
[run]
source = {shim}
data_file = {data}/.coverage
parallel = true
concurrency = thread, multiprocessing
patch = subprocess, _exit
disable_warnings = no-data-collected, module-not-measured, no-ctracer
"""


class Function(NamedTuple):
    """A function of a file: its name with those around it, and the lines of its body."""

    name: str
    first: int
    last: int

    @property
    def lines(self) -> int:
        return self.last - self.first + 1


def functions(path: Path) -> Iterator[Function]:
    """The outermost functions and the methods of a file; one that is defined in another belongs to that."""

    def inside(nodes: list[ast.stmt], prefix: str) -> Iterator[Function]:
        for node in nodes:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield Function(prefix + node.name, node.body[0].lineno, node.end_lineno or node.lineno)
            elif isinstance(node, ast.ClassDef):
                yield from inside(node.body, f"{prefix}{node.name}.")

    yield from inside(ast.parse(path.read_bytes()).body, "")


def run_everything(folders: list[Path], tests: list[Path], data: Path, timeout: float) -> None:
    configuration = data / "coverage.ini"
    configuration.write_text(CONFIGURATION.format(shim=SHIM, data=data))
    measured = [sys.executable, "-m", "coverage", "run", f"--rcfile={configuration}"]
    environment = {**os.environ, "GUARDFIX_YES": "1"}
    programs = find_programs([str(folder) for folder in folders], respect_gitignore=False)
    programs = sorted(programs, key=lambda program: not program.is_python)  # which are quick
    # With an option, the command ends as Python does, and coverage's data are written.
    run = [*measured, "-m", "guardfix", "run", "--std", "c++17"]
    runs = [(program.path.parent, [*run, str(program.path)]) for program in programs]
    starter = data / "on_the_shim.py"
    starter.write_text(ON_THE_SHIM)
    for path in tests:
        folder = path if path.is_dir() else path.parent
        runs.append((folder, [*measured, str(starter), "-q", "-p", "no:cacheprovider", str(path)]))
    for number, (folder, command) in enumerate(runs, 1):
        print(f"{number} of {len(runs)}: {command[-1]}", file=sys.stderr, flush=True)
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, timeout=timeout,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            print("  stopped: its time was up", file=sys.stderr)
            continue
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            print(f"  status {done.returncode}: {last[:160]}", file=sys.stderr)


def report(data: Path, *, names: bool, record: bool) -> None:
    measurement = coverage.Coverage(data_file=str(data / ".coverage"), config_file=False)
    measurement.combine([str(data)], keep=True)
    measured = measurement.get_data()
    executed = {Path(name).resolve(): set(measured.lines(name) or ()) for name in measured.measured_files()}
    all_functions = all_lines = unreached_functions = unreached_lines = 0
    rows = []
    for path in sorted(SHIM.rglob("*.py")):
        found = list(functions(path))
        lines = executed.get(path, set())
        missed = [f for f in found if not any(f.first <= line <= f.last for line in lines)]
        all_functions, unreached_functions = all_functions + len(found), unreached_functions + len(missed)
        all_lines += len(path.read_bytes().splitlines())
        unreached_lines += sum(f.lines for f in missed)
        if missed:
            rows.append((sum(f.lines for f in missed), path, len(missed) == len(found), missed))
    if record:
        unreached = {path for _, path, whole, _ in rows if whole}
        reached = (path for path in sorted(SHIM.rglob("*.py")) if path not in unreached and list(functions(path)))
        RECORD.write_text("".join(f"{path.relative_to(SHIM).as_posix()}\n" for path in reached), encoding="utf-8")
    for lost, path, whole, missed in sorted(rows, key=lambda row: (-row[0], row[1])):
        what = "all" if whole else f"{len(missed)}"
        print(f"{lost:5} lines  {path.relative_to(SHIM)}: {what} functions")
        if names:
            for function in missed:
                print(f"      {function.first:5}  {function.name} ({function.lines})")
    print(f"{unreached_functions} of {all_functions} functions are unreached, {unreached_lines} of {all_lines} lines")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--tests", action="append", nargs="+", type=Path, default=[], metavar="PATH")
    parser.add_argument("--names", action="store_true", help="also name the functions")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one program or test file")
    parser.add_argument("--data", type=Path, help="keep coverage's data in this folder, and count what is there")
    parser.add_argument("--record", action="store_true", help="write tests/reached_files.txt")
    parser.add_argument("--only-report", action="store_true", help="run nothing, count what is in --data")
    options = parser.parse_args()
    fixtures = [ROOT / "fixtures" / name for name in ("cpp_programs", "python_programs")]
    folders = [*fixtures, *(folder.resolve() for folder in options.folders)]
    tests = [path.resolve() for given in options.tests for path in given]
    with tempfile.TemporaryDirectory() as temporary:
        data = (options.data or Path(temporary)).resolve()
        data.mkdir(parents=True, exist_ok=True)
        if not options.only_report:
            run_everything(folders, tests, data, options.timeout)
        report(data, names=options.names, record=options.record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
