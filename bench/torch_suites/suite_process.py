"""The process of one test file: `python -m bench.torch_suites.suite_process shim|torch FILE OUTCOMES`.

Each test writes a line when it starts and one with its outcome, so that whoever waits knows what a crash interrupted.
Tests that OUTCOMES names already are not run again.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import signal
import sys
import traceback
import types
import unittest
import unittest.mock
import warnings
from pathlib import Path
from typing import Any

#: Seconds of processor time that a test may take, and how much longer it may take by the clock: machines are busy.
TIME_LIMIT = 60
PATIENCE = 10


class _TimeIsUp(BaseException):
    pass


def _time_is_up(*_: object) -> None:
    raise _TimeIsUp


#: Helpers of PyTorch's tests that ask for nothing but tensors: its own text serves both libraries.
HELPERS = ("logging_tensor", "two_tensor", "common_subclass")


def load_helpers(source: Path) -> None:
    """Modules of torch.testing._internal from the sources that the suites are from."""
    package = importlib.import_module("torch.testing._internal")
    for name in HELPERS:
        full = f"torch.testing._internal.{name}"
        spec = importlib.util.spec_from_file_location(full, source / "torch/testing/_internal" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[full] = importlib.util.module_from_spec(spec)
        setattr(package, name, module)
        try:
            spec.loader.exec_module(module)
        except Exception:
            traceback.print_exc()
            del sys.modules[full]
            delattr(package, name)


def bind(backend: str, source: Path) -> Any:
    """`torch` for the process, and what the suites import of its tests' own helpers."""
    if backend == "torch":
        torch = importlib.import_module("torch")
        torch.set_num_threads(1)
        from .absent_names import allow_absent_modules

        allow_absent_modules()
    else:
        from guardfix.runtime_shim.cpp.extension_module import bind_for_good

        from .absent_names import allow_absent_names

        bind_for_good("guardfix.runtime_shim")
        torch = sys.modules["torch"]
        allow_absent_names()
    from .internal_testing import install

    install()
    load_helpers(source)
    return torch


class Outcomes(unittest.TestResult):
    """Writes what becomes of each test."""

    def __init__(self, file: Any) -> None:
        super().__init__()
        self.file = file

    def _write(self, test: Any, outcome: str, text: str = "") -> None:
        if not isinstance(test, unittest.TestCase):
            return
        print(json.dumps([type(test).__name__, test._testMethodName, outcome, text]), file=self.file, flush=True)

    def startTest(self, test: Any) -> None:
        super().startTest(test)
        self._write(test, "started")
        signal.setitimer(signal.ITIMER_PROF, TIME_LIMIT)
        signal.alarm(TIME_LIMIT * PATIENCE)

    def stopTest(self, test: Any) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        super().stopTest(test)

    def addSuccess(self, test: Any) -> None:
        self._write(test, "passed")

    def addSkip(self, test: Any, reason: str) -> None:
        self._write(test, "skipped", reason)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self._write(test, "skipped", "fails as expected")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._write(test, "skipped", "expected to fail")

    def addError(self, test: Any, err: Any) -> None:
        self._write(test, "failed", _described(err))

    addFailure = addError

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._write(test, "failed", _described(err))


def _described(err: Any) -> str:
    kind, value, trace = err
    where = ""
    frames = []
    while trace is not None:
        frames.append((os.path.basename(trace.tb_frame.f_code.co_filename), trace.tb_lineno))
        trace = trace.tb_next
    test_frames = [f for f in frames if f[0].startswith("test_")]
    if test_frames:
        where = f" [{test_frames[-1][0]}:{test_frames[-1][1]}; {frames[-1][0]}:{frames[-1][1]}]"
    return f"{kind.__name__}: {str(value)[:300]}{where}"


def main() -> None:
    backend, file, outcomes, *only = sys.argv[1:]
    path = Path(file)
    done: set[tuple[str, str]] = set()
    if os.path.exists(outcomes):
        with open(outcomes, encoding="utf-8") as lines:
            done = {(case, test) for case, test, *_ in map(json.loads, lines)}
    root = next(p for p in path.parents if p.name == "test")
    bind(backend, root.parent)
    warnings.simplefilter("default")
    sys.path[:0] = [str(root), str(path.parent)]
    sys.argv = [file]
    name = path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module: types.ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with open(outcomes, "a", encoding="utf-8") as stream:
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            traceback.print_exc()
            print(json.dumps(["", "", "failed", f"can't be imported: {error}"]), file=stream)
            return
        signal.signal(signal.SIGALRM, _time_is_up)
        signal.signal(signal.SIGPROF, _time_is_up)
        loader = unittest.TestLoader()
        for case in list(vars(module).values()):
            if not (isinstance(case, type) and issubclass(case, unittest.TestCase)) or case.__module__ != name:
                continue
            names = [n for n in loader.getTestCaseNames(case) if callable(getattr(case, n))]
            wanted = [n for n in names if (case.__name__, n) not in done]
            if only:
                wanted = [n for n in wanted if any(o in f"{case.__name__}.{n}" for o in only)]
            result = Outcomes(stream)
            suite = unittest.TestSuite()
            suite._cleanup = False  # type: ignore[attr-defined]
            suite.addTests(case(n) for n in wanted)
            try:
                suite.run(result)
            except _TimeIsUp:
                os._exit(3)  # the test has only its first line: its time was up
            except BaseException:
                traceback.print_exc()
                os._exit(4)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # threads and graphs of tests that failed have no say in it
