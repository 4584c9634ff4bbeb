#!/usr/bin/env python3
"""Runs the programs of a folder on the shim, each once, and counts those that run.

    python bench/programs.py FOLDER… [--torch PYTHON] [--build DIR] [--source GLOB] [--include DIR] [--timeout 60]

FOLDER is a checkout of whatever you want to know about, for example of github.com/pytorch/examples (its folder `cpp`).
Programs are C++ files with a main and Python scripts that use torch. Each runs in a copy of its folder, without network
and within limits, as `guardfix verify --model auto` runs it: a model that it loads is made up, and so are images,
CIFAR-10, MNIST, texts and tables that are missing. C++ files that don't include PyTorch don't count. A program counts
as running if it takes at least one step of torch and ends with status 0, or is still computing when its time is up. Of
the others the first reason is printed: the name that the shim lacks, what the compiler says, or how it ended. With
`--torch`, an interpreter that has PyTorch and guardfix, C++ programs that don't run on PyTorch either (for want of
data, arguments, a GPU or a third party's headers) are listed apart and don't count; what PyTorch did is kept
(`--outcomes`). Exit status 1: fewer run than `--cpp-target` (25 of 35) or `--python-target` (80 %) say.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from guardfix.verify.judging.verdicts import status_in_words
from guardfix.verify.program_copies import Settings
from guardfix.verify.programs.program_discovery import Program, find_programs, with_builds
from guardfix.verify.runs.program_runs import Limits, ProgramRun
from guardfix.verify.verifying import run_once


def outcome(run: ProgramRun) -> tuple[bool, str]:
    """Whether a program ran, and what became of it."""
    failure = run.failed
    if failure is not None:
        if failure.get("missing"):
            return False, f"lacks {failure['missing']}"
        lines = failure["message"].splitlines()
        return False, next((line.strip() for line in lines if "error:" in line), lines[0] if lines else failure["kind"])
    if run.timed_out:
        return run.ops > 0, "still running" if run.ops else "does nothing with torch in its time"
    ended = run.first("ended") or {}
    said = ended.get("message") or run.errors.strip().rpartition("\n")[2]
    end = f"{status_in_words(run.status)}{': ' + said if said and run.status else ''}"
    if run.ops == 0:
        return False, f"ends before a step of torch, {end}"
    return run.status == 0, end


def uses_torch(program: Program) -> bool:
    """Whether a file of the program includes PyTorch, or imports it."""
    if program.is_python:
        return True
    pending, seen = [*program.sources], set[Path]()
    while pending:
        path = pending.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)', path.read_text(errors="replace"), re.M):
            if name.partition("/")[0] in ("torch", "ATen", "c10", "c10d"):
                return True
            pending += [folder / name for folder in (path.parent, *program.build.include)]
    return False


class OnPyTorch:
    """What C++ programs do on PyTorch, kept in a file by the contents of what they are made of."""

    def __init__(self, python: str, kept: Path, timeout: float, include: Sequence[str]) -> None:
        self.python, self.path, self.timeout, self.include = python, kept, timeout, include
        self.kept: dict[str, tuple[bool, str]] = json.loads(kept.read_text()) if kept.is_file() else {}

    def outcome(self, program: Program) -> tuple[bool, str]:
        key = hashlib.sha256(b"\0".join(source.read_bytes() for source in program.sources)).hexdigest()
        if key not in self.kept:
            command = [
                self.python,
                __file__,
                "--one",
                str(program.path),
                str(program.root),
                "--timeout",
                f"{self.timeout}",
                *(word for folder in self.include for word in ("--include", folder)),
            ]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            self.kept[key] = json.loads(done.stdout)
            self.path.write_text(json.dumps(self.kept, indent=1))
        return self.kept[key]


def count(programs: Sequence[Program], settings: Settings, *, show_all: bool) -> tuple[int, Counter[str]]:
    """How many programs run, and how often each missing name stopped one; prints a line for each."""
    running, missing = 0, Counter[str]()
    for program in programs:
        ran, words = outcome(run_once(program, settings))
        running += ran
        if words.startswith("lacks "):
            missing[words.removeprefix("lacks ")] += 1
        if show_all or not ran:
            print(f"  {'runs' if ran else 'does not run'}: {program.path}: {words[:160]}", flush=True)
    return running, missing


def that_run(programs: Sequence[Program], on_pytorch: OnPyTorch) -> list[Program]:
    """Those that run on PyTorch; prints a line for each other."""
    found = []
    for program in programs:
        ran, words = on_pytorch.outcome(program)
        if ran:
            found.append(program)
        else:
            print(f"  does not run on PyTorch: {program.path}: {words[:160]}", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--torch", metavar="PYTHON", help="count C++ programs that run on its PyTorch")
    parser.add_argument("--outcomes", type=Path, default=Path("cpp-programs-on-torch.json"))
    parser.add_argument("--one", nargs=2, metavar=("SOURCE", "FOLDER"), help=argparse.SUPPRESS)
    parser.add_argument("--build", action="append", type=Path, default=[])
    parser.add_argument("--source", action="append", default=[])
    parser.add_argument("--include", action="append", type=Path, default=[], help="a folder of a third party's headers")
    parser.add_argument("--exclude", action="append", default=[])
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--list", action="store_true", help="also name the programs that run")
    parser.add_argument("--only", choices=("cpp", "python"), help="leave the others out")
    parser.add_argument("--cpp-target", type=float, default=25 / 35)
    parser.add_argument("--python-target", type=float, default=0.8)
    options = parser.parse_args()
    os.environ["GUARDFIX_YES"] = "1"
    include = tuple(str(folder.resolve()) for folder in options.include)
    settings = Settings(limits=Limits(seconds=options.timeout), model="auto", include=include)
    if options.one:
        source, root = map(Path, options.one)
        [program] = with_builds([Program(source, root, named=False)], options.build, options.source)
        print(json.dumps(outcome(run_once(program, replace(settings, backend="torch")))))
        return 0
    programs: list[Program] = []
    for folder in options.folders:
        found = find_programs([folder], exclude=options.exclude, respect_gitignore=False)
        programs += with_builds(found, options.build, options.source)
    failed = False
    for title, is_python, target in (
        ("C++ mains", False, options.cpp_target),
        ("Python scripts", True, options.python_target),
    ):
        chosen = [program for program in programs if program.is_python is is_python and uses_torch(program)]
        if not chosen or options.only == ("cpp" if is_python else "python"):
            continue
        if options.torch and not is_python:
            on_pytorch = OnPyTorch(options.torch, options.outcomes, options.timeout, include)
            print(f"{title}: {len(chosen)} in all")
            chosen = that_run(chosen, on_pytorch)
        started = time.monotonic()
        running, missing = count(chosen, settings, show_all=options.list)
        share = running / max(1, len(chosen))
        print(f"{title}: {running} of {len(chosen)} run ({share:.0%}, target {target:.0%}), "
              f"in {time.monotonic() - started:.0f} s")  # fmt: skip
        for name, times in missing.most_common(20):
            print(f"  missing {times} times: {name}")
        failed |= share < target
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
