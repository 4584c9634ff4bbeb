"""A filter of system calls, for a process and what it starts: those by which it could leave its containment."""

from __future__ import annotations

import ctypes
import platform
import struct
from collections.abc import Sequence

PR_SET_NO_NEW_PRIVS = 38
_X86, _ARM = "x86_64", "aarch64"
_ARCHITECTURES = {_X86: 0xC000003E, _ARM: 0xC00000B7}
_SOCKET = {_X86: 41, _ARM: 198}
_SOCKETPAIR = {_X86: 53, _ARM: 199}
_IOCTL = {_X86: 16, _ARM: 29}
_REFUSED = {
    # New namespaces give back what was given up; mounting undoes what is read-only.
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "mount_setattr": (442, 442), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsmount": (432, 432), "chroot": (161, 51),
    # io_uring opens sockets past this filter.
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    # The user's keyring, and the insides of the kernel and of other processes.
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "kexec_load": (246, 104), "init_module": (175, 105),
    "finit_module": (313, 273), "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438), "open_by_handle_at": (304, 265), "acct": (163, 89), "quotactl": (179, 60),
    "swapon": (167, 224), "reboot": (169, 142), "sethostname": (170, 161), "setdomainname": (171, 162),
}  # fmt: skip
"""By name the numbers on x86-64 and on ARM."""
_CLONE = {_X86: 56, _ARM: 220}
_CLONE3 = 435
_NEW_USER = 0x10000000
_AF_UNIX, _AF_VSOCK = 1, 40
_PAIRS = tuple(kind | flags for kind in (1, 5) for flags in (0, 0x800, 0x80000, 0x80800))
"""SOCK_STREAM and SOCK_SEQPACKET, with SOCK_NONBLOCK and SOCK_CLOEXEC: what is connected stays so. A pair of datagram
sockets can be sent, or connected, to the path of a service."""
_INJECT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which type into a terminal."""
_X32 = 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _EPERM, _ENOSYS, _EACCES = 0x7FFF0000, 0x00050001, 0x00050026, 0x0005000D
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
_PR_SET_SECCOMP, _FILTER = 22, 2


def refuse_calls() -> bool:
    """Puts the filter on this process and what it starts; whether the system takes it."""
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        return False
    program = _program(machine)
    kept = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    libc = ctypes.CDLL(None, use_errno=True)
    whole = Program(len(program) // 8, ctypes.addressof(kept))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(whole), 0, 0) == 0)


def _program(machine: str) -> bytes:
    column = (_X86, _ARM).index(machine)
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _ARCHITECTURES[machine]),  # the numbers are those of one architecture
        (_RETURN, 0, 0, _EPERM),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == _X86:
        steps += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _ENOSYS)]
    # glibc goes on with `clone` where there is no `clone3`, whose flags a filter can't see.
    steps += _refused(_CLONE3, _ENOSYS)
    for numbers in _REFUSED.values():
        steps += _refused(numbers[column], _EPERM)
    steps += _with_argument(_CLONE[machine], _FIRST, [(_ANY_BIT, _NEW_USER)], _EPERM)
    steps += _with_argument(_SOCKET[machine], _FIRST, [(_EQUAL, _AF_UNIX), (_EQUAL, _AF_VSOCK)], _EACCES)
    steps += _unless_argument(_SOCKETPAIR[machine], _SECOND, _PAIRS, _EACCES)
    steps += _with_argument(_IOCTL[machine], _SECOND, [(_EQUAL, request) for request in _INJECT], _EPERM)
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


_Step = tuple[int, int, int, int]


def _refused(number: int, error: int) -> list[_Step]:
    return [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, error)]


def _with_argument(number: int, argument: int, tests: list[tuple[int, int]], error: int) -> list[_Step]:
    """Refuses a call whose argument (its lower half) meets one of the tests."""
    steps: list[_Step] = [(_LOAD, 0, 0, argument)]
    for test, value in tests:
        steps += [(test, 0, 1, value), (_RETURN, 0, 0, error)]
    steps.append((_LOAD, 0, 0, _NUMBER))
    return [(_EQUAL, 0, len(steps), number), *steps]


def _unless_argument(number: int, argument: int, allowed: Sequence[int], error: int) -> list[_Step]:
    """Refuses a call unless its argument (its lower half) is one of those values."""
    steps: list[_Step] = [(_LOAD, 0, 0, argument)]
    steps += [(_EQUAL, len(allowed) - index, 0, value) for index, value in enumerate(allowed)]
    steps += [(_RETURN, 0, 0, error), (_LOAD, 0, 0, _NUMBER)]
    return [(_EQUAL, 0, len(steps), number), *steps]
