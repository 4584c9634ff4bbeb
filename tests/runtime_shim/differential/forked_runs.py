"""Runs of PyTorch in a child process: a few of the programs that are drawn end PyTorch with a segmentation fault."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Iterable, Iterator
from itertools import islice
from types import ModuleType

from . import suite
from .program import Program
from .recording import Recording

BATCH = 20


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


def _in_child(programs: list[Program], torch: ModuleType) -> list[Recording] | None:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException), os.fdopen(writing, "wb") as pipe:
            pickle.dump([suite.record(program, torch) for program in programs], pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    found: list[Recording] | None = pickle.loads(text) if text and not status else None
    return found
