"""Keeping the user's cache small: facts about files, and what `verify` has compiled."""

from __future__ import annotations

import fcntl
import glob
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from guardfix.linter.files.entry_store import EntryStore
from guardfix.linter.files.user_cache import facts_folder, user_cache_folder
from guardfix.linter.named_tuples import NamedTuple

_COMPILED = ("programs", "extensions", "contained")
"""What is compiled for programs, for extensions, and by programs themselves: `runtime_shim` writes them."""
_SHARED = ("headers", "objects", "unfinished")
"""Folders in these that hold entries of other kinds."""
_DAY = 86_400


class _CompiledEntry(NamedTuple):
    """A program, an object or a precompiled header."""

    used: float
    """When it was last read, as far as the file system notes it."""
    size: int
    path: str


def cache_size() -> int:
    """Bytes that the cache takes."""
    return sum(_size_and_use(folder)[0] for folder in _all_folders())


def clean_cache() -> bool:
    """Remove everything that can be made again. What the user has agreed to stays. Raises `OSError`.

    False where something is compiled at the moment: what that needs stays as well.
    """
    done = True
    for folder in _all_folders():
        with _alone_in(folder) as alone, suppress(FileNotFoundError):
            done = done and alone
            if alone:
                _remove(folder)
    return done


@contextmanager
def _alone_in(folder: str) -> Iterator[bool]:
    """Whether nothing is compiled in the folder, which is so as long as this lasts."""
    name = os.path.basename(folder)
    within = {"extensions": ("..", "programs"), "contained": ("programs",)}.get(name, ())
    try:
        lock = os.open(os.path.join(folder, *within, "unfinished"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:  # it isn't there
        yield True
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(lock)


def prune_cache(days: int, largest: int) -> None:
    """Remove what was not used for so many days, then what was not used for longest, down to so many bytes."""
    EntryStore(facts_folder()).prune(days, largest)
    facts, _ = _size_and_use(facts_folder())
    entries = sorted(_compiled_entries())
    taken = facts + sum(entry.size for entry in entries)
    oldest = time.time() - days * _DAY
    for entry in entries:
        if entry.used < oldest or taken > largest:
            with suppress(OSError):
                _remove(entry.path)
            taken -= entry.size


def _remove(folder: str) -> None:
    """Remove a folder, which others find whole or not at all. Raises `OSError`."""
    removed = f"{folder}.removed-{os.getpid()}"
    os.rename(folder, removed)
    shutil.rmtree(removed)


def _all_folders() -> list[str]:
    top = user_cache_folder()
    half_removed = glob.glob(os.path.join(glob.escape(top), "*.removed-*"))
    return [facts_folder(), *(os.path.join(top, name) for name in _COMPILED), *half_removed]


def _compiled_entries() -> Iterator[_CompiledEntry]:
    for top in (
        os.path.join(user_cache_folder(), *folders, kind)
        for folders in ((), ("contained",))
        for kind in ("programs", "extensions")
    ):
        headers, objects = os.path.join(top, "headers"), os.path.join(top, "objects")
        by_beginning = [path for folder in (top, objects) for path in _folders(folder) if _is_beginning(path)]
        for path in (*_folders(headers), *(entry for beginning in by_beginning for entry in _folders(beginning))):
            size, used = _size_and_use(path)
            yield _CompiledEntry(used, size, path)


def _is_beginning(path: str) -> bool:
    """Whether a folder holds the entries whose keys begin with its name."""
    return os.path.basename(path) not in _SHARED


def _folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _size_and_use(folder: str) -> tuple[int, float]:
    """Bytes in a folder, and when one of its files was last written or read."""
    size, used = 0, 0.0
    for where, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                status = os.lstat(os.path.join(where, name))
                size += status.st_size
                used = max(used, status.st_atime, status.st_mtime)
    return size, used
