"""Folders of our own to work in: found again by their purpose, and gone at the end."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from pathlib import Path


@contextlib.contextmanager
def scratch_folder(parent: Path, purpose: str) -> Iterator[Path]:
    """A folder of our own below `parent`, removed at the end.

    Its name is the same whenever `purpose` is, so that what is compiled in it is found again in the cache of compiled
    programs, which goes by paths, too. Another process with the same purpose gets the next name. What a killed
    process left behind is taken over: a folder in use is locked, and locks end with their process.
    """
    stem = hashlib.blake2b(purpose.encode(), digest_size=8).hexdigest()
    for number in itertools.count():
        folder = parent / f"{stem}-{number}"
        _make(folder)
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue  # removed in between, or no folder
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                opened = os.fstat(lock)
                ours = os.path.samestat(opened, os.stat(folder)) and opened.st_uid == os.geteuid()
                ours = ours and not opened.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            except OSError:
                continue
            if not ours:
                continue
            try:
                empty_folder(folder)
                yield folder
            finally:
                _remove(folder)
                with contextlib.suppress(OSError):
                    parent.rmdir()  # the last one out
            return
        finally:
            os.close(lock)


def _make(folder: Path) -> None:
    """Makes it, and what it lies in, which the last one out of another process may remove at any time."""
    while True:
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except FileExistsError:
            return  # a file, or removed in between
        except FileNotFoundError:
            continue
        return


def empty_folder(folder: Path, *, but: Collection[Path] = ()) -> None:
    """Removes what is in our own folder, but for some."""
    for entry in folder.iterdir():
        if entry in but:
            continue
        if entry.is_dir() and not entry.is_symlink():
            _remove(entry)
        else:
            entry.unlink()


def _remove(folder: Path) -> None:
    def retry(function: object, path: str, error: BaseException) -> None:
        # A program may have taken the right to write from its own folder.
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
        with contextlib.suppress(OSError):
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)

    shutil.rmtree(folder, onerror=lambda f, path, info: retry(f, path, info[1]))
