"""A pytest plugin: records what each test of a project does on the shim, and how it ends.

`PYTEST_PLUGINS` names this module, so that it is there whatever command starts pytest, and in each of its workers. The
events are those of `trace_events`, and these:

    {"event": "test", "name": "tests/test_ops.py::test_scale[2]"}        what follows belongs to this test
    {"event": "outcome", "name": …, "outcome": "failed", "message": "RuntimeError: …"}
    {"event": "guards", "name": …, "counts": [[1, 2, 5]]}                guard 1 was entered twice, with 5 ops below
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import guardfix.runtime_shim as shim

from ..cpp import chosen_backend
from .guard_table import GuardTable, make_table, read_table, within_reach
from .program_execution import seed
from .recorder import Recorder, watching
from .recording_backend import RecordingBackend
from .recording_request import RecordingRequest
from .trace_events import Writer


class TestRecorder:
    """Writes the events of one process's tests to one file."""

    __test__ = False  # pytest: this is no test

    def __init__(self, recording: RecordingRequest) -> None:
        path = Path(recording.folder) / f"{os.getpid()}.jsonl"
        self.writer = Writer(open(path, "w", encoding="utf-8"))  # noqa: SIM115 - open as long as the process runs
        self.counts = path.with_suffix(".guards")
        make_table(self.counts, recording.guards)
        table = GuardTable(str(self.counts))
        recorder = Recorder(self.writer, table=table)
        backend = RecordingBackend(legacy_since19=recording.legacy_since19, guard_table=table)
        backend.recorder = recorder
        chosen_backend.use(backend)
        # From now on, so that what a test module imports by name is watched as well.
        self._inside = contextlib.ExitStack()
        self._inside.enter_context(within_reach(table))
        self._inside.enter_context(watching(recorder))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        self.writer.close()
        self.writer.written = 0  # each test may be as long as a program
        self.writer.write("test", name=item.nodeid)
        seed(shim)
        before = read_table(self.counts)
        outcome: Any = yield
        counts = [
            (number, now.entered - then.entered, now.ops - then.ops)
            for number, (then, now) in enumerate(zip(before, read_table(self.counts), strict=True))
            if now != then
        ]
        self.writer.write("guards", name=item.nodeid, counts=counts)
        return outcome

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.writer.write("outcome", name=report.nodeid, outcome=_outcome(report), message=_message(report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.writer.write("outcome", name=report.nodeid, outcome="error", message=_message(report))


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
    recording = RecordingRequest.told()
    return None if recording is None else TestRecorder(recording)


_recorder = _made()
