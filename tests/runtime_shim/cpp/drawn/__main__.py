"""Command line of the drawn C++ programs; see the package's docstring."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from . import corpus
from .building import Printed, Run, on_shim, on_torch, printed_by, printed_without, source_text
from .comparing import Difference, cause, first_difference, kept, shortest
from .generator import PROFILES, generate
from .scene import CppProgram


def show(arguments: argparse.Namespace) -> int:
    print(source_text([generate(arguments.seed, arguments.profile)]))
    return 0


def _printed_by_both(torch: Run, shim: Run, index: int, left_out: list[list[int]]) -> Iterable[tuple[Printed, Printed]]:
    return zip(printed_without(torch, index, left_out), printed_without(shim, index, left_out), strict=True)


def live(arguments: argparse.Namespace) -> int:
    began = time.perf_counter()
    compared = ended = 0
    groups: dict[str, list[tuple[CppProgram, Difference, str]]] = {}
    with contextlib.ExitStack() as opened:
        name = arguments.folder or opened.enter_context(tempfile.TemporaryDirectory())
        for start in range(arguments.start, arguments.start + arguments.programs, arguments.together):
            last = min(start + arguments.together, arguments.start + arguments.programs)
            programs = [generate(seed, arguments.profile) for seed in range(start, last)]
            source = Path(name) / f"{arguments.profile}_{start}.cpp"
            text = source_text(programs)
            if not source.exists() or source.read_text(encoding="utf-8") != text:
                source.write_text(text, encoding="utf-8")
            torch, shim = on_torch(source), on_shim(source)
            pairs = zip(programs, printed_by(torch, programs), printed_by(shim, programs), strict=True)
            for index, (program, expected, got) in enumerate(pairs):
                if expected is None:
                    ended += 1
                    continue
                compared += 1
                found = (
                    Difference(0, "outcome", "", "the process ends")
                    if got is None
                    else first_difference(expected, got, program)
                )
                if found is None:
                    continue
                group = groups.setdefault(cause(found, program), [])
                if not group and got is not None and len(groups) <= arguments.groups:
                    left_out = shortest(program, found, partial(_printed_by_both, torch, shim, index))
                    program = kept(program, left_out)
                    (shown,) = printed_without(torch, index, [sorted(left_out)])
                    expected = shown or expected
                group.append((program, found, expected))
            print(f"{compared} compared, {sum(map(len, groups.values()))} differ", file=sys.stderr, flush=True)
    failed = sum(map(len, groups.values()))
    print(
        f"{compared - failed} of {compared} programs agree, {1 - failed / compared:.2%}; {ended} ended libtorch's process"
    )
    print(f"{time.perf_counter() - began:.0f} s")
    for text, members in sorted(groups.items(), key=lambda item: -len(item[1]))[: arguments.groups]:
        program, found, _ = members[0]
        print(f"\n=== {len(members)} x {text}\nseeds {' '.join(str(m[0].seed) for m in members[:10])}")
        print("\n".join(program.lines))
        print(found)
    if arguments.keep:
        corpus.keep([(members[0][0], members[0][2]) for members in groups.values()])
    return int(failed > 0)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.runtime_shim.cpp.drawn", description=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("show", help="print one program as a source file")
    command.add_argument("seed", type=int)
    command.set_defaults(run=show)
    command = commands.add_parser("live", help="compare with libtorch, and shorten what disagrees")
    command.add_argument("--programs", type=int, default=1000)
    command.add_argument("--start", type=int, default=100_000, help="the first seed")
    command.add_argument("--together", type=int, default=250, help="programs of one source file")
    command.add_argument("--groups", type=int, default=20, help="kinds of disagreement to show")
    command.add_argument("--folder", type=Path, help="where source files and binaries are kept")
    command.add_argument("--keep", action="store_true", help="add the shortened programs to found.txt")
    command.set_defaults(run=live)
    for command in commands.choices.values():
        command.add_argument("--profile", choices=PROFILES, default="plain", help="wide: with more kinds of statements")
    arguments = parser.parse_args(argv)
    status: int = arguments.run(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
