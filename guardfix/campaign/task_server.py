"""A server that does one repository after another, each in its own process.

Executors' workers have threads and connections, which a fork would copy in whatever state they are. So each worker has
one such server: it has imported everything and nothing else, and forks for each task a process with limits. Whatever
happens there, an answer is given. When the worker is gone, what the server has begun is ended.

Requests and answers are pickled, each after its length. The server is only ever talked to by the process that
started it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import re
import resource
import select
import signal
import struct
import sys
import time
import traceback
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from guardfix.linter.files.user_cache import user_cache_folder
from guardfix.verify.runs.scratch import scratch_folder

from .repository_task import RepositoryTask, TaskOutcome

_LENGTH = struct.Struct(">Q")
_GRACE = 3.0
"""Seconds in which a process that ran out of time may end what it has started."""
_NO_MEMORY = 77
"""The exit status of a process that ran out of memory."""
_ADDRESSES = 1024
"""Megabytes of addresses that are not memory: of libraries, and of the stack on which libcst parses."""
_LONGEST = 2000
_ALLOCATION = re.compile(
    r"MemoryError|memory allocation of|bad_alloc|failed to (?:re)?allocate|Cannot allocate|can't start new thread"
)
"""What libraries say when they get no memory, before they abort."""
_Told = tuple[TaskOutcome, str, dict[str, Any]]
"""(outcome, reason, counts)."""


class TaskRequest(NamedTuple):
    """What the server is asked for."""

    task: RepositoryTask
    commit: str
    result: str
    """An empty folder."""


class TaskEnding(NamedTuple):
    """How the process of a task ended."""

    outcome: TaskOutcome
    reason: str
    counts: dict[str, Any]
    seconds: float
    cpu_seconds: float
    peak_megabytes: float
    """Of the largest of its processes."""


def read_message(file: Any) -> Any:
    """The next message; None at the end."""
    head = file.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    body = file.read(*_LENGTH.unpack(head))
    return pickle.loads(body)


def write_message(file: Any, message: object) -> None:
    """Send one message."""
    body = pickle.dumps(message)
    file.write(_LENGTH.pack(len(body)) + body)
    file.flush()


class WorkerGone(Exception):
    """The process that asks is gone: what was begun for it is ended."""


def serve() -> None:
    """Answer requests from standard input until it ends."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a rule prints must not be taken for an answer.
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _warm_up()
    with contextlib.suppress(WorkerGone, BrokenPipeError):
        # Requests alternate with answers: what select says of the pipe is true of the buffered file.
        while (request := read_message(requests)) is not None:
            write_message(answers, _contained(request, requests.fileno()))


def _warm_up() -> None:
    """Import what every task needs, and let the parsers build their tables."""
    from guardfix.api import Options, fix_text

    from . import repository_work

    with contextlib.suppress(Exception):  # each task then reports it
        fix_text("void f() {\n  at::AutoNonVariableTypeMode g;\n}\n", "a.cpp", options=Options(workers=1))
        fix_text("import torch\nwith torch.no_grad:\n    pass\n", "a.py", options=Options(workers=1))
    _ = repository_work
    gc.collect()
    gc.freeze()


def _contained(request: TaskRequest, worker: int) -> TaskEnding:
    """Do a task in its own process. `worker` can be read from when the worker is gone.

    Raises `WorkerGone`.
    """
    with scratch_folder(Path(user_cache_folder(), "campaign"), "a repository") as scratch:
        files = scratch / "files"
        files.mkdir()
        alive, held = os.pipe()
        started = time.monotonic()
        child = os.fork()
        if child == 0:
            os.close(alive)
            _do(request, files, scratch)
        os.close(held)
        late = gone = False
        try:
            late, gone = _wait(alive, worker, request.task.limits.seconds, child)
        finally:
            _kill(child)  # and what it left behind
            os.close(alive)
        _, status, usage = os.wait4(child, 0)
        if gone:
            raise WorkerGone
        seconds = time.monotonic() - started
        outcome, reason, counts = _told(request, scratch, status, late)
        peak = usage.ru_maxrss / (1 << 10 if sys.platform != "darwin" else 1 << 20)
        return TaskEnding(outcome, reason, counts, seconds, usage.ru_utime + usage.ru_stime, peak)


def _wait(alive: int, worker: int, seconds: float, child: int) -> tuple[bool, bool]:
    """Wait for the end of a process, which holds the other end of `alive`.

    Says whether it had to be ended because its time was up, and whether the worker is gone.
    """
    ready, _, _ = select.select([alive, worker], [], [], seconds)
    if ready:
        return False, alive not in ready
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGTERM)
    select.select([alive], [], [], _GRACE)
    return True, False


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)


def _do(request: TaskRequest, files: Path, scratch: Path) -> NoReturn:
    """The life of a task's process."""
    status = 1
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, _end)
        os.dup2(os.open(scratch / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        limits = request.task.limits
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if limits.megabytes:
            size = (limits.megabytes + _ADDRESSES) << 20
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
        told = pickle.dumps(_done(request, files))
        (scratch / "told").write_bytes(told)
        status = 0
    except MemoryError:
        status = _NO_MEMORY
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _end(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def _done(request: TaskRequest, files: Path) -> _Told:
    """What comes of the task, errors that are the repository's included."""
    from guardfix.api import BadConfiguration, BadPattern, NoSuchPath, UnknownRule
    from guardfix.git_files import NoRepository

    from .repository_work import look_at

    try:
        return TaskOutcome.DONE, "", look_at(request.task, request.commit, files, Path(request.result))
    except (NoRepository, BadConfiguration) as error:
        return TaskOutcome.FAILED, str(error).replace(f"{files / 'tree'}{os.sep}", ""), {}
    except NoSuchPath as error:
        return TaskOutcome.FAILED, f"no such path: {error}", {}
    except (UnknownRule, BadPattern) as error:
        return TaskOutcome.FAILED, f"its configuration names `{error}`, which means nothing", {}


def _told(request: TaskRequest, scratch: Path, status: int, late: bool) -> _Told:
    """What a process reported, or how it ended."""
    limits = request.task.limits
    if late:
        return TaskOutcome.OUT_OF_TIME, f"it took longer than {limits.seconds:g} seconds", {}
    if status == 0:
        told: _Told = pickle.loads((scratch / "told").read_bytes())
        return told
    said = _last_words(scratch)
    code = os.waitstatus_to_exitcode(status)
    if code == _NO_MEMORY or _ALLOCATION.search(said):
        return TaskOutcome.OUT_OF_MEMORY, f"a process took more than {limits.megabytes} MB", {}
    how = f"killed by {signal.Signals(-code).name}" if code < 0 else ""
    return TaskOutcome.CRASHED, "; ".join(filter(None, (how, said))) or f"it ended with status {code}", {}


def _last_words(scratch: Path) -> str:
    """The last line that a process wrote to standard error."""
    try:
        with open(scratch / "said", "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LONGEST))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")[-_LONGEST:]
