#!/usr/bin/env python3
"""Measures the Python rules on a tree of Python files.

    bench/python_rules.py TREE [--repeat 3]

Prints, best of the repeats: all Python rules over the whole tree (its own process, cold imports), the largest file
of about 5,000 lines that holds guards, and one clean file as pre-commit calls it. Exit status 1 when a target is
missed: 10 s for 15,000 files (in proportion to the bytes: 207 MB), 1.5 s, 60 ms.
"""

from __future__ import annotations

import argparse
import ast
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

PYTHON_RULES = "GF101,GF105,GF4,GF501,GF502,GF503,GF504,GF505"
TREE_SECONDS, TREE_BYTES = 10.0, 207e6
LONG_SECONDS, LONG_LINES = 1.5, 5000
CLEAN_SECONDS = 0.060
_GUARD = re.compile(rb"no_grad|inference_mode|enable_grad|set_grad_enabled|NonVariableTypeMode|_AutoDispatchBelow")
_CLEAN = "import torch\n\n\n@torch.no_grad()\ndef evaluate(model, x):\n    return model(x)\n"


class Cost(NamedTuple):
    """Seconds that a command takes: by the clock, and of all processors together."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:.3f} s ({self.cpu:.3f} s of processor time)"


def cost(arguments: list[str], repeat: int) -> Cost:
    """The lowest cost of several runs."""
    runs = []
    for _ in range(repeat):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "guardfix", *arguments, "--no-cache"], capture_output=True, text=True, check=False
        )
        wall = time.perf_counter() - start
        if done.returncode not in (0, 1):
            raise SystemExit(f"guardfix failed: {done.stderr}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        runs.append(Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return min(runs)


def make_long_file(files: list[Path]) -> str:
    """A module of at least 5,000 lines that is made of real ones with guards."""
    lines: list[bytes] = []
    for path in files:
        text = path.read_bytes()
        if len(text.splitlines()) < 1500 and _GUARD.search(text) and b"from __future__" not in text:
            lines += text.splitlines()
        if len(lines) >= LONG_LINES:
            break
    return b"\n".join(lines).decode("utf-8", "replace")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    files = sorted(arguments.tree.rglob("*.py"))
    texts = [(path, path.stat().st_size) for path in files]
    total = sum(size for _, size in texts)
    with_guards = [path for path in files if _GUARD.search(path.read_bytes())]
    print(f"{len(files)} files, {total / 1e6:.0f} MB, {len(with_guards)} with guards")

    tree = cost(["check", "--isolated", "--select", PYTHON_RULES, str(arguments.tree)], arguments.repeat)
    allowed = TREE_SECONDS * max(1.0, total / TREE_BYTES)
    print(f"all Python rules: {tree}, target {allowed:.1f} s; {total / 1e6 / tree.wall:.0f} MB/s")

    with tempfile.TemporaryDirectory() as folder:
        long = Path(folder, "long.py")
        long.write_text(make_long_file(with_guards))
        rows = len(long.read_text().splitlines())
        long_cost = cost(["check", "--isolated", "--select", PYTHON_RULES, str(long)], arguments.repeat)
        ast.parse(long.read_text())  # a file that does not parse would cost nothing
        print(f"a file of {rows} lines: {long_cost}, target {LONG_SECONDS} s")
        clean = Path(folder, "clean.py")
        clean.write_text(_CLEAN)
        clean_cost = cost(["check", str(clean)], arguments.repeat * 3)
        print(f"one clean file: {clean_cost}, target {CLEAN_SECONDS} s")
    met = tree.wall <= allowed and long_cost.wall <= LONG_SECONDS and clean_cost.wall <= CLEAN_SECONDS
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
