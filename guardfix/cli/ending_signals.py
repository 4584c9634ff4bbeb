"""SIGTERM and SIGHUP end a run as Ctrl-C does: what was begun is undone or finished, and no process stays behind."""

from __future__ import annotations

import signal
import sys
from types import FrameType


class Ended(KeyboardInterrupt):
    """The signal that told this process to end; taken for Ctrl-C wherever that is handled."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def in_main_thread() -> bool:
    """Whether this is the thread that signals are given to; without `threading` there is no other."""
    threading = sys.modules.get("threading")
    return threading is None or threading.current_thread() is threading.main_thread()


def end_as_interrupted() -> None:
    """From now on SIGTERM and SIGHUP raise `Ended`, unless they are ignored (`nohup`)."""
    if not in_main_thread():
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # a second one must not cut the cleaning up short
    raise Ended(number)
