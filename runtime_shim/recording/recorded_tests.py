"""A pytest plugin: records what each test of a project does on the shim, and how it ends (see `process_recorder`).

`PYTEST_PLUGINS` names this module, so that it is there whatever command starts pytest, and in each of its workers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from .process_recorder import FOLDER, TestRecorder


class PytestHooks:
    """What pytest calls."""

    def __init__(self, recorder: TestRecorder) -> None:
        self.recorder = recorder

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        with self.recorder.test(item.nodeid):
            outcome: Any = yield
        return outcome

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.recorder.ended(report.nodeid, _outcome(report), _message(report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.recorder.ended(report.nodeid, "error", _message(report))


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
        config.pluginmanager.register(PytestHooks(_recorder), "guardfix-recorder")


_recorder = TestRecorder(os.environ[FOLDER]) if os.environ.get(FOLDER) else None
