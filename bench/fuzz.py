#!/usr/bin/env python3
"""Fuzzes what guardfix reads: C++, Python, .gitignore, configuration, saved files and TorchScript archives.

    bench/fuzz.py [--seconds 90] [--seed N] [TARGET…]

Each target of tests/fuzz/fuzz_targets.py gets an equal part of the seconds, in a process of its own with 3 GB of
address space. An input that fails is reduced by hypothesis and kept in tests/fuzz/corpus, where the everyday tests try
it again; one that ends the process is kept as it is. Exit status 1 when something failed. The same seed tries the same
inputs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fuzz"))

from fuzz_targets import CORPUS, TARGETS, Target  # type: ignore[import-not-found]

ROUND = 100
"""Inputs between two looks at the clock."""
MEMORY = 3 << 30


class Failed(Exception):
    pass


def fuzz(target: Target, start: int, seconds: float, in_hand: Path) -> tuple[int, bytes, str]:
    """(inputs tried, the reduced input that fails, what fails); the input that is being tried is in the file."""
    tried, last, why = 0, b"", ""
    end = time.monotonic() + seconds

    def attempt(data: bytes) -> None:
        nonlocal tried, last, why
        tried += 1
        in_hand.write_bytes(data)
        found = target.failure(data)
        if found:
            last, why = data, found  # the last one that fails is the smallest
            raise Failed(found[:30])

    number = start
    while time.monotonic() < end:
        wanted = settings(
            max_examples=ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink), print_blob=False, report_multiple_bugs=False,
        )  # fmt: skip
        try:
            run_all: Callable[[], None] = seed(number)(wanted(given(target.inputs)(attempt)))  # type: ignore[no-untyped-call]
            run_all()
        except Failed:
            return tried, last, why
        number += 1
    return tried, b"", ""


def run(name: str, start: int, seconds: float) -> bool:
    """Whether nothing failed."""
    target = TARGETS[name]
    with tempfile.TemporaryDirectory() as folder:
        in_hand, out = Path(folder, "input"), Path(folder, "found")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
                tried, data, why = fuzz(target, start, seconds, in_hand)
                in_hand.write_bytes(data)
                out.write_text(f"{tried}\n{why}")
                status = 0
            finally:
                sys.stdout.flush()
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status == 0:
            count, _, why = out.read_text().partition("\n")
            print(f"{name:14} {count:>7} inputs from seed {start}", flush=True)
        else:
            why = f"the process ended with status {os.waitstatus_to_exitcode(status)}"
        if not why:
            return True
        data = in_hand.read_bytes()
        kept = CORPUS / name / f"{hashlib.sha1(data).hexdigest()[:12]}{target.suffix}"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(data)
        print(f"{name:14} {why}\n               kept in {kept}", flush=True)
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], metavar="TARGET")
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = options.targets or list(TARGETS)
    start = options.seed * 1_000_000
    fine = [run(name, start, options.seconds / len(names)) for name in names]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
