"""Runs of PyTorch in a child process: a few of the programs that are drawn end PyTorch with a segmentation fault."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from types import ModuleType
from typing import TypeVar

from . import rounding, suite
from .program import Program
from .recording import Recording
from .runner import Step, run

T = TypeVar("T")
BATCH = 50


def record(program: Program, torch: ModuleType) -> Recording | None:
    """What PyTorch does, or None if it doesn't live through it."""
    found = _in_child([program], torch)
    return found[0] if found else None


def record_all(programs: Iterable[Program], torch: ModuleType) -> Iterator[Recording]:
    """The runs of those programs that PyTorch lives through."""
    left = iter(programs)
    while batch := list(islice(left, BATCH)):
        found = _in_child(batch, torch)
        yield from found or (run for program in batch if (run := record(program, torch)) is not None)


def nudged_runs(program: Program, torch: ModuleType) -> list[tuple[Step, ...]] | None:
    """What PyTorch does where it rounds otherwise, `rounding.RUNS` times."""

    def run_all() -> list[tuple[Step, ...]]:
        modes = [rounding.nudging_mode(torch, seed) for seed in range(rounding.RUNS)]
        return [run(program, torch, watch=suite.watch_of(program), inside=mode) for mode in modes]

    return _called_in_child(run_all)


def _in_child(programs: list[Program], torch: ModuleType) -> list[Recording] | None:
    return _called_in_child(lambda: [suite.record(program, torch) for program in programs])


def _called_in_child(call: Callable[[], T]) -> T | None:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException), os.fdopen(writing, "wb") as pipe:
            pickle.dump(call(), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    found: T | None = pickle.loads(text) if text and not status else None
    return found
