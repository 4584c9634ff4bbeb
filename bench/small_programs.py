#!/usr/bin/env python3
"""How long `guardfix run` takes for a small C++ program: the first, the next ones, and one that is compiled already.

    python bench/small_programs.py [--programs 5]

The cache is a new one, and guardfix's modules are compiled, as pip compiles them. Between the first program and the
second the script waits until the large header is precompiled, which goes on behind the first. Prints the time of the
first, and the medians of the others. Exit status 1: the first takes more than 1.5 s, a next one more than 0.8 s, or a
compiled one more than 0.2 s. Times are wall time: leave the machine alone meanwhile, or look at the processor time,
which is printed for the compiled one.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """\
#include <torch/torch.h>
#include <iostream>
int main() {{
  c10::InferenceMode guard;
  auto x = torch::full({{3}}, {number});
  std::cout << (x * 2).sum().item<float>() << std::endl;
}}
"""
TARGETS = {"first": 1.5, "next": 0.8, "compiled": 0.2}


def seconds(program: Path, cache: Path) -> float:
    started = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "guardfix", "run", str(program)],
        env=os.environ | {"GUARDFIX_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": ""},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.monotonic() - started


def compile_modules() -> None:
    """Writes the bytecode of all of guardfix: an editable installation has it of what was imported once, at most."""
    import guardfix.codemods
    import guardfix.linter
    import guardfix.runtime_shim

    for package in (guardfix, guardfix.codemods, guardfix.linter, guardfix.runtime_shim):
        for folder in package.__path__:
            compileall.compile_dir(folder, quiet=2)


def processor_seconds() -> float:
    """What the processes that have ended took of the processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=5)
    count = parser.parse_args().programs
    processor: list[float] = []
    times: dict[str, list[float]] = {name: [] for name in TARGETS}
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        programs = [Path(folder) / f"program_{number}.cpp" for number in range(count + 1)]
        for number, program in enumerate(programs):
            program.write_text(PROGRAM.format(number=number))
        compile_modules()
        times["first"].append(seconds(programs[0], cache))
        while list(cache.glob("programs/unfinished/*")):
            time.sleep(0.1)
        for program in programs[1:]:
            times["next"].append(seconds(program, cache))
            before = processor_seconds()
            times["compiled"].append(seconds(program, cache))
            processor.append(processor_seconds() - before)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    for name, median in medians.items():
        print(f"{name}: {median:.2f} s (target {TARGETS[name]} s)")
    print(f"compiled, processor time: {statistics.median(processor):.2f} s, lowest {min(processor):.2f} s")
    return 1 if any(medians[name] > target for name, target in TARGETS.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
