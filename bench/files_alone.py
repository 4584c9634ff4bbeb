#!/usr/bin/env python3
"""Compares what is decided in a file that is checked alone with what is decided in its whole tree.

    bench/files_alone.py TREE... [--project]

A file alone may be less sure, never surer; where it comes to another context, its evidence has to say that the rest of
the project wasn't looked at. With `--project` the file is checked with its tree named as the project. Prints each use
that breaks this, how many are less sure, and the slowest file. Exit status 1 when one breaks it.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from guardfix.linter.engine import Options, check
from guardfix.linter.findings import Finding

_SURE = {"low": 1, "medium": 2, "high": 3}


def _said(finding: Finding) -> tuple[str, int]:
    """Context and sureness; nothing is sure where nothing is decided."""
    assert finding.decision is not None
    context = finding.decision.context.value
    return context, 0 if context == "unknown" else _SURE[finding.decision.confidence.value]


def _decided(paths: list[str], options: Options) -> dict[tuple[object, ...], Finding]:
    found = check(paths, options).findings
    return {(one.path, one.span): one for one in found if one.code == "GF101" and one.decision is not None}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--project", action="store_true", help="name the tree as the project")
    arguments = parser.parse_args()
    uses = less_sure = broken = 0
    slowest = (0.0, "")
    for tree in arguments.trees:
        options = Options(select=("GF101",), project=str(tree) if arguments.project else "")
        whole = _decided([str(tree)], options)
        for path in sorted({one.path for one in whole.values()}):
            begun = time.perf_counter()
            alone = _decided([path], options)
            slowest = max(slowest, (time.perf_counter() - begun, path))
            for place, one in alone.items():
                if place not in whole or one.decision is None:
                    continue
                uses += 1
                (context, sure), (expected, most) = _said(one), _said(whole[place])
                less_sure += (context, sure) != (expected, most)
                noted = one.decision.evidence[-1:] and one.decision.evidence[-1].signal == "part-of-project"
                wrong = sure > most or (sure > 0 and context != expected and not noted)
                if wrong:
                    broken += 1
                    row = Path(path).read_bytes()[: one.span.start].count(b"\n") + 1
                    print(f"{path}:{row}: {context} ({sure}) alone, {expected} ({most}) in its tree")
    print(f"{uses} uses, {less_sure} less sure alone, {broken} not as they should be")
    print(f"slowest file: {slowest[0]:.2f} s, {slowest[1]}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
