"""New text -> disk: each file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile

from guardfix.linter.files.sources import BinaryFile, Unreadable
from guardfix.linter.files.workspace import DISK

from .rewriting import Rewrite


class NotWritten(Exception):
    """A file that was left as it was; the message says why."""


def write(rewritten: Rewrite) -> None:
    """Replace a file by its new text: temporary file beside it, fsync, rename.

    Mode, owner (where allowed), encoding, byte order mark and line ends stay. Raises `NotWritten` when the
    file changed since it was read, or cannot be written.
    """
    path = rewritten.source.path
    try:
        current = DISK.read(path)
    except Unreadable as error:
        raise NotWritten(f"cannot be read any more: {error}") from None
    except BinaryFile:
        raise NotWritten("changed since it was read; run again") from None
    if current.text != rewritten.source.text or current.encoding != rewritten.source.encoding:
        raise NotWritten("changed since it was read; run again")
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    data = rewritten.source.encode(rewritten.text)
    try:
        before = os.stat(target)
        if not os.access(target, os.W_OK):
            raise NotWritten("the file is not writable")
        handle, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(target)}.", suffix=".guardfix", dir=folder)
    except OSError as error:
        raise NotWritten(error.strerror or str(error)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, stat.S_IMODE(before.st_mode))
        if hasattr(os, "chown") and (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
            with contextlib.suppress(PermissionError):  # only root may give files away
                os.chown(temporary, before.st_uid, before.st_gid)
        os.replace(temporary, target)
    except BaseException as error:  # Ctrl-C leaves nothing behind either
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise NotWritten(error.strerror or str(error)) from None
        raise
    if hasattr(os, "O_DIRECTORY"):
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)  # the rename itself
        finally:
            os.close(directory)
