"""Copies to work on: made, migrated, and gone at the end."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from guardfix.linter.files.discovery import SKIPPED_FOLDERS

from .programs import files_below

TREE_LIMIT = 1 << 30
"""Bytes of a folder that was named that are copied."""

SIBLINGS_LIMIT = 64 << 20
"""Bytes of the folder of a file that was named that are copied along with it."""

FILES_LIMIT = 20_000


@contextlib.contextmanager
def scratch_folder(parent: Path, purpose: str) -> Iterator[Path]:
    """A folder of our own below `parent`, removed at the end.

    Its name is the same whenever `purpose` is, so that what is compiled in it is found again in the cache of compiled
    programs, which goes by paths, too. Another process with the same purpose gets the next name. What a killed
    process left behind is taken over: a folder in use is locked, and locks end with their process.
    """
    parent.mkdir(parents=True, exist_ok=True)
    stem = hashlib.blake2b(purpose.encode(), digest_size=8).hexdigest()
    for number in itertools.count():
        folder = parent / f"{stem}-{number}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue  # removed in between, or no folder
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                ours = os.path.samestat(os.fstat(lock), os.stat(folder))
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


def empty_folder(folder: Path) -> None:
    """Removes what is in a folder of our own."""
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            _remove(entry)
        else:
            entry.unlink()


def _remove(folder: Path) -> None:
    def retry(function: object, path: str, error: BaseException) -> None:
        # A program may have taken the right to write from a folder of its own.
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
        with contextlib.suppress(OSError):
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)

    shutil.rmtree(folder, onerror=lambda f, path, info: retry(f, path, info[1]))


def copy_tree(root: Path, target: Path, *, limit: int, first: Path | None = None) -> list[Path]:
    """Copies the files below `root` to `target`; returns those left out because they are too many or too much.

    The smallest files come first, `first` before all. Version control, caches and virtual environments are not
    copied; links are copied as what they point to.
    """
    found = sorted(files_below(root, SKIPPED_FOLDERS), key=lambda item: (item[0] != first, item[1], item[0]))
    copied = total = 0
    left_out = []
    for path, size in found:
        if copied >= FILES_LIMIT or total + size > limit:
            left_out.append(path)
            continue
        place = target / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(path, place)
        except OSError:
            left_out.append(path)
            continue
        copied, total = copied + 1, total + size
    return sorted(left_out)


def write_texts(root: Path, target: Path, texts: Mapping[Path, bytes]) -> None:
    """Puts new texts in the place of files that were copied from `root` to `target`."""
    base = os.path.realpath(root)
    for path, text in texts.items():
        relative = os.path.relpath(os.path.realpath(path), base)
        if not relative.startswith(".."):
            place = target / relative
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text)
