"""One forked process that works for this one: started, ended and reaped here, for the search and for the readers.

Pools don't do: one of concurrent.futures, multiprocessing or loky doesn't say which work a killed process had in hand,
and starting its interpreters takes longer than most checks; a fork takes 2 ms and has everything imported.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

_PATIENCE = 2000
"""Milliseconds until a process that has closed its pipe has ended."""


class ForkedProcess:
    """A process that does one thing and ends, without the clean-up of its parent's objects."""

    def __init__(self, work: Callable[[], object]) -> None:
        """Raises `OSError` if there are too many processes."""
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                _default_signals()
                work()
                status = 0
            finally:
                os._exit(status)

    def wait(self) -> int:
        """The status of a process whose pipe has ended: it ends a moment later, or is killed."""
        for _ in range(_PATIENCE):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return status
            time.sleep(0.001)
        return self.kill()

    def kill(self) -> int:
        """End the process; its status."""
        os.kill(self.pid, signal.SIGKILL)
        return os.waitpid(self.pid, 0)[1]


def ending(status: int) -> str:
    """What a status of `os.waitpid` says: `killed by SIGKILL`, `ended with status 1`."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            return f"killed by {signal.Signals(number).name}"
        except ValueError:
            return f"killed by signal {number}"
    return f"ended with status {os.waitstatus_to_exitcode(status)}"


def _default_signals() -> None:
    """Let SIGTERM and the like end a forked process; Ctrl-C is left to its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("SIGTERM", "SIGHUP", "SIGALRM"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
