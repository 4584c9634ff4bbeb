"""What keeps a program that is run to itself.

On Linux, without being root: namespaces of its own, in which there is no network, everything but its own folders is
read-only, /tmp, /dev, /run and /proc are its own, and nothing that it starts outlives it; Landlock, which keeps it
from writing where there are no namespaces; and a filter of system calls (`system_filter`). What the system can't do is
reported and left out. Reading other files is not restricted.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import platform
import re
import resource
import signal
import socket
import stat
import struct
import sys
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from .open_files import STREAMS, Relay, is_sealed, path_of, replace_streams, wait_and_carry
from .system_filter import PR_SET_NO_NEW_PRIVS, refuse_calls

NETWORK = "network"
PROCESSES = "processes"
FILES = "files"
METADATA = "metadata"
TEMPORARY = "temporary"
SOCKETS = "sockets"
DEVICES = "devices"
ASPECTS = (NETWORK, PROCESSES, FILES, METADATA, TEMPORARY, SOCKETS, DEVICES)
"""What can be contained."""

_FREE_TO = {
    NETWORK: "use the network",
    FILES: "write to files outside of their copies",
    METADATA: "change modes, owners, times and attributes of files outside of their copies",
    TEMPORARY: "see and use the system's /tmp, /dev/shm and /run",
    SOCKETS: "use the sockets of services, such as docker and the ssh agent",
    DEVICES: "open devices, such as disks and other terminals",
    PROCESSES: "see other processes, start any number of them, and leave some behind",
}


def not_contained(aspects: Iterable[str]) -> list[str]:
    """What a program is free to do where only these aspects are contained, in words."""
    contained = set(aspects)
    return [words for aspect, words in _FREE_TO.items() if aspect not in contained]


_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = (
    0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
)  # fmt: skip
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND, _MS_REC, _MS_PRIVATE = 1 << 1, 1 << 2, 1 << 3, 1 << 12, 1 << 14, 1 << 18
_MOUNT_SETATTR, _AT_RECURSIVE, _READ_ONLY = 442, 0x8000, 1
_HIDDEN = ("/run", "/var/run")
"""Where services have their sockets."""
_SHARED = "/dev/shm"
_KEPT_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "shm", "nvidia*", "kfd", "dri")
_DEVICE_LINKS = {"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}
_SEARCHED = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONUSERBASE", "GUARDFIX_CACHE_DIR")
"""Variables that name what a program needs."""
_PUBLIC, _FIXED = b"size=1g,mode=1777", b"size=1m,mode=755"
"""Of what is empty at first. In a public folder `> /dev/null` is refused (`fs.protected_regular`)."""
_MOST_PIDS = 1024
_OWN_PID_MAX = (6, 14)
"""The first Linux in which that is a setting of a namespace."""
_PR_CAPBSET_DROP, _PR_CAP_AMBIENT, _CAPSET = 24, 47, {"x86_64": 126, "aarch64": 91}
_LAST_CAPABILITY = 63
_PR_SET_PDEATHSIG = 1
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_WRITING = {1: (1, 4, 5, 6, 7, 8, 9, 10, 11, 12), 2: (13,), 3: (14,)}
"""By version of Landlock the rights that mean writing: LANDLOCK_ACCESS_FS_WRITE_FILE and so on, as numbers of bits."""
_FILE_RIGHTS = (1, 14)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/shm", "/proc/self")


def contain(
    folders: Iterable[Path],
    temporary: Path,
    *,
    needed: Iterable[Path] = (),
    held: Iterable[int] = (),
    instead: tuple[Path, Path] | None = None,
    becomes_another: bool = False,
) -> frozenset[str]:
    """Contains this process, and what it starts, from here on; returns which of `ASPECTS` are contained.

    It may write below `folders` alone. `temporary` becomes /tmp, where only what is `needed` is left of the old one.
    The process goes on as a child of the one that called, which ends as the child does, and lets go of the descriptors
    that are `held`. With `instead`, the first of two folders is found where the second is; OSError if it can't be. A
    program that the process `becomes_another` by (`exec`) is found where nothing can be changed; without that, the
    process must have been started so (`start_sealed`).
    """
    if sys.platform != "linux":
        if instead is not None:
            raise OSError("only Linux has mounts that a process alone sees")
        return frozenset()
    found: set[str] = set()
    own = [*folders, temporary]
    if _enter_namespaces():
        _end_with_parent()  # a change of credentials forgets it
        with contextlib.suppress(OSError):
            _raise_loopback()
        is_private = _make_private(temporary, [*needed, *own])
        if instead is not None and _mount(os.fsencode(instead[0]), str(instead[1]), None, _MS_BIND):
            instead = None
        has_own_devices = _replace_devices()
        _become_child(held, replace_streams(own))
        is_alone = _own_processes()
        is_read_only = _make_read_only(own) and _give_up_capabilities()
        kept = {
            NETWORK: True,
            TEMPORARY: is_private,
            DEVICES: has_own_devices,
            PROCESSES: is_alone,
            FILES: is_read_only,
            METADATA: is_read_only and is_sealed(own, becomes_another=becomes_another),
        }
        found.update(aspect for aspect, is_so in kept.items() if is_so)
    if instead is not None:
        raise OSError(f"{instead[0]} can't be found at {instead[1]} on this system")
    if _restrict_writing(own):
        found.add(FILES)
    if refuse_calls():
        found.add(SOCKETS)
    return frozenset(found)


def start_sealed(command: Sequence[str]) -> NoReturn:
    """Becomes the command, whose executable nothing can change: not through its `/proc/self/exe` either, which leads
    to where it was found when it was started, past all that is mounted later. Where the system can't, it is as any."""
    executable = os.path.realpath(command[0])
    has_own_mounts = sys.platform == "linux" and (_libc().unshare(_NEWNS) == 0 or _enter(_NEWUSER | _NEWNS))
    if has_own_mounts and _mount(None, "/", None, _MS_REC | _MS_PRIVATE):
        place = os.fsencode(executable)
        # Whether it worked is seen by who asks later whether all is sealed.
        _ = _mount(place, executable, None, _MS_BIND) and _set_attributes(place, _READ_ONLY)
    os.execv(command[0], [*command])


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _enter_namespaces() -> bool:
    _await_threads()
    return _enter(_NEWUSER | _NEWNET | _NEWNS | _NEWPID | _NEWIPC | _NEWUTS)


