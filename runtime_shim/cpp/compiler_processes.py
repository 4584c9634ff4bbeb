"""Running the compiler: its processes, and the folders in which they work, gone afterwards however it ends.

Where this process leads a session, as one does that `guardfix verify` started, the compilers stay in its group: what
started this process ends them with it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from concurrent.futures import ThreadPoolExecutor


_running: set[subprocess.Popen[str]] = set()


def run_in_group(
    command: Sequence[str], folder: Path, meanwhile: Callable[[], object] = lambda: None
) -> tuple[int, str]:
    """Runs a compiler, its temporary files in `folder`; returns its status and what it wrote on stderr.

    `meanwhile` is called while it works. If this thread is interrupted, the compiler ends.
    """
    import subprocess

    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=compiling_in(folder),
        close_fds=False,  # it holds the lock of its folder
        text=True,
        errors="replace",
        start_new_session=not _leads_session(),
    )
    _running.add(process)
    try:
        meanwhile()
        _, diagnostics = process.communicate()
    except BaseException:
        _kill(process)
        process.wait()
        raise
    finally:
        _running.discard(process)
    return process.returncode, diagnostics


def compiling_in(folder: Path) -> dict[str, str]:
    """The environment of a compiler whose temporary files are in `folder`, and whose messages are read for names."""
    return os.environ | {"LC_ALL": "C", "TMPDIR": str(folder)}


def _leads_session() -> bool:
    return os.getsid(0) == os.getpid()


def _kill(process: subprocess.Popen[str]) -> None:
    if _leads_session():
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def compiler_pool(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that each run a compiler. If this thread is interrupted, all compilers of the process end."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(max_workers=workers)
    try:
        yield pool
    except Exception:
        pool.shutdown()
        raise
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        closing = threading.Thread(target=pool.shutdown)
        closing.start()
        while closing.is_alive():  # a thread can be about to start one
            for process in tuple(_running):
                _kill(process)
            closing.join(0.05)
        raise
    else:
        pool.shutdown()


@contextlib.contextmanager
def _shared(parent: Path) -> Iterator[None]:
    """Makes the folder, where what was left behind is removed, and holds it against those who want it alone."""
    while True:
        parent.mkdir(parents=True, exist_ok=True)
        try:
            lock = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_SH)
            if _is_opened(lock, parent):  # else it was removed in between
                _remove_abandoned(parent)
                yield
                return
        finally:
            os.close(lock)


def _is_opened(descriptor: int, path: Path) -> bool:
    """Whether it is what the path leads to now."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


_LET_GO_WITHIN = 10.0
"""Seconds that a compiler which was killed is waited for."""
_ABANDONED_AFTER = 60.0
"""Seconds after which a folder that no one holds was left behind, not just made."""


@contextlib.contextmanager
def workplace(parent: Path) -> Iterator[Path]:
    """A new folder below `parent`, removed at the end.

    What killed processes left there is removed, too: a folder is locked as long as its process or a compiler that it
    started lives. `parent` is shared that long: who cleans the cache leaves what it can't have alone.
    """
    import tempfile

    with (
        _shared(parent),
        tempfile.TemporaryDirectory(dir=parent, prefix="compiling-", ignore_cleanup_errors=True) as folder,
    ):
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
    """Inside, a request to end (SIGTERM, SIGHUP) that no one handles raises SystemExit: what was begun is removed."""

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
