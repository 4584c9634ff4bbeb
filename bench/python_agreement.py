#!/usr/bin/env python3
"""Counts where Python's two parsers read a file differently.

    bench/python_agreement.py TREE… [--word NAME]… [--every N]

guardfix finds candidates with `ast` and confirms on libcst's tree what it reports. Here both read every file below the
trees, and everything that a rule could report is compared: which names there are, and for each guard its form, its
place, what is called and what it covers. Trees without PyTorch hold few guards; each `--word` is a name that is taken
for one (by default some that any Python code has in many forms). `--every N` reads every N-th file.

Prints each disagreement, then the numbers. Exit status 1 when there is one.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from guardfix.linter.files.workspace import DISK
from guardfix.linter.frontends.extraction import cores
from tests.parser_agreement import compare_parsers

WORDS = "open Lock suppress contextmanager property wraps dataclass raises skipIf patch subTest fixture".split()


def compare(path: str, words: tuple[str, ...]) -> tuple[str, int, list[str]]:
    """(path, constructs compared, disagreements in words)."""
    source = DISK.read_or_none(path)
    if source is None:
        return path, 0, []
    agreement = compare_parsers(source, words)
    return (
        path,
        agreement.compared,
        [
            f"{path}:{source.row(one.span.start)}: ast reads {one.proposed}, libcst {one.confirmed}"
            for one in agreement.disagreements
        ],
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, nargs="+")
    parser.add_argument("--word", action="append", help="a name that is taken for a guard")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--workers", type=int, default=cores())
    arguments = parser.parse_args()
    files = [str(path) for tree in arguments.tree for path in sorted(tree.rglob("*.py"))][:: arguments.every]
    start = time.perf_counter()
    job = partial(compare, words=tuple(arguments.word or WORDS))
    with ProcessPoolExecutor(arguments.workers) as pool:
        results = []
        for result in pool.map(job, files, chunksize=8):
            results.append(result)
            for line in result[2]:
                print(line, flush=True)
    found = [line for _, _, lines in results for line in lines]
    constructs = sum(count for _, count, _ in results)
    print(
        f"{len(files)} files, {constructs} constructs, {len(found)} disagreements "
        f"in {sum(1 for _, _, lines in results if lines)} files, {time.perf_counter() - start:.0f} s"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
