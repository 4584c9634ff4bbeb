#!/usr/bin/env python3
"""Times `guardfix check` over a tree against ripgrep and ast-grep on the same tree, in turn.

    bench/scan.py TREE [--runs N] [--rules RULES]

Needs the extra `bench` (`ripgrep`, `ast-grep-cli`) beside the Python that runs this. Prints medians, the ratio to
`rg -l NAME` pair by pair, and peak memory; then whole-process times for one clean file and one file with a
hit, as pre-commit calls it. Exit status 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

NAME = "AutoNonVariableTypeMode"
BIN = Path(sys.executable).parent
RATIO, MEMORY_MB, CLEAN_MS, HIT_MS = 1.5, 150.0, 60.0, 120.0

CLEAN = "#include <torch/torch.h>\n\nint main() { return 0; }\n"
HIT = (
    '#include <torch/script.h>\n\nint main() {{\n  at::{} guard(true);\n  torch::jit::load("m.pt").forward({{}});\n}}\n'
)


def timed(command: Sequence[str], folder: str | None = None) -> float:
    """Wall seconds of one whole process; its output is thrown away."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, cwd=folder)
    return time.perf_counter() - start


def peak_memory(command: Sequence[str]) -> float:
    """Megabytes: the largest sum of resident memory over the process and its children, sampled."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, _resident(process.pid))
        time.sleep(0.005)
    return peak


def _resident(pid: int) -> float:
    """Proportional set size: memory shared by forked children counts once."""
    total = 0.0
    for one in (pid, *_children(pid)):
        try:
            for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) / 1024
        except OSError:
            continue
    return total


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--rules", default="GF101")
    arguments = parser.parse_args()
    ours = [str(BIN / "guardfix"), "check", "--isolated", "--select", arguments.rules, arguments.tree]
    others = {
        "rg -l": [str(BIN / "rg"), "-l", NAME, arguments.tree],
        "ast-grep": [str(BIN / "ast-grep"), "run", "-l", "cpp", "-p", f"at::{NAME} $G;", arguments.tree],
    }
    missing = [command[0] for command in others.values() if not os.path.exists(command[0])]
    if missing:
        print(f"not installed: {', '.join(missing)}; pip install 'guardfix[bench]'", file=sys.stderr)
        return 2
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each process would compile all that it imports
    times: dict[str, list[float]] = {"guardfix": [], **{name: [] for name in others}}
    for run in range(arguments.runs + 1):
        slow_too = run <= 2  # ast-grep parses everything: two runs say enough
        for name, command in {"guardfix": ours, **others}.items():
            if name == "ast-grep" and not slow_too:
                continue
            seconds = timed(command)
            if run:  # the first round warms the page cache
                times[name].append(seconds)
    for name, values in times.items():
        print(f"{name:10} median {statistics.median(values):7.3f} s   min {min(values):7.3f}   max {max(values):7.3f}")
    ratios = [a / b for a, b in zip(times["guardfix"], times["rg -l"], strict=True)]
    ratio = statistics.median(ratios)
    print(f"guardfix / rg -l: median {ratio:.2f} (target {RATIO})")
    print(f"guardfix / ast-grep: {statistics.median(times['guardfix']) / statistics.median(times['ast-grep']):.2f}")
    memory = peak_memory(ours)
    print(f"peak memory {memory:.0f} MB (target {MEMORY_MB:.0f})")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "clean.cpp").write_text(CLEAN)
        Path(folder, "hit.cpp").write_text(HIT.format(NAME))
        clean, hit = (
            statistics.median(timed([ours[0], "check", name], folder) for _ in range(11)) * 1000
            for name in ("clean.cpp", "hit.cpp")
        )
    print(
        f"one clean file {clean:.0f} ms (target {CLEAN_MS:.0f}), one file with a hit {hit:.0f} ms (target {HIT_MS:.0f})"
    )
    return 0 if ratio <= RATIO and memory <= MEMORY_MB and clean <= CLEAN_MS and hit <= HIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
