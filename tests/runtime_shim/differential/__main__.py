"""Command line of the differential test; see the package's docstring."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from . import forked_runs, recording, suite
from .generator import PROFILES, generate
from .program import Program, script

RECORDED = {"documented": 1000, "leaks": 600}


def oracle() -> ModuleType:
    torch = importlib.import_module("torch")
    if not torch.__version__.startswith("2.13."):
        sys.exit(f"the oracle is torch 2.13, not {torch.__version__}: pip install 'guardfix[oracle]'")
    torch.set_num_threads(1)
    return torch


def show(arguments: argparse.Namespace) -> int:
    (program,) = suite.programs(arguments.profile, [arguments.seed])
    print(script(program, module=arguments.module), end="")
    return 0


def record(arguments: argparse.Namespace) -> int:
    torch = oracle()
    made = [
        suite.record(program, torch)
        for profile, count in RECORDED.items()
        for program in suite.programs(profile, range(count))
    ]
    recording.save(made, torch.__version__, arguments.file)
    print(f"{len(made)} programs, {arguments.file.stat().st_size / 1000:.0f} kB: {arguments.file}")
    return 0


def replay(arguments: argparse.Namespace) -> int:
    module = importlib.import_module(arguments.module)
    return _report(recording.load(arguments.file), module, None, arguments)


def live(arguments: argparse.Namespace) -> int:
    torch = oracle()
    module = importlib.import_module(arguments.module)
    seeds = range(arguments.start, arguments.start + arguments.programs)
    profiles = arguments.profile or PROFILES
    drawn = (generate(profile, seed) for seed in seeds for profile in profiles)  # so that the first thousand has all
    return _report(forked_runs.record_all(drawn, torch), module, torch, arguments)


def _noting(nudged: suite.NudgedRuns | None, asked: list[Program]) -> suite.NudgedRuns | None:
    """`nudged`, which notes the programs that it is called for."""
    if nudged is None:
        return None

    def noting(program: Program) -> Any:
        asked.append(program)
        return nudged(program)

    return noting


def _report(
    runs: Iterable[recording.Recording],
    module: ModuleType,
    torch: ModuleType | None,
    arguments: argparse.Namespace,
) -> int:
    total: Counter[str] = Counter()
    rounded: Counter[str] = Counter()
    failures: list[suite.Failure] = []
    began = time.perf_counter()
    nudged = None if torch is None else partial(forked_runs.nudged_runs, torch=torch)
    for item in runs:
        asked: list[Program] = []
        failure = suite.check(item, module, nudged=_noting(nudged, asked))
        total[item.program.profile] += 1
        rounded[item.program.profile] += bool(asked) and failure is None
        if failure is not None:
            failures.append(failure)
            if torch is not None:
                print(f"{item.program.name} {suite.cause(failure)}", file=sys.stderr, flush=True)
        if torch is not None and not sum(total.values()) % 500:
            print(f"{sum(total.values())} programs, {len(failures)} differ", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - began
    groups: dict[str, list[suite.Failure]] = {}
    for failure in failures:
        groups.setdefault(suite.cause(failure), []).append(failure)
    shown: list[recording.Recording] = []
    missed = False
    for profile, count in total.items():
        failed = sum(failure.recording.program.profile == profile for failure in failures)
        rate, target = 1 - failed / count, suite.TARGETS[profile]
        missed = missed or rate < target
        print(
            f"{profile}: {count - failed} of {count} programs agree, {rate:.2%} (target {target:.1%}); "
            f"{rounded[profile]} of them but for numbers that rounding leaves unsettled"
        )
    agreed = sum(total.values()) - len(failures)
    print(f"all: {agreed} of {sum(total.values())} programs agree, {agreed / sum(total.values()):.2%}")
    print(f"{seconds:.1f} s")
    for cause, members in sorted(groups.items(), key=lambda item: -len(item[1]))[: arguments.groups]:
        print(f"\n=== {len(members)} x {cause}")
        example = min(members, key=lambda failure: failure.disagreement.line)
        if torch is not None:
            example = suite.minimised(example, partial(forked_runs.record, torch=torch), module, nudged)
        print(suite.explain(example))
        shown.append(example.recording)
    if torch is not None and arguments.keep:
        recording.keep(shown, torch.__version__)
    if arguments.json:
        rows = [
            {"program": failure.recording.program.name, "line": failure.line, "cause": suite.cause(failure)}
            for failure in failures
        ]
        arguments.json.write_text(json.dumps(rows, indent=1))
    return int(missed)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.runtime_shim.differential", description=__doc__)
    parser.add_argument("--module", default="guardfix.runtime_shim", help="what is compared with torch")
    commands = parser.add_subparsers(required=True)

    command = commands.add_parser("show", help="print one program as a script")
    command.add_argument("profile", choices=PROFILES)
    command.add_argument("seed", type=int)
    command.set_defaults(run=show)

    command = commands.add_parser("record", help="run the suite's programs on torch and store what it did")
    command.add_argument("--file", type=Path, default=recording.FILE)
    command.set_defaults(run=record)

    for name, run, text in (
        ("replay", replay, "compare with the stored runs"),
        ("live", live, "compare with torch itself, and minimise what disagrees"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--groups", type=int, default=10, help="kinds of disagreement to show")
        command.add_argument("--json", type=Path, help="write every disagreement to this file")
        command.set_defaults(run=run)
        if name == "replay":
            command.add_argument("--file", type=Path, default=recording.FILE)
        else:
            command.add_argument("--programs", type=int, default=500, help="programs of each profile")
            command.add_argument("--keep", action="store_true", help="add the minimised programs to found.json.xz")
            command.add_argument("--start", type=int, default=100_000, help="the first seed")
            command.add_argument("--profile", choices=PROFILES, action="append")

    arguments = parser.parse_args(argv)
    status: int = arguments.run(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
