"""A process that has imported what programs run on, and forks one process for each run.

Importing takes longer than most programs do, and a program is run several times. Nothing is shared but what was
imported: each run has an environment, a current folder and its own session, as a new interpreter would.

On its channel, a socket of packets, come requests (JSON, with the descriptors of output, errors and readiness); back go
the number of the process that was forked for it, and later how it ended.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import tempfile
from collections.abc import Iterable, Sequence

from .recorded_run import die_with_parent, run_program

LARGEST_REQUEST = 1 << 20
"""Bytes of a request: an environment may take that much of it."""
DESCRIPTORS = 3


def answer_requests(handle: int) -> int:
    """Answer the requests on the socket `handle` until its other end is closed; the exit status.

    In a process that was forked for a run this returns as well, with the status of the program.
    """
    die_with_parent()
    _import_what_runs_need()
    channel = socket.socket(fileno=handle)
    channel.set_inheritable(False)
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    running: dict[int, int] = {}
    """By descriptor of a process: its number."""
    while True:
        for ready, _ in poll.poll():
            if ready != channel.fileno():
                poll.unregister(ready)
                os.close(ready)
                process = running.pop(ready)
                _, status = os.waitpid(process, 0)
                if not _send(channel, {"ended": process, "status": os.waitstatus_to_exitcode(status)}):
                    return _end_all(running.values())
                continue
            request, given, _, _ = socket.recv_fds(channel, LARGEST_REQUEST, DESCRIPTORS)
            if not request:
                return _end_all(running.values())
            process = _fork()
            if not process:
                for other in (channel.detach(), *running):
                    os.close(other)
                return _run(json.loads(request), given)
            for descriptor in given:
                os.close(descriptor)
            watched = os.pidfd_open(process)
            running[watched] = process
            poll.register(watched, select.POLLIN)
            if not _send(channel, {"started": process}):
                return _end_all(running.values())


def _end_all(processes: Iterable[int]) -> int:
    """End the runs that are left, with everything they started: the caller is gone. The exit status."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return 0


def _send(channel: socket.socket, message: dict[str, int]) -> bool:
    """Whether the caller is still there."""
    try:
        channel.send(json.dumps(message).encode())
    except BrokenPipeError:
        return False
    return True


def _import_what_runs_need() -> None:
    importlib.import_module(".recorder", __package__)
    for name in ("cpp_compilation", "cpp_program", "linked_program", "extension_module"):
        importlib.import_module(f"..cpp.{name}", __package__)
    gc.collect()
    gc.freeze()


def _fork() -> int:
    """As `os.fork`; the child has its own session by the time that this returns in the parent."""
    told, tell = os.pipe()
    process = os.fork()
    if process:
        os.close(tell)
        os.read(told, 1)
    else:
        os.close(told)
        os.setsid()
    os.close(told if process else tell)
    return process


def _run(request: dict[str, str | dict[str, str]], given: Sequence[int]) -> int:
    output, errors, ready = given
    os.dup2(output, 1)
    os.dup2(errors, 2)
    os.close(output)
    os.close(errors)
    specification, folder, environment = request["specification"], request["folder"], request["environment"]
    assert isinstance(specification, str)
    assert isinstance(folder, str)
    assert isinstance(environment, dict)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    tempfile.tempdir = None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return run_program(specification, ready)


if __name__ == "__main__":
    sys.exit(answer_requests(int(sys.argv[1])))
