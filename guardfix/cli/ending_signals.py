"""SIGTERM and SIGHUP end a run as Ctrl-C does: what was begun is undone or finished, and no process stays behind.

Python discards an exception that leaves a finalizer or the callback of a weak reference, and every import runs such a
callback: an interrupt that comes just then is raised again a moment later.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_AGAIN_AFTER = 0.05
"""Seconds, by which the callback that the interrupt came to is left."""


class Ended(KeyboardInterrupt):
    """The signal that asked this process to end, handled as Ctrl-C is."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def in_main_thread() -> bool:
    """Whether this is the thread that signals are given to; without `threading` there is no other."""
    threading = sys.modules.get("threading")
    return threading is None or threading.current_thread() is threading.main_thread()


def end_as_interrupted() -> None:
    """From now on SIGTERM and SIGHUP raise `Ended`, unless they are ignored (`nohup`), and no interrupt is lost."""
    if not in_main_thread():
        return
    sys.unraisablehook = _raise_interrupt_again
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # a second one must not cut the cleaning up short
    raise Ended(number)


def _raise_interrupt_again(discarded: UnraisableHookArgs, /) -> None:
    if not isinstance(discarded.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(discarded)
        return
    import threading

    number = signal.SIGINT
    if isinstance(discarded.exc_value, Ended):
        number = signal.Signals(discarded.exc_value.number)
        signal.signal(number, _end)
    again = threading.Timer(_AGAIN_AFTER, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()
