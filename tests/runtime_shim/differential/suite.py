"""Runs many programs and counts: live against torch, or against the recording."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType

from .compare import Disagreement, Strictness, disagreements
from .generator import generate
from .observe import COARSE, FINE
from .program import Program, script
from .recording import Recording
from .rounding import unsettled
from .runner import Step, failing_lines, run
from .shrink import shrink

_HALF = re.compile(r"float16|\.half\(")
INTERNAL = "INTERNAL ASSERT FAILED"
TARGETS = {"documented": 0.995, "leaks": 0.99, "long": 0.985}


def watch_of(program: Program) -> str:
    """One program in eight is observed at its end only."""
    return "end" if program.seed % 8 == 7 else "every"


def programs(profile: str, seeds: Iterable[int]) -> Iterator[Program]:
    return (generate(profile, seed) for seed in seeds)


def record(program: Program, torch: ModuleType) -> Recording:
    watch = watch_of(program)
    return Recording(program, watch, run(program, torch, watch=watch))


@dataclass(frozen=True)
class Failure:
    recording: Recording
    disagreement: Disagreement

    @property
    def line(self) -> str:
        return self.recording.program.lines[self.disagreement.line].strip()


#: Runs a program on PyTorch a few times, with other roundings; None if it dies of it.
NudgedRuns = Callable[[Program], "list[tuple[Step, ...]] | None"]


def check(
    recording: Recording, torch: ModuleType, strict: Strictness | None = None, nudged: NudgedRuns | None = None
) -> Failure | None:
    """Compares `torch` with a run of the oracle. In "leaks" programs the versions of gradients count too.

    With `nudged`, numbers that rounding leaves unsettled may differ; it is asked only if there are differences. What
    comes after an internal assertion of PyTorch that fails is not compared.
    """
    if strict is None:
        strict = Strictness(
            grad_versions=recording.program.profile == "leaks",
            edges="create_graph" not in " ".join(recording.program.lines),
            tolerance=COARSE if _HALF.search(" ".join(recording.program.lines)) else FINE,
        )
    got = run(recording.program, torch, watch=recording.watch)
    runs: list[tuple[Step, ...]] | None = None
    for disagreement in disagreements(recording.steps, got, strict):
        if INTERNAL in recording.steps[disagreement.line].outcome or INTERNAL in str(disagreement.expected):
            return None
        if nudged is not None and runs is None:
            runs = nudged(recording.program) or []
        if not runs or not unsettled(disagreement, runs):
            return Failure(recording, disagreement)
    return None


def minimised(
    failure: Failure,
    oracle: Callable[[Program], Recording | None],
    torch: ModuleType,
    nudged: NudgedRuns | None = None,
) -> Failure:
    """The smallest program with a disagreement in the same aspect, both sides run anew; `oracle` runs PyTorch."""
    found = failure

    def still_fails(program: Program) -> bool:
        nonlocal found
        recording = oracle(program)
        again = None if recording is None else check(recording, torch, nudged=nudged)
        if again is None or not _alike(again.disagreement, failure.disagreement):
            return False
        found = again
        return True

    until = failure.disagreement.line + 1
    program = failure.recording.program
    start = replace(program, lines=program.lines[:until])
    if still_fails(start):
        shrink(start, still_fails)
    return found


def _kind(value: object) -> str:
    return value.partition(":")[0] if isinstance(value, str) else type(value).__name__


def _alike(a: Disagreement, b: Disagreement) -> bool:
    if a.aspect != b.aspect:
        return False
    return a.aspect not in ("outcome", "message") or (a.expected, _kind(a.got)) == (b.expected, _kind(b.got))


def explain(failure: Failure) -> str:
    """The disagreement and the program as a script that runs by itself, up to the line where it shows."""
    recording, number = failure.recording, failure.disagreement.line
    program = replace(recording.program, lines=recording.program.lines[: number + 1])
    text = script(program, failing_lines(recording.steps))
    return f"{program.name}, `{failure.line}`\n{failure.disagreement}\n{text}"


_NUMBER = re.compile(r"-?\b\d+(\.\d+)?")
_VARIABLE = re.compile(r"\b[a-z]\b")
_LITERAL = re.compile(r"\[[-\d., \[\]]*\]")


_MISSING = re.compile(r"the shim has no [\w.]+")


def cause(failure: Failure) -> str:
    """A text that is alike for disagreements of likely one cause: the aspect and both messages, or the line
    where there are none, all without numbers and names of variables.
    """
    found = failure.disagreement
    if missing := _MISSING.search(str(found.got)):
        return missing.group()
    if found.aspect in ("outcome", "message"):
        return f"{found.aspect}: {_blurred(found.expected)} | {_blurred(found.got)}"
    return f"{found.aspect}: {_kind(found.expected)} | {_kind(found.got)} | {_blurred(failure.line)}"


def _blurred(text: object) -> str:
    return _NUMBER.sub("#", _VARIABLE.sub("_", _LITERAL.sub("[...]", str(text))))
