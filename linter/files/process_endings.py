"""How processes that were started here ended, in words."""

from __future__ import annotations

import os
import signal


def ending(status: int) -> str:
    """What a status of `os.waitpid` says: `killed by SIGKILL`, `ended with status 1`."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            return f"killed by {signal.Signals(number).name}"
        except ValueError:
            return f"killed by signal {number}"
    return f"ended with status {os.waitstatus_to_exitcode(status)}"


def default_signals() -> None:
    """What a forked process does first: it ends when it is told to, and leaves Ctrl-C to its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("SIGTERM", "SIGHUP", "SIGALRM"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
