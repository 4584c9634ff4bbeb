#!/usr/bin/env python3
"""Mutants of the fixtures, many more than the tests look at: nothing may break, hang or change on a second run.

    bench/mutants.py [--count 100000] [--first 0] [--jobs N] [--save [FOLDER]] [FOLDER…]

Prints how many mutants there were, what did not hold and for how many. With --save, each kind of failure is reduced to
a small text in FOLDER, by default that of the fixtures which tests/mutants looks at every day. Exit status 1 when
something did not hold. The mutants are numbered: the same number gives the same text on every machine.

With folders, the mutants are of the files there that name a guard and have no more than 60,000 bytes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections import defaultdict
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "mutants"))

from invariants import broken, reduced  # type: ignore[import-not-found]
from mutations import mutant, real_sources, sources  # type: ignore[import-not-found]

_FOUND = Path(__file__).resolve().parent.parent / "tests" / "mutants" / "found"
_KIND = 40
"""Characters of a failure that tell its kind."""


def _failures(files: list[Path], numbers: range) -> list[tuple[int, str]]:
    found = ((number, broken(*mutant(number, files), twice=True)) for number in numbers)
    return [(number, what) for number, what in found if what]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--save", type=Path, nargs="?", const=_FOUND, metavar="FOLDER")
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    options = parser.parse_args()
    files = [path for folder in options.folders for path in real_sources(folder)] if options.folders else sources()
    print(f"{len(files)} files", flush=True)
    parts = [
        range(start, min(start + 100, options.first + options.count))
        for start in range(options.first, options.first + options.count, 100)
    ]
    start = time.monotonic()
    kinds: dict[str, list[int]] = defaultdict(list)
    with multiprocessing.Pool(options.jobs) as pool:
        for found in pool.imap_unordered(partial(_failures, files), parts):
            for number, what in found:
                kinds[what[:_KIND]].append(number)
                print(f"mutant {number}: {what}", flush=True)
    for kind, numbers in sorted(kinds.items()):
        print(f"{len(numbers):6} x {kind}: mutants {sorted(numbers)[:5]}")
        if options.save:
            name, text = mutant(min(numbers), files)
            options.save.mkdir(parents=True, exist_ok=True)
            path = options.save / f"{min(numbers)}_{name}"
            path.write_bytes(reduced(name, text, broken(name, text, twice=True), twice=True))
            print(f"         reduced to {path}")
    failed = sum(map(len, kinds.values()))
    print(f"{options.count} mutants, {failed} failures, {time.monotonic() - start:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
