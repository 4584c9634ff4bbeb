#!/usr/bin/env python3
"""Kills `migrate --apply` at each system call that it makes while it writes a file, by strace.

    bench/killed_writes.py [--signal KILL]

A run under strace tells which calls are made from the opening of the temporary file to the end. Then there is a run for
each of these, which gets the signal as it enters the call. After each, the file must be the old or the new one, and
another run must make it the new one and leave nothing beside it. Prints the calls; exit status 1 when a file was torn.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "faults"))

from test_killed_writes import APPLY, OLD, assert_whole_and_clean  # type: ignore[import-not-found]

_CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)")
_STRACE = ["strace", "-f", "-qq"]


def calls_of_the_write(folder: Path) -> Iterator[tuple[str, int]]:
    """(call, which of its kind in the run it is) from the temporary file on."""
    log = folder.parent / f"{folder.name}.log"
    (folder / "a.cpp").write_bytes(OLD)
    subprocess.run([*_STRACE, "-o", str(log), *APPLY], cwd=folder, capture_output=True, check=True)
    seen: Counter[str] = Counter()
    writing = False
    for line in log.read_text(errors="replace").splitlines():
        match = _CALL.match(line)
        if match is None:
            continue
        seen[match[1]] += 1
        writing = writing or (match[1].startswith("open") and ".guardfix" in match[2] and "O_CREAT" in match[2])
        if writing:
            yield match[1], seen[match[1]]
    log.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--signal", default="KILL")
    options = parser.parse_args()
    killed: Counter[str] = Counter()
    torn = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "code")
        folder.mkdir()
        for call, when in calls_of_the_write(folder):
            if call in ("exit_group", "exit"):
                continue
            (folder / "a.cpp").write_bytes(OLD)
            inject = ["-e", f"trace={call}", "-e", f"inject={call}:signal={options.signal}:when={when}"]
            done = subprocess.run(
                [*_STRACE, "-o", "/dev/null", *inject, *APPLY], cwd=folder, capture_output=True, check=False
            )
            killed[call] += done.returncode != 0
            try:
                assert_whole_and_clean(folder)
            except AssertionError as error:
                torn += 1
                print(f"{call} number {when}: {error}", flush=True)
    for call, count in sorted(killed.items()):
        print(f"{call:16} {count:4}")
    print(f"{killed.total()} runs killed by SIG{options.signal}, {torn} files torn or not cleaned up")
    return 1 if torn or not killed.total() else 0


if __name__ == "__main__":
    sys.exit(main())
