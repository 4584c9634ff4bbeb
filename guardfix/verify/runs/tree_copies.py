"""Copies of folders in which programs run: made once, put back as they were for each program, and bounded."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from guardfix.linter.files.discovery import SKIPPED_FOLDERS


@dataclass(frozen=True)
class CopyLimits:
    """What is copied of a folder at most."""

    size: int
    """Bytes."""
    files: int
    seen: int
    """Entries of folders that are looked at; the walk ends there, however large the folder is."""


TREE = CopyLimits(1 << 30, 20_000, 100_000)
"""Of a folder that was named."""

SIBLINGS = CopyLimits(64 << 20, 2_000, 10_000)
"""Of the folder of a file that was named, along with it."""

_Stamp = tuple[int, int, int, int]


class TreeCopy:
    """A copy of the files below `root`, without version control, caches and virtual environments.

    Where there are too many files, or too much, the folder's own files come before those below, and small ones before
    large ones; `first` comes before all. Links are copied as what they point to.
    """

    def __init__(self, root: Path, target: Path, limits: CopyLimits) -> None:
        self.root, self.target, self.limits = root, target, limits
        self.left_out = 0
        """Files that were seen and not copied."""
        self.stopped = False
        """There is more than was looked at."""
        self._stamps: dict[str, _Stamp] = {}
        """What each copied file was like when it had been copied: no one can set the time of its last change."""

    def restore(self, texts: Mapping[Path, bytes], first: Path | None = None) -> None:
        """Makes the copy, or puts it back as it was, with new texts in the place of files, by their real paths.

        Raises OSError when the copy can't be made.
        """
        self.target.mkdir(parents=True, exist_ok=True)
        if not self._stamps:
            self._fill(first)
        else:
            self._put_back()
            if first is not None and first.is_relative_to(self.root):
                name = str(first.relative_to(self.root))
                if name not in self._stamps:
                    self._copy(name)
        self.write(texts)

    def write(self, texts: Mapping[Path, bytes]) -> None:
        """Puts new texts in the place of files, by their real paths; all else stays as it is now."""
        base = os.path.realpath(self.root)
        for path, text in texts.items():
            name = os.path.relpath(os.path.realpath(path), base)
            if not name.startswith(".."):
                place = self.target / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(text)
                if name in self._stamps:
                    self._stamps[name] = (0, 0, 0, 0)  # not what is in the tree: to be put back

    def _fill(self, first: Path | None) -> None:
        found = sorted(
            self._below(), key=lambda item: (item[0] != first, item[0].parent != self.root, item[1], item[0])
        )
        if first is not None and first.is_file() and (not found or found[0][0] != first):
            found.insert(0, (first, 0))
        total = 0
        for path, size in found:
            fits = len(self._stamps) < self.limits.files and total + size <= self.limits.size
            if fits and self._copy(str(path.relative_to(self.root))):
                total += size
            else:
                self.left_out += 1

    def _below(self) -> Iterator[tuple[Path, int]]:
        """Each regular file with its size, those of the folder itself first; no more entries than are to be seen."""
        folders = deque([self.root])
        seen = 0
        while folders:
            # What is gone since it was seen, or may not be read, is none of the program's.
            with contextlib.suppress(FileNotFoundError, PermissionError), os.scandir(folders.popleft()) as entries:
                for entry in entries:
                    seen += 1
                    if seen > self.limits.seen:
                        self.stopped = True
                        return
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in SKIPPED_FOLDERS:
                            folders.append(Path(entry.path))
                    elif entry.is_file():
                        yield Path(entry.path), entry.stat().st_size

    def _copy(self, name: str) -> bool:
        place = self.target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(self.root / name, place)
            self._stamps[name] = _stamp(place.stat())
        except OSError:
            return False
        return True

    def _put_back(self) -> None:
        """What was changed, added or removed since is as it was."""
        missing = set(self._stamps)
        for folder, folders, names in os.walk(self.target, topdown=False):
            for name in names:
                path = os.path.join(folder, name)
                relative = os.path.relpath(path, self.target)
                known = self._stamps.get(relative)
                with contextlib.suppress(OSError):
                    if known is not None and _stamp(os.lstat(path)) == known:
                        missing.discard(relative)
                    else:
                        os.unlink(path)
            for name in folders:
                path = os.path.join(folder, name)
                with contextlib.suppress(OSError):
                    os.unlink(path) if os.path.islink(path) else os.rmdir(path)  # one that is not empty stays
        for relative in missing:
            self._copy(relative)


def _stamp(status: os.stat_result) -> _Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
