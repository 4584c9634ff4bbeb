"""Where the compiler works: folders that are gone afterwards, however the compilation ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

_LET_GO_WITHIN = 10.0
"""Seconds that a compiler which was killed is waited for."""
_ABANDONED_AFTER = 60.0
"""Seconds after which a folder that nobody holds was left behind, not just made."""


@contextlib.contextmanager
def workplace(parent: Path) -> Iterator[Path]:
    """A new folder below `parent`, removed at the end.

    What killed processes left there is removed, too: a folder is locked as long as its process or a compiler that it
    started lives.
    """
    import tempfile

    parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(parent)
    with tempfile.TemporaryDirectory(dir=parent, prefix="compiling-", ignore_cleanup_errors=True) as folder:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.set_inheritable(lock, True)
            yield Path(folder)
        except BaseException:
            os.close(lock)
            wait_until_let_go(Path(folder))
            raise
        else:
            os.close(lock)


def wait_until_let_go(folder: Path) -> None:
    """Waits for the processes that hold the lock of `folder`: one that was killed can still be writing in it."""
    deadline = time.monotonic() + _LET_GO_WITHIN
    with contextlib.suppress(OSError):
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            while time.monotonic() < deadline:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return
                except BlockingIOError:
                    time.sleep(0.01)
        finally:
            os.close(lock)


def _remove_abandoned(parent: Path) -> None:
    now = time.time()
    for folder in parent.glob("compiling-*"):
        with contextlib.suppress(OSError):
            if now - folder.stat().st_mtime < _ABANDONED_AFTER:
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(lock)


@contextlib.contextmanager
def ended_in_order() -> Iterator[None]:
    """Inside, a request to end (SIGTERM, SIGHUP) that nobody handles raises SystemExit: what was begun is removed."""

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) == signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
