"""Starting the processes of runs: each as its own interpreter, or forked by one that has imported everything."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from guardfix.module_command import sealed_command
from guardfix.runtime_shim.recording import fork_server


class StartedRun(Protocol):
    """What is needed of `subprocess.Popen`."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int:
        """The exit status. Raises `subprocess.TimeoutExpired`."""
        ...


StartRun = Callable[[Path, Path, Mapping[str, str], int, int, int], StartedRun]
"""(specification, folder, environment, descriptors of output, errors and readiness) -> the run."""


def start_run(
    specification: Path, folder: Path, environment: Mapping[str, str], output: int, errors: int, ready: int
) -> subprocess.Popen[bytes]:
    """Start an interpreter that runs what the file `specification` says, in a folder and in its own session.

    `output`, `errors` and `ready` are descriptors; the last is closed when the program is ready.
    """
    return subprocess.Popen(
        [*sealed_command("guardfix.runtime_shim.recording"), str(specification), str(ready)],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        cwd=folder,
        env=environment,
        start_new_session=True,
        pass_fds=(ready,),
    )


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def end_session(process: StartedRun) -> None:
    """End a process that leads its own session, with everything that it started, and wait for it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class RunStarter:
    """Starts runs by forking a process that has imported what they need. It ends with `close`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, fork_server.LARGEST_REQUEST)
        self._ended: dict[int, int] = {}
        with theirs:
            self._process = subprocess.Popen(
                [*sealed_command(fork_server.__name__), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )

    @staticmethod
    def is_possible() -> bool:
        """Whether the system has what this takes: Linux has."""
        return hasattr(os, "pidfd_open") and hasattr(socket, "send_fds")

    def start(
        self, specification: Path, folder: Path, environment: Mapping[str, str], output: int, errors: int, ready: int
    ) -> StartedRun:
        """As `start_run`. Raises `OSError` when it can't be asked."""
        request = {"specification": str(specification), "folder": str(folder), "environment": dict(environment)}
        socket.send_fds(self._channel, [json.dumps(request).encode()], [output, errors, ready])
        while (process := self._heard()) is None:
            pass
        return _ForkedRun(self, process)

    def _heard(self) -> int | None:
        """Takes the next message: the number of a process that was started, or None for one that ended."""
        data = self._channel.recv(fork_server.LARGEST_REQUEST)
        if not data:
            raise ConnectionResetError("the process that starts programs has ended")
        message = json.loads(data)
        if "started" in message:
            return int(message["started"])
        self._ended[message["ended"]] = message["status"]
        return None

    def status(self, process: int, timeout: float | None) -> int | None:
        """How a process ended; None when it hasn't within so many seconds."""
        self._channel.settimeout(timeout)
        try:
            while process not in self._ended:
                self._heard()
        except (TimeoutError, BlockingIOError):
            return None
        except ConnectionError:  # killed, and all that it had started with it
            return -signal.SIGKILL
        finally:
            self._channel.settimeout(None)
        return self._ended[process]

    def close(self) -> None:
        """End the process, and the runs that are still there."""
        self._channel.close()
        self._process.wait()


class _ForkedRun:
    def __init__(self, starter: RunStarter, process: int) -> None:
        self._starter = starter
        self.pid = process
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._starter.status(self.pid, 0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self.returncode = self._starter.status(self.pid, timeout)
            if self.returncode is None:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return self.returncode
