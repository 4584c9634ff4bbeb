#!/usr/bin/env python3
"""One target of the fuzzer, guided by coverage: what `fuzz.py` starts where atheris is installed.

    bench/guided_fuzzing.py TARGET SECONDS SEED CORPUS IN_HAND FOUND

atheris changes bytes and keeps in CORPUS those that reach new code. Behind a first byte of 1 they are the input itself,
and otherwise the choices from which hypothesis makes an input of the target's strategy. The input that is being tried
is in the file IN_HAND. FOUND gets the number of inputs and, in the next lines, what failed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path
from typing import Any

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fuzz"))

from hypothesis import HealthCheck, find, given, settings

with atheris.instrument_imports(include=["guardfix"]):
    from fuzz_targets import TARGETS, Target  # type: ignore[import-not-found]

LONGEST = 120
"""Seconds after which an input hangs."""
ITSELF = b"\x01"


def attempts(target: Target, in_hand: Path, found: Path) -> Callable[[bytes], None]:
    """What tries one input; when it fails, the process ends."""
    tried = 0

    def attempt(data: bytes) -> None:
        nonlocal tried
        tried += 1
        in_hand.write_bytes(data)
        why = target.failure(data)
        if why or tried % 50 == 0:
            found.write_text(f"{tried}\n{why}")
        if why:
            os._exit(0)

    wanted: Any = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
    chosen: Any = given(target.inputs)
    from_choices = wanted(chosen(attempt)).hypothesis.fuzz_one_input

    def one(data: bytes) -> None:
        if data[:1] == ITSELF:
            attempt(data[1:])
        else:
            from_choices(data[1:])

    return one


def main() -> None:
    name, seconds, seed, *paths = sys.argv[1:]
    target, (corpus, in_hand, found) = TARGETS[name], map(Path, paths)
    for data in target.seeds():
        (corpus / sha1(data).hexdigest()).write_bytes(ITSELF + data)
    with atheris.instrument_imports(include=["guardfix"]):  # what is imported when it is first needed
        target.failure(b"")
        for data in target.seeds()[:3]:
            target.failure(data)
        find(target.inputs, lambda data: not target.failure(data))
    options = [
        f"-max_total_time={seconds}",
        f"-seed={seed}",
        f"-timeout={LONGEST}",
        "-rss_limit_mb=0",
        "-print_final_stats=0",
    ]
    atheris.Setup(
        [sys.argv[0], *options, f"-artifact_prefix={in_hand.parent}/", str(corpus)], attempts(target, in_hand, found)
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
