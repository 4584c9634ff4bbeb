"""New text -> disk: each file whole or not at all, and nothing that somebody else wrote is lost.

The new text is written beside the file, and the two change places in one step (`renameat2` with `RENAME_EXCHANGE`).
Only then what was displaced is compared with what was checked: if somebody has written to the file in between, the two
change places again. Where the system has no such call, the file is compared once more and replaced by a rename right
afterwards; an edit between these two is lost. So is, anywhere, what a program writes through a handle that it opened
before.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
import threading
from collections.abc import Iterator
from typing import Any

from guardfix.linter.files.sources import Source

from .exchange import exchange
from .rewriting import Rewrite
from .temporary_files import TemporaryFile, read

_CHANGED = "changed since it was read; run again"
_NO_ATTRIBUTES = (errno.ENOTSUP, errno.ENOSYS)


class NotWritten(Exception):
    """A file that was left as it was; the message says why."""


def write(rewritten: Rewrite) -> None:
    """Replace a file by its new text.

    Mode, set-id bits, owner, extended attributes and access lists, encoding, byte order mark and line ends stay. Raises
    `NotWritten` when the file changed since it was read, or cannot be written so.
    """
    target = os.path.realpath(rewritten.source.path)
    new, old = (rewritten.source.encode(text) for text in (rewritten.text, rewritten.source.text))
    try:
        with _signals_held():
            _check(target, rewritten.source)
            before = os.stat(target)
            temporary = TemporaryFile(target, new, old)
            try:
                temporary.write()
                _keep_attributes(target, before, temporary)
                temporary.sync()
                _replace(target, temporary, old, new)
            finally:
                temporary.close()
            _sync_folder(os.path.dirname(target))
    except OSError as error:
        raise NotWritten(error.strerror or str(error)) from None


# The last one is given back last: from then on Ctrl-C ends the run, wherever it is.
_HELD = [getattr(signal, name) for name in ("SIGHUP", "SIGTERM", "SIGINT") if hasattr(signal, name)]


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP wait until the file is done: there is no good moment to stop between its steps.

    Handlers are replaced, because a mask holds for one thread, and Python runs handlers in the main thread whichever
    thread the signal reached. Other threads are not interrupted by them, and may not replace them.
    """
    arrived: list[int] = []
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.getsignal(number) for number in _HELD}
        before = {number: handler for number, handler in handlers.items() if handler is not None}
    try:
        for number in reversed(before):
            signal.signal(number, lambda number, frame: arrived.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in sorted(set(arrived), key=_HELD.index):
            signal.raise_signal(number)


def _check(target: str, source: Source) -> None:
    try:
        current = read(target)
    except OSError as error:
        raise NotWritten(f"cannot be read any more: {error.strerror or error}") from None
    if current != source.encode(source.text):
        raise NotWritten(_CHANGED)
    if not os.access(target, os.W_OK):
        raise NotWritten("the file is not writable")
    links = os.stat(target).st_nlink
    if links > 1:
        raise NotWritten(f"the file has {links} names (hard links), of which the others would keep the old text")


def _keep_attributes(target: str, before: os.stat_result, temporary: TemporaryFile) -> None:
    """Owner, extended attributes and access lists, then the mode, which a change of the owner would cut."""
    special = before.st_mode & (stat.S_ISUID | stat.S_ISGID)
    if hasattr(os, "fchown") and (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
        try:
            os.fchown(temporary.handle, before.st_uid, before.st_gid)
        except PermissionError:  # only root may give files away
            if special:
                raise NotWritten("its set-user-ID or set-group-ID bit cannot be kept") from None
            with contextlib.suppress(PermissionError):
                os.fchown(temporary.handle, -1, before.st_gid)
    _copy_attributes(target, temporary)
    mode = stat.S_IMODE(before.st_mode)
    os.chmod(temporary.path, mode)
    if stat.S_IMODE(os.stat(temporary.path).st_mode) != mode:
        raise NotWritten(f"its mode {mode:o} cannot be kept")


def _copy_attributes(target: str, temporary: TemporaryFile) -> None:
    if not hasattr(os, "listxattr"):
        return
    try:
        wanted = {name: os.getxattr(target, name) for name in os.listxattr(target)}
    except OSError as error:
        if error.errno in _NO_ATTRIBUTES:
            return
        raise
    present = os.listxattr(temporary.handle)
    for name, value in wanted.items():
        # A security label is given by the system, to the new file as to the old one.
        if name in present and os.getxattr(temporary.handle, name) == value:
            continue
        try:
            os.setxattr(temporary.handle, name, value)
        except OSError as error:
            raise NotWritten(f"its extended attribute {name} cannot be kept: {error.strerror}") from None
    for name in present:
        if name not in wanted and not name.startswith("security."):
            os.removexattr(temporary.handle, name)  # an access list that the folder gives


def _replace(target: str, temporary: TemporaryFile, old: bytes, new: bytes) -> None:
    if not exchange(temporary.path, target):
        if read(target) != old:
            raise NotWritten(_CHANGED)
        os.replace(temporary.path, target)
        return
    if read(temporary.path) == old:
        return
    # Somebody wrote to the file in the last moment: that text goes back.
    exchange(temporary.path, target)
    if read(temporary.path) != new:  # and somebody else to the new one
        kept = f"{target}.{os.path.basename(temporary.path)[-25:]}"
        os.rename(temporary.path, kept)
        raise NotWritten(f"changed while it was being written; one of its texts is in {kept}")
    raise NotWritten("changed while it was being written; run again")


def _sync_folder(folder: str) -> None:
    """So that the rename itself outlasts a power cut."""
    if hasattr(os, "O_DIRECTORY"):
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
