"""A line on a terminal that says what a long run is doing."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..foreign_text import own
from ..output.plain_echo import echo
from .ending_signals import in_main_thread

_FIRST, _NEXT = 0.5, 0.1
"""Seconds until the line is shown, and until it is shown again."""
_ANEW = own("\r\x1b[K")
"""Erases the line."""


@contextmanager
def shown_progress(quiet: bool, first: str = "searching files") -> Iterator[ProgressLine | None]:
    """Show what goes on, if a person is watching and it takes longer than half a second; at first, `first`.

    A timer's signal writes the line: a thread would get into the way of the processes that are forked meanwhile.
    """
    can = hasattr(signal, "setitimer") and in_main_thread()
    seen = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"  # which can't take a line back
    if quiet or not can or not seen or signal.getsignal(signal.SIGALRM) != signal.SIG_DFL:
        yield None
        return
    line = ProgressLine(first)
    signal.signal(signal.SIGALRM, line.show)
    signal.setitimer(signal.ITIMER_REAL, _FIRST, _NEXT)
    try:
        yield line
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        line.clear()


class ProgressLine:
    """The line: the search, then how many files are parsed, then what is decided. It never goes back to a stage."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._shown = False
        self._parsed = False

    def checking_again(self, number: int) -> None:
        """Note that the fixes of a pass are made, and that what they came to is checked in the next one."""
        self._text = f"checking what the fixes came to: pass {number}"
        self._parsed = False

    def __call__(self, done: int, total: int) -> None:
        """Note that so many of the files are parsed; what is parsed later is for deciding about these."""
        if self._parsed:
            self._text = f"deciding: {done} of {total} files around them" if done < total else "deciding"
        elif done < total:
            self._text = f"parsing files: {done} of {total}"
        else:
            self._text, self._parsed = "deciding", True

    def say(self, text: str) -> None:
        """Note what is going on, in words."""
        self._text = text

    def show(self, number: int, frame: Any) -> None:
        """Write the line again."""
        import shutil

        self._shown = True
        width = shutil.get_terminal_size().columns
        echo(_ANEW + self._text[: max(0, width - 1)], err=True, nl=False)

    def clear(self) -> None:
        """Take the line away: it is noise above the findings."""
        if self._shown:
            echo(_ANEW, err=True, nl=False)
