"""The files that a process has had open since before it is contained: opened again, or carried on by its parent.

What was opened before can be changed, in mode, times and attributes, whatever has been mounted read-only since.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

STREAMS = (0, 1, 2)
_PIECE = 1 << 16
FILE_LIMIT = 1 << 30
"""Bytes of a file that a program writes."""


def path_of(descriptor: int) -> str:
    """The file that is open there; empty for a pipe, a socket or nothing."""
    try:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""
    return path if path.startswith("/") and not path.startswith("/memfd:") else ""


def _is_below(path: str, folders: Iterable[Path]) -> bool:
    return any(Path(path).is_relative_to(folder.resolve()) for folder in folders)


class Relay(NamedTuple):
    """A stream of the program that its waiting parent carries on."""

    stream: int
    original: int
    pipe: int | None
    """The parent's end; None where an earlier stream has it, of the same file: the order of what is written stays."""
    reads: bool
    """The program reads from it."""


def replace_streams(folders: Iterable[Path]) -> list[Relay]:
    """Opens again what files this process has for its input, output and errors; pipes where it can't be opened so.

    Mode, times and attributes of a file can be changed through a descriptor from before the mounts.
    """
    relays: list[Relay] = []
    written: dict[tuple[int, int], int] = {}
    for stream in STREAMS:
        path = path_of(stream)
        if not path or _is_below(path, folders):
            continue
        status = os.fstat(stream)
        reads = stream == 0 and fcntl.fcntl(stream, fcntl.F_GETFL) & os.O_ACCMODE != os.O_WRONLY
        same = status.st_dev, status.st_ino
        new = _opened_again(path, stream, status)
        if new is None and not (stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)):
            continue  # `is_sealed` tells whether it can be changed
        if new is None:
            pipe: int | None = None
            if not reads and same in written:
                new = os.dup(written[same])
            elif reads:
                new, pipe = os.pipe()
            else:
                pipe, new = os.pipe()
                written[same] = stream
            relays.append(Relay(stream, os.dup(stream), pipe, reads))
        os.dup2(new, stream)
        os.close(new)
    return relays


def _opened_again(path: str, stream: int, status: os.stat_result) -> int | None:
    """A descriptor of the same file, found from here; None where it isn't found or can be written."""
    how = fcntl.fcntl(stream, fcntl.F_GETFL)
    reads = how & os.O_ACCMODE == os.O_RDONLY and (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode))
    if not reads and not stat.S_ISCHR(status.st_mode):
        return None
    flags = how & (os.O_ACCMODE | os.O_APPEND | os.O_NONBLOCK) | os.O_NOCTTY | os.O_CLOEXEC
    try:
        new = os.open(path, flags)
    except OSError:
        return None
    if not os.path.samestat(os.fstat(new), status):
        os.close(new)
        return None
    if stat.S_ISREG(status.st_mode):
        os.lseek(new, os.lseek(stream, 0, os.SEEK_CUR), os.SEEK_SET)
    return new


_Steps = Iterator[tuple[int, int]]
"""Carries something on whenever the descriptor that it gives is ready, for reading or for writing."""


def _heard(told: int, heard: bytearray) -> _Steps:
    yield told, select.POLLIN
    while data := os.read(told, 64):
        heard += data
        yield told, select.POLLIN


def _carried_out(stream: int, pipe: int) -> _Steps:
    """What the program writes goes on to its file."""
    left = FILE_LIMIT
    yield pipe, select.POLLIN
    while data := os.read(pipe, min(left, _PIECE)):
        left -= _write_all(stream, data)
        yield pipe, select.POLLIN


def _carried_in(stream: int, pipe: int) -> _Steps:
    """What the program reads: more is read when that is on its way, so neither side can make the other wait."""
    os.set_blocking(pipe, False)
    yield stream, select.POLLIN
    while unsent := os.read(stream, _PIECE):
        while unsent:
            yield pipe, select.POLLOUT
            unsent = unsent[os.write(pipe, unsent) :]
        yield stream, select.POLLIN


def wait_and_carry(told: int, relays: Iterable[Relay]) -> bytes:
    """Reads `told` to its end and returns what came; meanwhile, and until they end, carries the relayed streams on.

    By one thread: where the next process is in another namespace for processes, a process can't have two.
    """
    poll = select.poll()
    waiting: dict[int, tuple[_Steps, int, bool]] = {}

    def go_on(steps: _Steps, ends_with: int, is_awaited: bool) -> None:
        with contextlib.suppress(OSError):  # of a reader that is gone, a disk that is full
            for descriptor, event in steps:
                poll.register(descriptor, event)
                waiting[descriptor] = steps, ends_with, is_awaited
                return
        os.close(ends_with)

    heard = bytearray()
    go_on(_heard(told, heard), told, True)
    for relay in relays:
        os.dup2(relay.original, relay.stream)
        os.close(relay.original)
        if relay.pipe is not None:
            steps = (_carried_in if relay.reads else _carried_out)(relay.stream, relay.pipe)
            go_on(steps, relay.pipe, not relay.reads)
    while any(is_awaited for _, _, is_awaited in waiting.values()):
        for ready, _ in poll.poll():
            poll.unregister(ready)
            go_on(*waiting.pop(ready))
    return bytes(heard)


def _write_all(descriptor: int, data: bytes) -> int:
    rest = data
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    return len(data)


def is_sealed(folders: Sequence[Path], *, becomes_another: bool) -> bool:
    """Whether all files that the process has open, its executable too, are its own or on a read-only mount."""
    for name in os.listdir("/proc/self/fd"):
        path = path_of(int(name))
        if not path or _is_below(path, folders) or (becomes_another and not os.get_inheritable(int(name))):
            continue
        if not os.statvfs(f"/proc/self/fd/{name}").f_flag & os.ST_RDONLY:
            return False
    return becomes_another or bool(os.statvfs("/proc/self/exe").f_flag & os.ST_RDONLY)
