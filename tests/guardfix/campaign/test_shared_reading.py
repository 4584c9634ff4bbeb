"""`guardfix check --executor`: others read the files, and find the same."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from campaign_repositories import OLD, UNCALLED
from guardfix.campaign import campaign_executors, campaign_run, shared_reading
from guardfix.campaign.campaign_executors import ExecutorHandle
from guardfix.campaign.campaign_manifest import RepositoryEntry
from guardfix.campaign.campaign_run import EngineLost, run_campaign, tasks_of
from guardfix.campaign.repository_task import CampaignSettings, TaskLimits
from guardfix.campaign.result_store import ResultStore
from guardfix.campaign.shared_reading import UnfitWorker, reading_executor
from guardfix.cli.main import cli
from guardfix.linter.engine import Options, check
from guardfix.package_version import VERSION

TERMINATED_WHILE_CONNECTING = """
import os, signal, threading
from guardfix.__main__ import main
from guardfix.campaign import campaign_executors

connect = campaign_executors._await_scheduler

def connect_and_be_told(address):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
    connect(address)

campaign_executors._await_scheduler = connect_and_be_told
main()
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with 40 files that have a finding each."""
    for number in range(20):
        (tmp_path / f"{number:02}.cpp").write_text(OLD)
        (tmp_path / f"{number:02}.py").write_text(UNCALLED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(executor: Executor | None) -> tuple[list[str], list[str]]:
    """(the findings, what is said of lost workers)."""
    report = check(["."], Options(workers=2), executor=executor)
    return [f"{finding.path} {finding.span} {finding.message}" for finding in report.findings], list(report.lost)


def test_the_findings_are_the_same(tree: Path) -> None:
    alone, _ = told(None)
    with reading_executor("local", 2) as executor:
        assert told(executor) == (alone, [])
    assert len(alone) == 40
    assert os.getcwd() == str(tree)


class _Killed(Exception):
    pass


class _Losing(ThreadPoolExecutor):
    """An executor, every other task of which ends as if its worker was killed."""

    given = 0

    def submit(self, work: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.given += 1
        return super().submit(_killed if self.given % 2 else work, *args, **kwargs)


def _killed(*args: Any) -> None:
    raise _Killed


class _Broken(Executor):
    """A pool that takes nothing any more."""

    def submit(self, work: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        raise _Killed("the client is closed")


class _Silent(Executor):
    """A cluster whose scheduler was killed while results were on their way."""

    def submit(self, work: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        return Future()


LOST = ExecutorHandle(_Silent(), 2, (), is_lost=lambda: True)


def test_what_lost_workers_had_is_read_again(tree: Path) -> None:
    alone, _ = told(None)
    with _Losing(2) as pool:
        losing = shared_reading._ReadingExecutor(ExecutorHandle(pool, 2, (_Killed,)))
        found, lost = told(losing)
    assert (found, set(lost)) == (alone, {"its workers were killed"})
    found, lost = told(shared_reading._ReadingExecutor(ExecutorHandle(_Broken(), 2, (), is_lost=lambda: True)))
    assert (found, set(lost)) == (alone, {"the client is closed"})


def test_nothing_waits_for_a_lost_scheduler(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (shared_reading, campaign_run):
        monkeypatch.setattr(module, "LOOK", 0.05)
    with shared_reading._ReadingExecutor(LOST) as executor:
        found, lost = told(executor)
    assert (len(found), set(lost)) == (40, {"the scheduler is gone"})
    tasks = tasks_of([RepositoryEntry("one", str(tree))], CampaignSettings(), TaskLimits())
    with pytest.raises(EngineLost, match="the scheduler is gone"):
        run_campaign(tasks, ResultStore(tree / "out"), LOST)


UNFIT = [
    pytest.param("/none", VERSION, "a worker can't read /none: No such file or directory", id="no folder"),
    pytest.param(os.curdir, "0.0", f"a worker has guardfix {VERSION}, and this is 0.0", id="another version"),
]


@pytest.mark.parametrize(("folder", "version", "said"), UNFIT)
def test_a_worker_that_cannot_read_as_this_process(
    tree: Path, monkeypatch: pytest.MonkeyPatch, folder: str, version: str, said: str
) -> None:
    with reading_executor("local", 1) as executor:
        monkeypatch.setattr(executor, "_folder", folder)
        monkeypatch.setattr(executor, "_version", version)
        with pytest.raises(UnfitWorker, match=said):
            told(executor)


def run_check(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["check", "--no-cache", "--isolated", *arguments])


REFUSED = [
    pytest.param(["--executor", "moon"], "`moon` is not an executor", id="unknown"),
    pytest.param(["--executor", "dask:tcp://127.0.0.1"], "has the form tcp://HOST:PORT", id="no port"),
    pytest.param(["--executor", "dask:tcp://127.0.0.1:x"], "has the form tcp://HOST:PORT", id="no number"),
    pytest.param(["--executor", "process", "--watch"], "can't be combined with --watch", id="watch"),
    pytest.param(["--executor", "process", "--memory", "9"], "--timeout-per-file or --memory", id="limits"),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED)
def test_what_is_refused(tree: Path, arguments: list[str], said: str) -> None:
    result = run_check(*arguments)
    assert result.exit_code == 2
    assert said in result.output


def unused_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def test_a_scheduler_that_is_not_there(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign_executors, "_PATIENCE", 0.3)
    port = unused_port()
    result = run_check("--executor", f"dask:tcp://127.0.0.1:{port}")
    said = f"--executor: tcp://127.0.0.1:{port}: no scheduler listens there: Connection refused"
    assert (result.exit_code, said in result.output) == (2, True), result.output


@pytest.mark.thorough
@pytest.mark.parametrize(
    "answers", [pytest.param(True, id="something else listens"), pytest.param(False, id="nothing listens yet")]
)
def test_sigterm_while_connecting(tree: Path, answers: bool) -> None:
    """It ends at once, without a traceback."""
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        if answers:
            mute.listen()
        name = f"dask:tcp://127.0.0.1:{mute.getsockname()[1]}"
        command = [sys.executable, "-c", TERMINATED_WHILE_CONNECTING, "check", "--isolated", "--executor", name, "."]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (128 + signal.SIGTERM, "guardfix: terminated")


@pytest.mark.thorough
def test_a_cluster_finds_the_same(tree: Path) -> None:
    alone = run_check()
    shared = run_check("--executor", "dask", "--jobs", "1")
    assert (shared.exit_code, shared.output) == (alone.exit_code, alone.output)
    assert "Found 40 issues in 40 files" in shared.output
