"""A pytest plugin: records what each test of a project does on the shim, and how it ends (see `process_recorder`).

`PYTEST_PLUGINS` names this module, so that it is there whatever command starts pytest, and in each of its workers.
"""

from __future__ import annotations

import os
import re
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
        if report.outcome in _OUTCOMES and (report.when == "call" or report.outcome != "passed"):
            self.recorder.ended(report.nodeid, _outcome(report), _message(report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self.recorder.ended(report.nodeid, "error" if report.failed else "skipped", _message(report))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if self.recorder.is_wanted(item.nodeid)]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.recorder.collected([item.nodeid for item in session.items])


_OUTCOMES = ("passed", "failed", "skipped")
"""Others, of plugins, come before a test is run again."""


def _outcome(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return "xpassed" if report.outcome == "passed" else "xfailed"
    return "error" if report.failed and report.when != "call" else str(report.outcome)


def _message(report: pytest.TestReport | pytest.CollectReport) -> str:
    """What ended a test that did not pass: the error and what it says."""
    # What the shim lacks may be the cause of an error that the program makes of it.
    chain = [crash for _, crash, _ in getattr(report.longrepr, "chain", ()) if crash is not None]
    lacking = next((crash for crash in chain if ".UnsupportedError: " in crash.message), None)
    crash = lacking or getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return str(crash.message)[:2000]
    if isinstance(report.longrepr, tuple):  # a skipped test: file, line, reason
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    text = "" if report.longrepr is None else str(report.longrepr)
    errors = [line[2:].strip() for line in text.splitlines() if line.startswith("E  ")]
    # Of an error with a cause, pytest tells the cause first; of a syntax error, the place.
    named = [place for place, error in enumerate(errors) if _ERROR.match(error)]
    return "\n".join(errors[named[-1] if named else 0 :])[:2000] or text[-2000:]


_ERROR = re.compile(r"[\w.]+(?:Error|Exception|Exit|Interrupt|Failed|Skipped|Warning)\b")


def pytest_configure(config: pytest.Config) -> None:
    """pytest calls this; the recorder was made when the module was imported, before any test module."""
    if _recorder is not None:
        config.pluginmanager.register(PytestHooks(_recorder), "guardfix-recorder")
        # What the shim lacks in one place stops no test of another.
        config.option.continue_on_collection_errors = True
        config.option.maxfail = 0


_recorder = TestRecorder(os.environ[FOLDER]) if os.environ.get(FOLDER) else None
