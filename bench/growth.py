#!/usr/bin/env python3
"""How the time of `check` and of `migrate` grows with the sources: in proportion, whatever they look like.

    bench/growth.py [--check-only] [--seconds 0.3] [--times 8] [--limit 1.15] [WORD…]
    bench/growth.py --calls [--size 20] [--limit 1.15] [WORD…]

Each shape of tests/growth/growth_shapes.py (those whose names hold all WORDs) is made large enough to take `--seconds`
of processor time, and then `--times` as large. Prints the larger size, its processor seconds and its peak memory, for a
check and for a check with all fixes applied in memory, and the exponent of the growth: 1 is linear, 2 quadratic. Exit
status 1 when one is above `--limit`. What is above it is measured once more: a machine that is busy disturbs clocks.

With `--calls`, the work is counted in calls of functions, as tests/growth does it, from `--size` to eight times as
much: no clock disturbs that, and it sees nothing of what a single call does.
"""

from __future__ import annotations

import argparse
import math
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import guardfix  # noqa: F401  # before tests/ is searched, which has a folder of that name

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "growth"))

from counted_work import exponent_of  # type: ignore[import-not-found]
from growth_shapes import ALL, Shape, Texts  # type: ignore[import-not-found]

from guardfix.codemods.apply.settling import settle
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.bounded_work import BoundedWork
from guardfix.linter.engine import Options, check
from guardfix.linter.frontends.forked_readers import FileLimits

LARGEST = 6 << 20
"""Bytes of the largest sources that are made."""
MEGABYTES = 3072
"""What a process may take that counts calls."""
LONGEST = 60
"""Processor seconds after which a measurement ends; the growth is then at least what they say."""


def work(folder: str, fixes: bool) -> None:
    report = check([folder], Options(workers=1))
    if fixes:
        settle(fixes_for(report, FixChoice(unsafe=True)))


def measured(texts: Texts, fixes: bool) -> tuple[float, float]:
    """(processor seconds, MB of memory) of the work, in its own process."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
                start = time.process_time()
                work(folder, fixes)
                usage = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                os.write(into, pickle.dumps(usage))
                status = 0
            finally:
                os._exit(status)
        os.close(into)
        with os.fdopen(out, "rb") as pipe:
            data = pipe.read()
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
            return LONGEST, 0
        if not data:
            raise SystemExit(f"the check of {', '.join(list(texts)[:3])} failed")
        seconds, megabytes = pickle.loads(data)
        return seconds, megabytes


def growth(make: Shape, size: int, fixes: bool, seconds: float, times: int) -> tuple[int, float, float, float]:
    """(larger size, its seconds and MB, exponent)."""
    while True:
        texts = make(size)
        before, _ = measured(texts, fixes)
        if before >= seconds or times * sum(map(len, texts.values())) > LARGEST:
            break
        size *= min(4, max(2, int(seconds / before)))
    before = min(before, measured(texts, fixes)[0])
    after, memory = measured(make(times * size), fixes)
    return times * size, after, memory, math.log(after / before, times)


def count_calls(names: Iterable[str], size: int, limit: float) -> int:
    """Print the exponent of each shape by the number of calls; how many are above the limit."""
    work = BoundedWork(FileLimits(seconds=10 * LONGEST, megabytes=MEGABYTES))

    def exponent(name: str) -> float:
        with tempfile.TemporaryDirectory() as folder:
            return float(exponent_of(ALL[name][0], size, Path(folder), doublings=3))

    steep = 0
    for name in names:
        found = work.each(exponent, [name], "the check")
        steep += not found or found[0] > limit
        shown = f"{found[0]:8.2f}{'  TOO STEEP' if found[0] > limit else ''}" if found else work.left_out[name]
        print(f"{name:58} {shown}", flush=True)
    return steep


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--check-only", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--times", type=int, default=8)
    parser.add_argument("--limit", type=float, default=1.15)
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--size", type=int, default=20)
    options = parser.parse_args()
    names = [name for name in ALL if all(word in name for word in options.words)]
    with tempfile.TemporaryDirectory() as folder:  # what is imported and compiled once
        Path(folder, "a.cpp").write_text("void f() { at::AutoNonVariableTypeMode g; }\n")
        Path(folder, "a.py").write_text("import torch\n@torch.no_grad()\nasync def f(x):\n  return x\n")
        work(folder, fixes=True)
    if options.calls:
        steep = count_calls(names, options.size, options.limit)
        print(f"{steep} of {len(names)} shapes grow faster than their size to the power of {options.limit}")
        return 1 if steep else 0
    steep = 0
    print(f"{'shape':58} {'size':>7} {'seconds':>8} {'MB':>5} {'exponent':>8}")
    for name in names:
        make, small = ALL[name]
        for fixes in (False,) if options.check_only else (False, True):
            row = growth(make, small, fixes, options.seconds, options.times)
            if row[3] > options.limit:
                row = min(row, growth(make, small, fixes, options.seconds, options.times), key=lambda one: one[3])
            size, seconds, memory, exponent = row
            bad = exponent > options.limit
            steep += bad
            shown = f"{name}{' (fixes)' if fixes else ''}"
            remark = "  TOO STEEP" if bad else ""
            print(f"{shown:58} {size:7} {seconds:8.2f} {memory:5.0f} {exponent:8.2f}{remark}", flush=True)
    print(f"{steep} shapes grow faster than their size to the power of {options.limit}")
    return 1 if steep else 0


if __name__ == "__main__":
    sys.exit(main())
