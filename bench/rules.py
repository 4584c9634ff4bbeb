#!/usr/bin/env python3
"""Times all C++ rules over a tree of a given size, made of the files of a real one.

    bench/rules.py TREE [--files 40000] [--guards 1500] [--runs 3]

Hard links of TREE's C++ files, under new names where TREE has too few, make a tree with `--files` files of which
`--guards` mention a guard. Each run is a whole process without any cache of guardfix's own. Prints the median, what
the byte search alone takes, and what each part costs in one process. Exit status 1 when the target is missed.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from guardfix.linter.analysis.project import Project
from guardfix.linter.files.discovery import find_files
from guardfix.linter.files.search import candidates
from guardfix.linter.files.search_terms import recorded
from guardfix.linter.frontends.extraction import extract_file
from guardfix.linter.prefilter import needles_of
from guardfix.linter.rule import select_rules

TARGET = 5.0


def grow(tree: Path, folder: Path, files: int, guards: int) -> tuple[int, int]:
    """Fill `folder` with links to the tree's C++ files; returns how many there are, and how many mention a guard."""
    paths = list(find_files([str(tree)], respect_gitignore=False).files["cpp"])
    holding = {path for path, trouble in candidates(paths, recorded("cpp").needles) if not trouble}
    others = [path for path in paths if path not in holding]
    if not holding or not others:
        raise SystemExit(f"{tree}: holds no C++ files with and without guards to make a tree of")
    _link(sorted(holding), folder, guards)
    _link(others, folder, files - guards)
    return files, guards


def _link(paths: Sequence[str], folder: Path, count: int) -> None:
    for number, path in zip(range(count), itertools.cycle(paths), strict=False):
        place = folder / f"part_{number % 200:03}"
        place.mkdir(parents=True, exist_ok=True)
        name = place / f"{number:05}_{os.path.basename(path)}"
        try:
            os.link(os.path.realpath(path), name)
        except OSError:
            shutil.copy(path, name)


def timed(command: Sequence[str]) -> tuple[float, float]:
    """Wall seconds, and processor seconds with its children, of one whole process; its output is thrown away."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, text=True)
    wall = time.perf_counter() - start
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def parts(folder: Path) -> Iterable[tuple[str, float]]:
    """Processor seconds of each step in this one process."""
    rules = [rule for rule in select_rules(("ALL",)) if "cpp" in rule.languages]
    start = time.process_time()
    paths = find_files([str(folder)]).files["cpp"]
    yield "walk", time.process_time() - start
    start = time.process_time()
    found = [path for path, trouble in candidates(paths, needles_of(rules, "cpp")) if not trouble]
    yield f"byte search ({len(found)} files hold a needle)", time.process_time() - start
    start = time.process_time()
    project = Project(facts for path in found if (facts := extract_file(path, "cpp")) is not None)
    yield "facts", time.process_time() - start
    for rule in rules:
        start = time.process_time()
        number = sum(1 for facts in project for _ in rule.findings(facts, project))
        yield f"{rule.code} ({number} findings)", time.process_time() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--files", type=int, default=40_000)
    parser.add_argument("--guards", type=int, default=1_500)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.tree.resolve().parent) as made:
        folder = Path(made)
        files, guards = grow(arguments.tree, folder, arguments.files, arguments.guards)
        command = [
            sys.executable,
            "-m",
            "guardfix",
            "check",
            made,
            "--isolated",
            "--select",
            "ALL",
            "--quiet",
            "--no-cache",
        ]
        runs = [timed(command) for _ in range(arguments.runs)]
        median = statistics.median(wall for wall, _ in runs)
        work = statistics.median(processor for _, processor in runs)
        print(f"{files} files, {guards} of them mention a guard; {len(os.sched_getaffinity(0))} processors")
        shown = ", ".join(f"{wall:.2f}" for wall, _ in runs)
        print(f"all rules: median {median:.2f} s of {shown} (target {TARGET:.0f} s); {work:.2f} s of processor time")
        for name, seconds in parts(folder):
            print(f"  {seconds:7.3f} s  {name}")
    return 0 if median <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
