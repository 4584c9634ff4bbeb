#!/usr/bin/env python3
"""Times a check that reads everything, one that finds its facts in the cache, and ripgrep, in turn, on one tree.

    bench/cache.py TREE [--runs N]

Needs the extra `bench` (`ripgrep`) beside the Python that runs this. Prints medians of wall and CPU time, the ratios to
`rg -l NAME` pair by pair, and whole-process times for single files. Each cold check writes the cache as well.
Exit status 1 when a target is missed, or when the three checks do not say the same.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

NAME = "AutoNonVariableTypeMode"
BIN = Path(sys.executable).parent
COLD, WARM, ONE_RULE = 10.0, 2.0, 1.5
"""Times ripgrep's."""
FILES = {
    "clean.cpp": ("#include <torch/torch.h>\n\nint main() { return 0; }\n", 15),
    "hit.cpp": (
        '#include <torch/script.h>\nint main() {\n  at::AutoNonVariableTypeMode g;\n  torch::jit::load("m");\n}\n',
        60,
    ),
    "hit.py": ("import torch\n\n\ndef evaluate(model, x):\n    torch.no_grad()\n    return model(x)\n", 180),
}
"""(text, milliseconds that a check of it may take)."""


class Times(NamedTuple):
    """Of one whole process and its children, in seconds."""

    wall: float
    cpu: float
    said: bytes = b""


def timed(command: Sequence[str], environment: Mapping[str, str], folder: str | None = None) -> Times:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    said = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, cwd=folder, env=environment
    ).stdout
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Times(wall, cpu, said)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    if not (BIN / "rg").exists():
        print("not installed: rg; pip install 'guardfix[bench]'", file=sys.stderr)
        return 2
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each process would compile all that it imports
    with tempfile.TemporaryDirectory(prefix="guardfix-bench-") as folder:
        fine = _tree(arguments.tree, arguments.runs, Path(folder, "cache"))
        return 0 if _single_files(Path(folder), arguments.runs) and fine else 1


def _tree(tree: str, runs: int, cache: Path) -> bool:
    check = [str(BIN / "guardfix"), "check", "--isolated", tree]
    commands = {
        "rg -l": [str(BIN / "rg"), "-l", NAME, tree],
        "all rules, cold": [*check, "--select", "ALL"],
        "all rules, warm": [*check, "--select", "ALL"],
        "one rule, warm": [*check, "--select", "GF101"],
    }
    targets = {"all rules, cold": COLD, "all rules, warm": WARM, "one rule, warm": ONE_RULE}
    environment = {**os.environ, "GUARDFIX_CACHE_DIR": str(cache)}
    environment.pop("GUARDFIX_NO_CACHE", None)
    times: dict[str, list[Times]] = {name: [] for name in commands}
    for run in range(runs + 1):
        shutil.rmtree(cache, ignore_errors=True)
        for name, command in commands.items():
            if name == "one rule, warm":  # it asks for other names than all rules do
                timed(command, environment)
            taken = timed(command, environment)
            if run:  # the first round fills the system's own cache of files
                times[name].append(taken)
    fine = True
    for name, values in times.items():
        wall, cpu = (statistics.median(getattr(one, kind) for one in values) for kind in ("wall", "cpu"))
        line = f"{name:16} wall {wall:7.3f} s   cpu {cpu:7.3f} s"
        if name in targets:
            pairs = list(zip(values, times["rg -l"], strict=True))
            by_wall = statistics.median(one.wall / rg.wall for one, rg in pairs)
            by_cpu = statistics.median(one.cpu / rg.cpu for one, rg in pairs)
            line += f"   {by_wall:5.2f} x rg by wall, {by_cpu:5.2f} by cpu (target {targets[name]:g})"
            fine = fine and min(by_wall, by_cpu) <= targets[name]
        print(line)
    same = len({one.said for name in ("all rules, cold", "all rules, warm") for one in times[name]}) == 1
    print(f"cold and warm say {'the same' if same else 'different things'}")
    return fine and same


def _single_files(folder: Path, runs: int) -> bool:
    fine = True
    bare = [timed([sys.executable, "-c", "pass"], os.environ) for _ in range(4 * runs)]
    wall, cpu = (1000 * statistics.median(getattr(one, kind) for one in bare) for kind in ("wall", "cpu"))
    print(f"{'python -c pass':20} wall {wall:5.0f} ms   cpu {cpu:5.0f} ms")
    for name, (text, most) in FILES.items():
        (folder / name).write_text(text)
        for way in ("--no-cache", "cache"):
            environment = {**os.environ, "GUARDFIX_CACHE_DIR": str(folder / "cache of one")}
            environment.pop("GUARDFIX_NO_CACHE", None)
            command = [str(BIN / "guardfix"), "check", name]
            if way == "--no-cache" and name != "clean.cpp":
                command.insert(2, way)
            timed(command, environment, str(folder))
            taken = [timed(command, environment, str(folder)) for _ in range(4 * runs)]
            wall, cpu = (1000 * statistics.median(getattr(one, kind) for one in taken) for kind in ("wall", "cpu"))
            print(f"{name:10} {way:10} wall {wall:5.0f} ms   cpu {cpu:5.0f} ms (target {most})")
            fine = fine and min(wall, cpu) <= most
    return fine


if __name__ == "__main__":
    sys.exit(main())
