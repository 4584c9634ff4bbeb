"""Records what each test of a project does, and how it ends, whatever runs the tests.

The tests run on the shim or, where `GUARDFIX_TEST_BACKEND` is `torch`, on the installed PyTorch.

`GUARDFIX_RECORDING_FOLDER` names the folder for the recordings, one file for each process. The events are those of
`trace_events`, and these:

    {"event": "test", "name": "tests/test_ops.py::test_scale[2]", "began": 12.5, "guards": {…}}
                                                    what follows belongs to this test; what was counted before it
    {"event": "collected", "names": [ … ]}          the tests that are to run
    {"event": "outcome", "name": …, "outcome": "failed", "message": "RuntimeError: …"}
    {"event": "reached", "name": …, "guards": {"3": [2, 5]}}     guards that it entered, how often, and the ops below

Guards are counted if the environment names a table (see `guard_table`): in one of the process's own, beside the
recording.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from . import guard_table
from .program_execution import seed_generators
from .trace_events import Writer

TEST_BACKEND = "GUARDFIX_TEST_BACKEND"
FOLDER = "GUARDFIX_RECORDING_FOLDER"
ONLY = "GUARDFIX_ONLY_TESTS"
"""Names a file with the names of the tests that are run; without it, all are."""
RECORDED = "GUARDFIX_RECORDED_PROCESS"
"""Set where a process records its tests, so that those that it starts know."""


class TestRecorder:
    """Writes the events of one process's tests to one file in the folder."""

    __test__ = False  # pytest: this is not a test

    def __init__(self, folder: str) -> None:
        path = Path(folder) / f"{os.getpid()}.jsonl"
        os.environ[RECORDED] = str(os.getpid())
        self.writer = Writer(open(path, "w", encoding="utf-8"))  # noqa: SIM115 - open as long as the process runs
        self.table = _table_beside(path)
        self.side = (_OnTorch if os.environ.get(TEST_BACKEND) == "torch" else _OnShim)(self.writer, self.table)
        # Copies have counters whether or not anything is counted.
        self._within_reach = guard_table.within_reach(self.table)
        self._within_reach.__enter__()

    @staticmethod
    def is_wanted(name: str) -> bool:
        """Whether the test of this name is to run."""
        wanted = _wanted_names()
        return wanted is None or name in wanted

    @contextmanager
    def test(self, name: str) -> Iterator[None]:
        """What is recorded within belongs to the test of this name."""
        self.writer.close()  # each test may be as long as a program
        before = self._counts()
        # Of a test within which the process ends, this is all that tells what it entered, and for how long it ran.
        counted = {number: count for number, count in enumerate(before) if any(count)}
        self.writer.write("test", name=name, began=time.monotonic(), guards=counted)
        with self.side.test():
            yield
        reached = {
            number: (count.entered - before[number].entered, count.ops - before[number].ops)
            for number, count in enumerate(self._counts())
            if count != before[number]
        }
        if reached:
            self.writer.write("reached", name=name, guards=reached)

    def collected(self, names: Sequence[str]) -> None:
        """These tests are to run: what becomes of none of them is a test that never began."""
        self.writer.write("collected", names=names)

    def ended(self, name: str, outcome: str, message: str) -> None:
        self.writer.write("outcome", name=name, outcome=outcome, message=message)

    def _counts(self) -> list[guard_table.GuardCount]:
        return [] if self.table is None else self.table.counts()


class _OnShim:
    """Recording on the shim."""

    def __init__(self, writer: Writer, table: guard_table.GuardTable | None) -> None:
        import guardfix.runtime_shim as shim

        from ..cpp import torch_backend
        from .recorder import Recorder, RecordingBackend, watching

        self.torch = shim
        self.recorder = Recorder(writer, table=table)
        backend = RecordingBackend(guard_table=table)
        backend.recorder = self.recorder
        torch_backend.use(backend)
        # From now on, so that what a test module imports by name is watched as well.
        self._watching = watching(self.recorder)
        self._watching.__enter__()

    @contextmanager
    def test(self) -> Iterator[None]:
        self.recorder.start_over()
        seed_generators(self.torch)
        yield


class _OnTorch:
    """Recording on the installed PyTorch."""

    def __init__(self, writer: Writer, table: guard_table.GuardTable | None) -> None:
        from .real_torch import ready_to_record

        self.writer, self.table = writer, table
        self.torch = ready_to_record()

    @contextmanager
    def test(self) -> Iterator[None]:
        from .real_torch import recording

        seed_generators(self.torch)
        with recording(self.writer, None, self.table):
            yield


@cache
def _wanted_names() -> frozenset[str] | None:
    path = os.environ.get(ONLY)
    return frozenset(json.loads(Path(path).read_text(encoding="utf-8"))) if path else None


def _table_beside(path: Path) -> guard_table.GuardTable | None:
    """A table for this process alone, of the size of the one that the environment names."""
    named = os.environ.get(guard_table.VARIABLE)
    if not named:
        return None
    own = path.with_suffix(".table")
    guard_table.make_table(own, max(0, len(guard_table.read_table(Path(named))) - 1))
    os.environ[guard_table.VARIABLE] = str(own)
    return guard_table.GuardTable(str(own))