def _enter(namespaces: int) -> bool:
    """Enters new namespaces, one for users among them; whether the system gives them."""
    user, group = os.getuid(), os.getgid()
    if _libc().unshare(namespaces) != 0:
        return False
    try:
        with contextlib.suppress(OSError):
            Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    except OSError:
        return True  # it goes by the name of no one; files of its own are still its own
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


def _mount(source: bytes | None, place: str, kind: bytes | None, flags: int, data: bytes | None = None) -> bool:
    return bool(_libc().mount(source, os.fsencode(place), kind, flags, data) == 0)


def _make_private(temporary: Path, needed: Iterable[Path]) -> bool:
    """Gives the process its own /tmp, /dev/shm and /run; whether it has them all."""
    if not _mount(None, "/", None, _MS_REC | _MS_PRIVATE):
        return False
    here = os.getcwd()
    searched = (os.environ.get(name, "").replace(" ", os.pathsep).split(os.pathsep) for name in _SEARCHED)
    programs = (sys.prefix, sys.base_prefix, __file__, here, *sys.path, *(path for paths in searched for path in paths))
    kept = {path.resolve() for path in (*needed, *_own_folders(), *map(Path, filter(os.path.isabs, programs)))}
    done = _replace_folder("/tmp", kept, temporary)
    done = _replace_folder(_SHARED, kept, None) and done
    for place in _HIDDEN:
        if os.path.isdir(place) and not os.path.islink(place):
            done = _replace_folder(place, kept, None) and done
    with contextlib.suppress(OSError):
        os.chdir(here)  # the old one is below what was mounted
    return done


def _own_folders() -> Iterable[Path]:
    """Where guardfix lies, more of which is imported later; a finder can know what the search path doesn't have."""
    top = __name__.partition(".")[0]
    packages = (module for name, module in sys.modules.items() if name == top or name.startswith(f"{top}."))
    folders = {Path(folder) for package in packages for folder in getattr(package, "__path__", ())}
    # In a checkout its packages are links.
    return folders | {inside for folder in folders for inside in folder.iterdir() if inside.is_symlink()}


def _outermost(paths: Iterable[Path]) -> list[Path]:
    """Of paths that lie in one another, the outermost."""
    found: list[Path] = []
    for path in sorted({path for path in paths if os.path.exists(path)}, key=lambda path: len(path.parts)):
        if not any(path.is_relative_to(other) for other in found):
            found.append(path)
    return found


def _replace_folder(name: str, kept: Collection[Path], by: Path | None, options: bytes = _PUBLIC) -> bool:
    """`_put_another_folder`; False also where the system refuses a step of it."""
    try:
        return _put_another_folder(name, kept, by, options)
    except OSError:
        return False


