"""Compilers as processes: each in a group of its own, so that all that it started can be ended with it.

Where this process leads a session, as one does that `guardfix verify` started, the compilers stay in its group: what
started this process ends them with it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a program that is compiled already starts no compiler: what they take is imported where one does
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
