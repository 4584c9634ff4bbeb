"""What keeps a program that is run to itself.

On Linux, without being root: namespaces of its own, so that it has no network, a private /tmp, and nothing that it
starts outlives it; and Landlock, so that it writes nowhere but in its own folders. What the system can't do is reported
and left out. Reading is not restricted.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

NETWORK = "network"
PROCESSES = "processes"
FILES = "files"
ASPECTS = (NETWORK, PROCESSES, FILES)
"""What can be contained."""

_NEWNS, _NEWUSER, _NEWPID, _NEWNET = 0x00020000, 0x10000000, 0x20000000, 0x40000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_WRITING = {1: (1, 4, 5, 6, 7, 8, 9, 10, 11, 12), 2: (13,), 3: (14,)}
"""By version of Landlock the rights that mean writing: LANDLOCK_ACCESS_FS_WRITE_FILE and so on, as numbers of bits."""
_FILE_RIGHTS = (1, 14)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/shm", "/proc/self")


def contain(
    folders: Iterable[Path], temporary: Path, *, needed: Iterable[Path] = (), held: Iterable[int] = ()
) -> frozenset[str]:
    """Contains this process, and what it starts, from here on; returns which of `ASPECTS` are contained.

    It may write below `folders` alone. `temporary` becomes /tmp, unless something `needed` lies there. The process goes
    on as a child of the one that called, which ends as the child does, and lets go of the descriptors that are `held`.
    """
    if sys.platform != "linux":
        return frozenset()
    found: set[str] = set()
    folders = [*folders]
    needed = [*needed, *folders, temporary]
    if _enter_namespaces():
        found |= {NETWORK, PROCESSES}
        _end_with_parent()  # a change of credentials forgets it
        with contextlib.suppress(OSError):
            _raise_loopback()
        _hide_tmp(temporary, needed)
        _become_child(held)
    if _restrict_writing([*folders, temporary]):
        found.add(FILES)
    return frozenset(found)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _enter_namespaces() -> bool:
    user, group = os.getuid(), os.getgid()
    _await_threads()
    if _libc().unshare(_NEWUSER | _NEWNET | _NEWNS | _NEWPID) != 0:
        return False
    try:
        with contextlib.suppress(OSError):
            Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    except OSError:
        return True  # it goes by the name of nobody; files of its own are still its own
    return True


def _await_threads(seconds: float = 2.0) -> None:
    """Waits until this thread is the process's only one, as a new user namespace demands.

    Those that ran compilers have been joined by then, but Python's `join` returns before the system has ended a thread.
    """
    deadline = time.monotonic() + seconds
    with contextlib.suppress(OSError):
        while len(os.listdir("/proc/self/task")) > 1 and time.monotonic() < deadline:
            time.sleep(0.001)


def _raise_loopback() -> None:
    """Programs may talk to themselves."""
    get_flags, set_flags, up = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        request = struct.pack("16sH14x", b"lo", 0)
        (flags,) = struct.unpack_from("H", fcntl.ioctl(one, get_flags, request), 16)
        fcntl.ioctl(one, set_flags, struct.pack("16sH14x", b"lo", flags | up))


def _hide_tmp(temporary: Path, needed: Iterable[Path]) -> None:
    place = Path("/tmp").resolve()
    programs = map(Path, (sys.prefix, sys.base_prefix, __file__, os.getcwd()))
    if any(path.resolve().is_relative_to(place) for path in (*needed, *programs)):
        return
    libc = _libc()
    libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    libc.mount(os.fsencode(temporary), os.fsencode(place), None, _MS_BIND, None)


def _become_child(held: Iterable[int]) -> None:
    """Goes on in the new namespace for processes: as the child of its first process, which everything ends with.

    The two processes that wait let go of the descriptors that are `held`.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    told, tell = os.pipe()
    child = os.fork()
    if child:
        _let_go(held, tell)
        with open(told, "rb") as pipe:
            ended = pipe.read()
        os.waitpid(child, 0)
        _end_as(int(ended or b"9"))
    _end_with_parent()
    os.close(told)
    child = os.fork()
    if child:
        _let_go(held)
        # What the program leaves behind is adopted by this process, and ends with it.
        while True:
            pid, status = os.wait()
            if pid == child:
                os.write(tell, str(status).encode())
                os._exit(0)
    os.close(tell)
    _end_with_parent()


def _let_go(held: Iterable[int], *more: int) -> None:
    for descriptor in (*held, *more):
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _end_with_parent() -> None:
    _libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _end_as(status: int) -> NoReturn:
    """Ends this process as the one with that status of `wait` did."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def _restrict_writing(folders: Iterable[Path]) -> bool:
    libc = _libc()
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    rights = sum(1 << bit for first, bits in _WRITING.items() if first <= version for bit in bits)
    for_files = sum(1 << bit for bit in _FILE_RIGHTS) & rights
    handled = struct.pack("=Q", rights)
    rules = libc.syscall(_CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0)
    if rules < 0:
        return False
    try:
        for path in (*map(str, folders), *_DEVICES):
            try:
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            allowed = rights if os.path.isdir(path) else for_files
            libc.syscall(_ADD_RULE, rules, _RULE_PATH_BENEATH, struct.pack("=Qi", allowed, place), 0)
            os.close(place)
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            return False
        return bool(libc.syscall(_RESTRICT_SELF, rules, 0) == 0)
    finally:
        os.close(rules)