def _put_another_folder(name: str, kept: Collection[Path], by: Path | None, options: bytes) -> bool:
    """Puts another folder, or an empty one in memory, in the place of one; what is kept is found there as before."""
    if not os.path.isdir(name):
        return True
    place = Path(name).resolve()
    if place in kept:
        return False  # all of it is needed
    inside = _outermost(path for path in kept if path.is_relative_to(place))
    opened = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in inside]
    own = os.open(by, os.O_PATH | os.O_CLOEXEC) if by is not None else -1
    try:
        if by is not None:
            done = _mount(os.fsencode(f"/proc/self/fd/{own}"), str(place), None, _MS_BIND)
        else:
            done = _mount(b"tmpfs", str(place), b"tmpfs", _MS_NOSUID | _MS_NODEV, options)
        if not done:
            return False
        for path, descriptor in opened:
            is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
            (path if is_folder else path.parent).mkdir(parents=True, exist_ok=True)
            if not is_folder:
                path.touch()
            if not _mount(os.fsencode(f"/proc/self/fd/{descriptor}"), str(path), None, _MS_BIND | _MS_REC):
                return False
        return True
    finally:
        for _, descriptor in opened:
            os.close(descriptor)
        if own >= 0:
            os.close(own)


def _replace_devices() -> bool:
    """Leaves the devices that any program uses, and graphics processors: no disk, memory, or terminal of others."""
    kept = [device for name in _KEPT_DEVICES for device in Path("/dev").glob(name)]
    # The terminal that it is run from; any other file that a stream is reaches it in another way.
    kept += [Path(path) for stream in STREAMS if (path := path_of(stream)).startswith("/dev/pts/")]
    if not _replace_folder("/dev", kept, None, _FIXED):
        return False
    for name, descriptor in _DEVICE_LINKS.items():
        with contextlib.suppress(OSError):
            os.symlink(f"/proc/self/fd{descriptor}", f"/dev/{name}")
    return True


def _own_processes() -> bool:
    """Lets the process see those of its namespace alone, and only so many of them; whether that is so."""
    if not _mount(b"proc", "/proc", b"proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC):
        return False
    if os.getuid() != 0:
        return True  # who runs it sets the user's limit
    release = tuple(int(number) for number in re.findall(r"\d+", platform.release())[:2])
    if release < _OWN_PID_MAX:
        return False  # the setting would be the whole machine's
    try:
        Path("/proc/sys/kernel/pid_max").write_text(str(_MOST_PIDS))
    except OSError:
        return False
    return True


def _make_read_only(folders: Iterable[Path]) -> bool:
    """Makes all that is mounted read-only, except for some folders: no mode, owner, time or attribute changes then."""
    places = [os.fsencode(folder.resolve()) for folder in folders if folder.is_dir()]
    here = os.getcwd()
    for place in places:
        if not _mount(place, os.fsdecode(place), None, _MS_BIND | _MS_REC):
            return False
    writable = [*places, *filter(os.path.isdir, (b"/tmp", os.fsencode(_SHARED)))]
    if not _set_attributes(b"/", _READ_ONLY, flags=_AT_RECURSIVE):
        return False
    done = len(writable) == sum(_set_attributes(place, clear=_READ_ONLY) for place in writable)
    with contextlib.suppress(OSError):
        os.chdir(here)  # into the mount that can be written
    return done


def _set_attributes(place: bytes, set_: int = 0, clear: int = 0, flags: int = 0) -> bool:
    """Changes a mount's attributes; whether the system has done so."""
    attributes = struct.pack("=QQQQ", set_, clear, 0, 0)
    given = ctypes.c_size_t(len(attributes))
    return bool(_libc().syscall(_MOUNT_SETATTR, -100, place, flags, attributes, given) == 0)


def _give_up_capabilities() -> bool:
    """Gives up what the namespaces gave: who may mount could undo what was mounted, also as root after an `exec`."""
    libc = _libc()
    libc.prctl(_PR_CAP_AMBIENT, 4, 0, 0, 0)
    for capability in range(_LAST_CAPABILITY + 1):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    number = _CAPSET.get(platform.machine())
    return number is not None and bool(libc.syscall(number, struct.pack("=Ii", 0x20080522, 0), bytes(24)) == 0)


def _become_child(held: Iterable[int], relays: Sequence[Relay]) -> None:
    """Goes on in the new namespace for processes: as the child of its first process, which everything ends with.

    The two processes that wait let go of the descriptors that are `held`; the outer one carries on what is relayed.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # as it is where the stream was closed
            stream.flush()
    told, tell = os.pipe()
    child = os.fork()
    if child:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program decides, and this process ends with it
        _let_go(held, tell)
        ended = wait_and_carry(told, relays)
        os.waitpid(child, 0)
        _end_as(int(ended or b"9"))
    _end_with_parent()
    os.close(told)
    _let_go(end for relay in relays for end in (relay.original, relay.pipe) if end is not None)
    child = os.fork()
    if child:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
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
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            return False
        return bool(libc.syscall(_RESTRICT_SELF, rules, 0) == 0)
    finally:
        os.close(rules)
