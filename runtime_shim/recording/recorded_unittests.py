"""Records the tests of `unittest`, as `recorded_tests` does those of pytest (see `process_recorder`).

The `torch` of a project's private environment imports this module, as `unittest` has no plugins. It does nothing where
pytest runs the tests, or in a process that a recorded test starts.
"""

from __future__ import annotations

import os
import sys
import unittest
from typing import Any

from .process_recorder import FOLDER, RECORDED, TestRecorder

_OUTCOMES = {
    "errors": "failed",
    "failures": "failed",
    "unexpectedSuccesses": "xpassed",
    "expectedFailures": "xfailed",
    "skipped": "skipped",
}
"""Lists of a `unittest.TestResult`, and what a test in one of them is called."""


def record_unittests(recorder: TestRecorder) -> None:
    """From now on each `TestCase` that runs is recorded."""
    run = unittest.TestCase.run
    running = False

    def recorded_run(case: unittest.TestCase, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        nonlocal running
        if running:  # a test that runs tests of its own
            return run(case, result)
        before = {name: len(getattr(result, name, ())) for name in _OUTCOMES}
        running = True
        try:
            with recorder.test(case.id()):
                done = run(case, result)
        finally:
            running = False
        recorder.ended(case.id(), *_ending(done if result is None else result, before))
        return done

    unittest.TestCase.run = recorded_run  # type: ignore[method-assign,assignment]


def _ending(result: unittest.TestResult | None, before: dict[str, int]) -> tuple[str, str]:
    """The outcome of the test whose run added to a result's lists, and the message of the first thing added."""
    for name, outcome in _OUTCOMES.items():
        added: list[Any] = list(getattr(result, name, ()))[before[name] :]
        if added:
            return outcome, _message(added[0])
    return "passed", ""


def _message(added: Any) -> str:
    """What ended the test: the error and what it says, or why it was skipped."""
    if not isinstance(added, tuple):
        return ""
    lines = str(added[1]).splitlines()
    frames = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    start = next((n for n in range(frames[-1], len(lines)) if not lines[n].startswith(" ")), 0) if frames else 0
    return "\n".join(lines[start:]).strip()[:2000]


if os.environ.get(FOLDER) and RECORDED not in os.environ and "_pytest" not in sys.modules:
    record_unittests(TestRecorder(os.environ[FOLDER]))
