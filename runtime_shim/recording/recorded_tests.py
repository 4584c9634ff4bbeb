"""A pytest plugin: records what each test of a project does on the shim, and how it ends.

`PYTEST_PLUGINS` names this module, so that it is there whatever command starts pytest, and in each of its workers;
`GUARDFIX_RECORDING_FOLDER` names the folder for the recordings, one file for each process. The events are those of
`trace_events`, and these:

    {"event": "test", "name": "tests/test_ops.py::test_scale[2]", "began": 12.5, "guards": {…}}
                                                    what follows belongs to this test; what was counted before it
    {"event": "outcome", "name": …, "outcome": "failed", "message": "RuntimeError: …"}
    {"event": "reached", "name": …, "guards": {"3": [2, 5]}}     guards that it entered, how often, and the ops below

Guards are counted if the environment names a table (see `guard_table`): in one of the process's own, beside the
recording.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import guardfix.runtime_shim as shim

from ..cpp import chosen_backend
from . import guard_table
from .program_execution import seed_generators
from .recorder import Recorder, watching
from .recording_backend import RecordingBackend
from .trace_events import Writer

FOLDER = "GUARDFIX_RECORDING_FOLDER"


class TestRecorder:
    """Writes the events of one process's tests to one file."""

    __test__ = False  # pytest: this is not a test

    def __init__(self, path: Path) -> None:
        self.writer = Writer(open(path, "w", encoding="utf-8"))  # noqa: SIM115 - open as long as the process runs
        self.table = _table_beside(path)
        self.recorder = Recorder(self.writer, table=self.table)
        backend = RecordingBackend(guard_table=self.table)
        backend.recorder = self.recorder
        chosen_backend.use(backend)
        # From now on, so that what a test module imports by name is watched as well.
        self._watching = watching(self.recorder)
        self._watching.__enter__()
        # Copies have counters whether or not anything is counted.
        self._within_reach = guard_table.within_reach(self.table)
        self._within_reach.__enter__()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        self.writer.close()  # each test may be as long as a program
        self.recorder.start_over()
        before = self._counts()
        # Of a test within which the process ends, this is all that tells what it entered, and for how long it ran.
        counted = {number: count for number, count in enumerate(before) if any(count)}
        self.writer.write("test", name=item.nodeid, began=time.monotonic(), guards=counted)
        seed_generators(shim)
        outcome: Any = yield
        reached = {
            number: (count.entered - before[number].entered, count.ops - before[number].ops)
            for number, count in enumerate(self._counts())
            if count != before[number]
        }
        if reached:
            self.writer.write("reached", name=item.nodeid, guards=reached)
        return outcome

    def _counts(self) -> list[guard_table.GuardCount]:
        return [] if self.table is None else self.table.counts()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.writer.write("outcome", name=report.nodeid, outcome=_outcome(report), message=_message(report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.writer.write("outcome", name=report.nodeid, outcome="error", message=_message(report))


def _table_beside(path: Path) -> guard_table.GuardTable | None:
    """A table for this process alone, of the size of the one that the environment names."""
    named = os.environ.get(guard_table.VARIABLE)
    if not named:
        return None
    own = path.with_suffix(".table")
    guard_table.make_table(own, max(0, len(guard_table.read_table(Path(named))) - 1))
    os.environ[guard_table.VARIABLE] = str(own)
    return guard_table.GuardTable(str(own))


def _outcome(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return "xpassed" if report.outcome == "passed" else "xfailed"
    return "error" if report.failed and report.when != "call" else str(report.outcome)


def _message(report: pytest.TestReport | pytest.CollectReport) -> str:
    """What ended a test that did not pass: the error and what it says."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return str(crash.message)[:2000]
    if isinstance(report.longrepr, tuple):  # a skipped test: file, line, reason
        return str(report.longrepr[2])
    return "" if report.longrepr is None else str(report.longrepr)[-2000:]


def pytest_configure(config: pytest.Config) -> None:
    """pytest calls this; the recorder was made when the module was imported, before any test module."""
    if _recorder is not None:
        config.pluginmanager.register(_recorder, "guardfix-recorder")


def _made() -> TestRecorder | None:
    folder = os.environ.get(FOLDER)
    return None if not folder else TestRecorder(Path(folder) / f"{os.getpid()}.jsonl")


_recorder = _made()
