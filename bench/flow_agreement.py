#!/usr/bin/env python3
"""Whether the abstract machine and concrete runs agree, on many programs.

    python bench/flow_agreement.py [--programs 1000] [--first 0] [--drawn flow|documented|leaks|long|none]
                                   [--torch PYTHON] [--show 5] [FOLDER…]

Programs are drawn (`flow` are those of tests/linter/flow/drawn, the others those of the shim's differential test, which
draw from all of PyTorch's ops), or are the Python files of the folders. Each runs on the shim, or with `--torch` on an
interpreter that has PyTorch 2.13, and abstractly. What stops a program is taken out, and the rest is compared again.

Printed are how often what PyTorch raises was certain, possible, or unsure for the machine, or was missed; how often
what the machine calls certain raises; and the first programs that disagree, made smaller. Exit status 1: one does.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from guardfix.runtime_shim.cpp.extension_module import bound_to
from tests.linter.flow.drawn import concrete_runs
from tests.linter.flow.drawn.agreement import Compared, Rates, Runner, compared, explained, shrunk_failure
from tests.linter.flow.drawn.child_runs import ChildRuns
from tests.linter.flow.drawn.drawing import draw
from tests.runtime_shim.differential.generator import PROFILES, generate
from tests.runtime_shim.differential.program import script

_COMPILES = "load_inline"
"""What runs for minutes."""


def programs(arguments: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Names and texts."""
    numbers = range(arguments.first, arguments.first + arguments.programs)
    for number in numbers if arguments.drawn != "none" else ():
        if arguments.drawn == "flow":
            yield f"program {number}", draw(number)
        else:
            yield f"{arguments.drawn} {number}", script(generate(arguments.drawn, number))
    for folder in arguments.folder:
        for path in sorted(folder.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if _COMPILES not in text:
                yield str(path), text


def run_all(arguments: argparse.Namespace, runner: Runner) -> int:
    rates = Rates()
    failing: list[tuple[str, Compared]] = []
    began = time.monotonic()
    for name, text in programs(arguments):
        for one in compared(text, runner):
            rates.add(one)
            if any(verdict.failed for verdict in one.verdicts):
                failing.append((name, one))
    print(f"{rates.table()}\n{time.monotonic() - began:.0f} s, {len(failing)} disagree", flush=True)
    for name, one in failing[: arguments.show]:
        print(f"\n{name}\n{explained(shrunk_failure(one, runner))}", flush=True)
    return int(bool(failing))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="*", metavar="FOLDER")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--drawn", choices=("flow", *PROFILES, "none"), default="flow")
    parser.add_argument("--torch", metavar="PYTHON", help="an interpreter that has PyTorch 2.13")
    parser.add_argument("--show", type=int, default=5, help="how many programs that disagree are shown")
    arguments = parser.parse_args()
    child = ChildRuns(arguments.torch) if arguments.torch else None
    sys.argv[1:] = []  # programs may read them
    try:
        with nullcontext() if child else bound_to("guardfix.runtime_shim"):
            return run_all(arguments, child or concrete_runs.run)
    finally:
        if child is not None:
            child.close()


if __name__ == "__main__":
    sys.exit(main())
