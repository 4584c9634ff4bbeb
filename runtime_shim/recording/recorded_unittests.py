"""Records the tests of `unittest`, as `recorded_tests` does those of pytest (see `process_recorder`).

The `torch` of a project's private environment imports this module, as `unittest` has no plugins. It does nothing where
pytest runs the tests, or in a process that a recorded test starts.
"""

from __future__ import annotations

import os
import sys
import unittest
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .process_recorder import FOLDER, RECORDED, TestRecorder

_OUTCOMES = {
    "errors": "failed",
    "failures": "failed",
    "unexpectedSuccesses": "failed",
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
        if not recorder.is_wanted(case.id()):
            return result
        before = {name: len(getattr(result, name, ())) for name in _OUTCOMES}
        running = True
        try:
            with recorder.test(case.id()):
                done = run(case, result)
        finally:
            running = False
        recorder.ended(case.id(), *_ending(done if result is None else result, before))
        begun.add(case.id())
        return done

    run_suite = unittest.TestSuite.run
    begun: set[str] = set()
    is_within = False

    def recorded_suite(
        suite: unittest.TestSuite, result: unittest.TestResult, debug: bool = False
    ) -> unittest.TestResult:
        nonlocal is_within
        if is_within:
            return run_suite(suite, result, debug)
        names = [test.id() for test in _tests_of(suite)]
        recorder.collected(names)
        is_within = True
        try:
            done = run_suite(suite, result, debug)
        finally:
            is_within = False
        for outcome, holder, message in _fixtures_of(result):
            # `setUpClass (tests.Doubling)`: of its tests, those that did not begin are ended by it.
            inside = f"{holder.partition('(')[2].rstrip(')')}."
            ended = [name for name in names if name.startswith(inside) and name not in begun]
            for name in ended or [holder]:
                recorder.ended(name, outcome, message)
        return done

    unittest.TestCase.run = recorded_run  # type: ignore[method-assign,assignment]
    unittest.TestSuite.run = recorded_suite  # type: ignore[method-assign,assignment]


def _tests_of(suite: Iterable[object]) -> Iterator[unittest.TestCase]:
    for test in suite:
        if isinstance(test, unittest.TestCase):
            yield test
        elif isinstance(test, unittest.TestSuite):
            yield from _tests_of(test)


def _fixtures_of(result: unittest.TestResult) -> Iterator[tuple[str, str, str]]:
    """The set-ups and tear-downs of classes and modules that ended otherwise than they should: outcome, name, why."""
    for outcome, entries in (("error", result.errors), ("skipped", result.skipped)):
        for entry in entries:
            if not isinstance(entry[0], unittest.TestCase):
                yield outcome, entry[0].id(), _message(entry)


def _ending(result: unittest.TestResult | None, before: dict[str, int]) -> tuple[str, str]:
    """The outcome of the test whose run added to a result's lists, and the message of the first thing added."""
    for name, outcome in _OUTCOMES.items():
        added: list[Any] = list(getattr(result, name, ()))[before[name] :]
        if name == "skipped":  # a test with a subtest that is skipped goes on
            added = [entry for entry in added if not isinstance(entry[0], unittest.case._SubTest)]  # type: ignore[attr-defined]
        if added:
            return outcome, _message(added[0]) or ("unexpected success" if outcome == "failed" else "")
    return "passed", ""


def _message(added: object) -> str:
    """What ended the test: the error and what it says, or why it was skipped."""
    if not isinstance(added, tuple):
        return ""
    lines = str(added[1]).splitlines()
    frames = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    start = next((n for n in range(frames[-1], len(lines)) if not lines[n].startswith(" ")), 0) if frames else 0
    return "\n".join(lines[start:]).strip()[:2000]


def _is_by_pytest() -> bool:
    """Whether pytest runs the tests; that they import it says nothing."""
    program = Path(sys.argv[0])
    return (
        f"{__package__}.recorded_tests" in sys.modules
        or program.name in ("pytest", "py.test")
        or (program.parent.name == "pytest")
    )


if os.environ.get(FOLDER) and RECORDED not in os.environ and not _is_by_pytest():
    record_unittests(TestRecorder(os.environ[FOLDER]))
