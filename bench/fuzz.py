#!/usr/bin/env python3
"""Fuzzes what guardfix reads: C++, Python, .gitignore, configuration, saved files and TorchScript archives.

    bench/fuzz.py [--seconds 90] [--seed N] [--engine hypothesis|atheris] [--corpus FOLDER] [TARGET…]

Each target of tests/fuzz/fuzz_targets.py gets an equal part of the seconds, in its own process with 3 GB of
address space. An input fails when something doesn't hold for it, when it takes more than 2 seconds of processor time
or 512 MB of memory, or when it ends the process. It is then reduced and kept in tests/fuzz/corpus, where the everyday
tests try it again; one that ends the process is kept as it is. Exit status 1 when something failed.

hypothesis makes inputs by itself: the same seed tries the same ones. atheris (the extra `fuzz`), which is taken where
it is installed, looks for inputs that reach new code, and keeps them in the corpus folder for the next run.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "mutants"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fuzz"))

from fuzz_targets import CORPUS, TARGETS, Target  # type: ignore[import-not-found]
from input_bounds import megabytes_of  # type: ignore[import-not-found]
from reduction import smaller  # type: ignore[import-not-found]

ROOT = Path(__file__).resolve().parent.parent
ROUND = 100
"""Inputs between two looks at the clock."""
ADDRESS_SPACE = 3 << 30
LONGEST = 120
"""Seconds after which an input hangs."""
KIND = 30
"""Characters of a failure that tell its kind."""


class Failed(Exception):
    pass


class Outcome(NamedTuple):
    tried: int
    why: str
    """What failed; empty when nothing did."""
    data: bytes = b""
    """The input that fails."""


def with_hypothesis(target: Target, number: int, seconds: float, in_hand: Path) -> Outcome:
    """The input that is being tried is in the file."""
    tried, last, why = 0, b"", ""
    end = time.monotonic() + seconds

    def attempt(data: bytes) -> None:
        nonlocal tried, last, why
        tried += 1
        in_hand.write_bytes(data)
        signal.alarm(LONGEST)  # ends the process
        found = target.failure(data)
        signal.alarm(0)
        if found:
            last, why = data, found  # the last one that fails is the smallest
            raise Failed(found[:KIND])

    while time.monotonic() < end:
        wanted = settings(
            max_examples=ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink), print_blob=False, report_multiple_bugs=False,
        )  # fmt: skip
        try:
            run_all: Callable[[], None] = seed(number)(wanted(given(target.inputs)(attempt)))  # type: ignore[no-untyped-call]
            run_all()
        except Failed:
            return Outcome(tried, why, last)
        number += 1
    return Outcome(tried, "")


def alone(work: Callable[[Path], Outcome]) -> Outcome:
    """What the work says, done in its own process; it has a file for the input that it is trying."""
    with tempfile.TemporaryDirectory() as folder:
        in_hand, out = Path(folder, "input"), Path(folder, "found")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                # What it is forked from has some of it already.
                limit = ADDRESS_SPACE + int(megabytes_of("VmSize") * (1 << 20))
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
                tried, why, data = work(in_hand)
                in_hand.write_bytes(data)
                out.write_text(f"{tried}\n{why}")
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(status)
        return outcome(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), in_hand, out)


def outcome(status: int, in_hand: Path, out: Path) -> Outcome:
    """What a process has left when it ended."""
    count, _, why = out.read_text().partition("\n") if out.exists() else ("0", "", "")
    if status and not why:
        why = "hangs" if status == -signal.SIGALRM else f"the process ended with status {status}"
    return Outcome(int(count), why, in_hand.read_bytes() if why and in_hand.exists() else b"")


def with_atheris(name: str, number: int, seconds: float, corpus: Path) -> Outcome:
    """A process of its own, whose modules atheris changes as they are imported."""
    corpus.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        in_hand, out = Path(folder, "input"), Path(folder, "found")
        script = [sys.executable, str(ROOT / "bench" / "guided_fuzzing.py"), name, str(int(seconds)), str(number or 1)]
        done = subprocess.run(
            [*script, str(corpus), str(in_hand), str(out)], capture_output=True, text=True, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE)),
        )  # fmt: skip
        found = outcome(done.returncode, in_hand, out)
        if done.returncode and not in_hand.exists():
            raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    if not found.why or done.returncode:
        return found
    target, kind = TARGETS[name], found.why[:KIND]

    def reduced(in_hand: Path) -> Outcome:
        def fails(data: bytes) -> bool:
            in_hand.write_bytes(data)
            signal.alarm(LONGEST)
            return bool(target.failure(data)[:KIND] == kind)

        return Outcome(found.tried, found.why, smaller(found.data, fails, LONGEST))

    again = alone(reduced)
    return again if again.why == found.why else found


def keep(name: str, data: bytes) -> Path:
    kept: Path = CORPUS / name / f"{hashlib.sha1(data).hexdigest()[:12]}{TARGETS[name].suffix}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(data)
    return kept


def run(name: str, number: int, seconds: float, guided: Path | None = None) -> bool:
    """Whether nothing failed. `guided` is the folder of atheris's corpora; without it hypothesis makes the inputs."""
    if guided is not None:
        found = with_atheris(name, number, seconds, guided / name)
    else:
        found = alone(lambda in_hand: with_hypothesis(TARGETS[name], number, seconds, in_hand))
    print(f"{name:14} {found.tried:>7} inputs from seed {number}", flush=True)
    if not found.why:
        return True
    print(f"{name:14} {found.why}\n               kept in {keep(name, found.data)}", flush=True)
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], metavar="TARGET")
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--seed", type=int, default=0)
    has_atheris = importlib.util.find_spec("atheris") is not None
    parser.add_argument(
        "--engine", choices=["hypothesis", "atheris"], default="atheris" if has_atheris else "hypothesis"
    )
    parser.add_argument("--corpus", type=Path, default=ROOT / ".fuzz", metavar="FOLDER")
    options = parser.parse_args()
    names = options.targets or list(TARGETS)
    number = options.seed * 1_000_000 if options.engine == "hypothesis" else options.seed
    guided = options.corpus if options.engine == "atheris" else None
    print(f"driven by {options.engine}", flush=True)
    fine = [run(name, number, options.seconds / len(names), guided) for name in names]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
