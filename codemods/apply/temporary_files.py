"""The files that a new text is written to before it takes its place, and what a killed run leaves of them.

While it is being written, the file is called `.NAME.RANDOM.guardfix`. When it is whole, the digests of the new and of
the old text are added to its name. Then it changes places with the file, and what was displaced has that name: so it
can be distinguished from an edit that somebody made at that moment, which is never removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator

from guardfix.linter.lazy_regex import lazy_regex

_WRITING = lazy_regex(r"\..*\.[0-9a-f]{16}\.guardfix", re.DOTALL)
_WHOLE = lazy_regex(r"\..*\.[0-9a-f]{16}\.(?P<new>[0-9a-f]{16})-(?P<old>[0-9a-f]{16})\.guardfix", re.DOTALL)
_LONGEST = 60
"""Bytes of the file's own name that are repeated."""
_AS_IT_IS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_CLOSED_FIRST = os.name == "nt"
"""Windows renames no file that is open."""


class TemporaryFile:
    """A new text on its way to `target`, in the same folder."""

    def __init__(self, target: str, new: bytes, old: bytes) -> None:
        self._new, self._old = new, old
        folder, name = os.path.split(os.fsencode(target))
        start = os.path.join(folder, b"." + name[:_LONGEST] + b"." + secrets.token_hex(8).encode())
        self.path = os.fsdecode(start + b".guardfix")
        self._whole = os.fsdecode(start + f".{_digest(new)}-{_digest(old)}.guardfix".encode())
        self.handle = -1

    def write(self) -> None:
        """Create the file and write the new text."""
        self.handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _AS_IT_IS, 0o600)
        _lock(self.handle)
        rest = memoryview(self._new)
        while rest:
            rest = rest[os.write(self.handle, rest) :]

    def sync(self) -> None:
        """Once mode and attributes are those of the file, the new text can take its place."""
        os.fsync(self.handle)
        if _CLOSED_FIRST:
            os.close(self.handle)
            self.handle = -1
        os.rename(self.path, self._whole)
        self.path = self._whole

    def close(self) -> None:
        """Remove the file, unless it holds what somebody else wrote."""
        try:
            self._remove()
        except BaseException:  # interrupted just now: the next run would have to do this
            self._remove()
            raise
        finally:
            if self.handle >= 0:
                os.close(self.handle)
                self.handle = -1

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            if self.path != self._whole or read(self.path) in (self._new, self._old):
                os.unlink(self.path)


def read(path: str) -> bytes:
    """The bytes of a file; it must be a regular one. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _AS_IT_IS)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(0, "not a regular file")
        return file.read()


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def _lock(handle: int) -> bool:
    """Mark the file as one that a run is at work on; False when another run is."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # a file system without locks: whether a run is at work is not known
        return False
    return True


def remove_abandoned(folders: Iterable[str]) -> None:
    """Remove what killed runs left in these folders: temporary files of this user that no run is at work on."""
    for folder in set(folders):
        for path in _abandoned(folder):
            with contextlib.suppress(OSError):
                os.unlink(path)


def _abandoned(folder: str) -> Iterator[str]:
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".guardfix")]
    except OSError:
        return
    for name in names:
        whole = _WHOLE.fullmatch(name)
        if whole is None and _WRITING.fullmatch(name) is None:
            continue
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):
            found = os.lstat(path)
            if not stat.S_ISREG(found.st_mode) or (hasattr(os, "geteuid") and found.st_uid != os.geteuid()):
                continue
            handle = os.open(path, os.O_RDWR)
            try:
                if _lock(handle) and (whole is None or _digest(read(path)) in (whole["new"], whole["old"])):
                    yield path
            finally:
                os.close(handle)
