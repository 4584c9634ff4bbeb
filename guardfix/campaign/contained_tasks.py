"""`run_task`: what executors are given. It keeps a server beside the worker (`task_server`) and asks that."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import tarfile
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from guardfix.git_files import NoRepository
from guardfix.linter.files.user_cache import user_cache_folder
from guardfix.module_command import module_command
from guardfix.verify.runs.scratch import scratch_folder

from .repository_commits import commit_of
from .repository_task import RepositoryTask, TaskOutcome, TaskResult
from .task_server import TaskEnding, TaskRequest, read_message, write_message


class ServerLost(Exception):
    """The server was killed together with its task; the task can be given out again."""


class _Server:
    """A process that does tasks, one after the other."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            module_command(__package__),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the worker, whose end ends the server
        )

    def ask(self, request: TaskRequest) -> TaskEnding:
        """Have a task done. Raises `ServerLost`."""
        try:
            write_message(self.process.stdin, request)
            ending = read_message(self.process.stdout)
        except OSError:
            ending = None
        if ending is None:
            self.close()
            raise ServerLost(f"the process that did {request.task.label} was killed")
        assert isinstance(ending, TaskEnding)
        return ending

    def close(self) -> None:
        """End the server, and the task that it is at."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self.process.wait()


class _Servers:
    """The servers of this process: as many as it has tasks at a time. They end with it."""

    def __init__(self) -> None:
        self._idle: list[_Server] = []

    def ask(self, request: TaskRequest) -> TaskEnding:
        server = self._taken()
        ending = server.ask(request)
        self._idle.append(server)
        return ending

    def _taken(self) -> _Server:
        """A server that is doing nothing; lists can be popped from several threads."""
        while self._idle:
            server = self._idle.pop()
            if server.owner != os.getpid():
                continue  # of the process that forked this one
            if server.process.poll() is None:
                return server
            server.close()
        return _Server()


_servers = _Servers()


def run_task(task: RepositoryTask) -> TaskResult:
    """Do a task in a process with limits; whatever happens there is in the result.

    Nothing is done where the result's key is among `task.known`. Raises `ServerLost` when the process was killed from
    outside.
    """
    started = datetime.now(timezone.utc)
    row: dict[str, Any] = {
        "repository": task.entry.name,
        "shard": task.shard,
        "shards": task.entry.shard_count,
        "source": task.entry.source,
        "revision": task.entry.revision or None,
    }
    try:
        commit = commit_of(task.entry.source, task.entry.revision, seconds=task.limits.seconds)
    except NoRepository as error:
        ending = TaskEnding(TaskOutcome.FAILED, str(error), {}, 0.0, 0.0, 0.0)
        return TaskResult(task.key(""), ending.outcome, row | {"commit": None} | _times(ending, started))
    key = task.key(commit)
    if key in task.known:
        return TaskResult(key, TaskOutcome.UNCHANGED, {})
    # The next worker removes what a killed one left. Its task may still be writing, hence a folder for each.
    with scratch_folder(Path(user_cache_folder(), "campaign"), "a result") as above:
        folder = tempfile.mkdtemp(dir=above)
        ending = _servers.ask(TaskRequest(task, commit, folder))
        archive = _packed(Path(folder)) if ending.outcome is TaskOutcome.DONE else b""
    return TaskResult(key, ending.outcome, row | {"commit": commit} | ending.counts | _times(ending, started), archive)


def _times(ending: TaskEnding, started: datetime) -> dict[str, Any]:
    return {
        "outcome": str(ending.outcome),
        "reason": ending.reason or None,
        "seconds": round(ending.seconds, 3),
        "cpu_seconds": round(ending.cpu_seconds, 3),
        "peak_megabytes": round(ending.peak_megabytes, 1),
        "started_at": started.strftime("%Y-%m-%d %H:%M:%S"),
    }


def _packed(folder: Path) -> bytes:
    """The files of a folder as a tar."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz", compresslevel=1) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.add(path, path.relative_to(folder).as_posix(), recursive=False)
    return data.getvalue()
