"""Runs that are forked by a process which has imported what they need."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from guardfix.runtime_shim.recording.run_specification import Specification
from guardfix.verify.runs.program_runs import Limits, Process, ProgramRun, environment
from guardfix.verify.runs.run_starts import RunStarter, start_run

pytestmark = pytest.mark.skipif(not RunStarter.is_possible(), reason="needs pidfd_open and send_fds")


@pytest.fixture(scope="module")
def starter() -> Iterator[RunStarter]:
    starter = RunStarter(environment())
    yield starter
    starter.close()


def process(text: str, folder: Path, starter: RunStarter | None) -> Process:
    source = folder / "program.py"
    source.write_text(text)
    specification = Specification(source=str(source), shown="program.py", recording="", arguments=("one",))
    start = starter.start if starter is not None else start_run
    return Process(specification, folder / "run", folder, Limits(), environment(), start=start)


def shown(run: ProgramRun) -> tuple[object, ...]:
    return run.status, run.output, run.errors, [event["event"] for event in run.events], run.timed_out


RELATED_FILES = """
import os, sys, tempfile
print(sys.argv[1:], os.getcwd() == os.path.dirname(os.path.abspath(__file__)), __name__)
print(os.path.relpath(tempfile.gettempdir()), os.environ["HOME"] == os.path.dirname(tempfile.gettempdir()) + "/home")
print(os.getsid(0) == os.getpid(), sys.stdin.read() == "", sorted(os.listdir("/proc/self/fd"))[:3], len({"a", "b"}))
print(hash("a"), __import__("random").random())
"""


@pytest.mark.parametrize(
    ("text", "status"),
    [
        pytest.param(RELATED_FILES, 0, id="where it finds itself"),
        pytest.param("import torch\nprint(torch.ones(2) + 1, torch.rand(1))\n", 0, id="a step of torch"),
        pytest.param("import atexit, sys\natexit.register(print, 'last')\nsys.exit(3)\n", 3, id="its own status"),
        pytest.param("raise ValueError('no')\n", 1, id="an exception"),
        pytest.param("import os\nos.abort()\n", -signal.SIGABRT, id="a signal"),
    ],
)
@pytest.mark.few("where it finds itself", "a signal")
def test_a_forked_run_is_as_any_other(text: str, status: int, starter: RunStarter, tmp_path: Path) -> None:
    runs = []
    for given in (starter, None):
        folder = tmp_path / "here"
        folder.mkdir()
        runs.append(process(text, folder, given).finish())
        shutil.rmtree(folder)
    assert runs[0].status == status
    assert shown(runs[0]) == shown(runs[1])


def test_runs_at_the_same_time_are_told_apart(starter: RunStarter, tmp_path: Path) -> None:
    processes = []
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        text = f"import time\ntime.sleep({(3 - number) / 10})\nprint({number})\nraise SystemExit({number})\n"
        processes.append(process(text, folder, starter))
    assert [(run.status, run.output) for run in (one.finish() for one in processes)] == [
        (0, "0\n"),
        (1, "1\n"),
        (2, "2\n"),
    ]


def test_what_is_stopped_is_gone(starter: RunStarter, tmp_path: Path) -> None:
    running = process("import time\ntime.sleep(60)\n", tmp_path, starter)
    running.stop()
    assert running.process.returncode == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(running.process.pid, 0)


def is_gone(group: int) -> bool:
    """Whether no process of the group is left; the system takes a moment to collect those without a parent."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_a_run_that_nobody_waits_for_ends_with_the_starter(tmp_path: Path) -> None:
    starter = RunStarter(environment())
    running = process("import os, time\nos.fork()\ntime.sleep(60)\n", tmp_path, starter)
    assert running.process.poll() is None
    starter.close()
    assert is_gone(running.process.pid)
    os.close(running.alive)


def test_a_starter_that_was_killed_takes_its_runs_along_and_starts_no_more(tmp_path: Path) -> None:
    starter = RunStarter(environment())
    running = process("import time\ntime.sleep(60)\n", tmp_path, starter)
    starter._process.kill()
    assert running.process.wait(30) == -signal.SIGKILL
    running.stop()
    (tmp_path / "other").mkdir()
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        process("", tmp_path / "other", starter)
    starter.close()
