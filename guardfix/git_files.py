"""A repository's own files, read and copied as data: nothing that they name is run, and nothing is waited for."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import shutil
import stat
from collections.abc import Collection
from pathlib import Path

from guardfix.regular_files import read_regular, read_regular_text


class NoRepository(Exception):
    """A repository, or something of one, that can't be had; the message says why."""


def small_text(path: str) -> str:
    """The text of a small file; empty when there is none. Pipes aren't read."""
    try:
        return read_regular_text(path, "surrogateescape", 1 << 20)
    except OSError:
        return ""


_DEPTH_OF_OBJECTS = 3
_DEEPEST_TREE = 200
_READ_IN_TREES = frozenset({".gitignore", ".gitattributes", ".gitmodules"})
_MOST_ALTERNATES = 100


def refuse_pipes_in_objects(objects: str) -> None:
    """Raise `NoRepository` for a pipe or a device in a folder of objects, or one that it borrows from."""
    for folder in _object_folders(objects):
        _refuse_pipes(folder, _DEPTH_OF_OBJECTS)


def refuse_pipes_in_tree(top: str) -> None:
    """Raise `NoRepository` for a pipe or a device in place of a file of a working tree that git reads on its way."""
    _refuse_pipes(top, _DEEPEST_TREE, _READ_IN_TREES)


def _object_folders(objects: str) -> list[str]:
    """The folder and those that it borrows from, which may borrow as well."""
    found = [objects]
    for folder in found:  # which grows
        for line in small_text(os.path.join(folder, "info", "alternates")).splitlines():
            name = os.fsencode(line)
            if name.startswith(b'"'):
                with contextlib.suppress(ValueError):
                    name = codecs.escape_decode(name[1 : name.rfind(b'"')])[0]
            other = os.path.realpath(os.path.join(folder, os.fsdecode(name.replace(b"\0", b""))))
            if line and not line.startswith("#") and other not in found and len(found) < _MOST_ALTERNATES:
                found.append(other)
    return found


def _refuse_pipes(folder: str, depth: int, names: Collection[str] = ()) -> None:
    """With `names`, for those of these names alone; then links aren't followed, as git doesn't."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=not names):
            if depth and entry.name != ".git":
                _refuse_pipes(entry.path, depth - 1, names)
        elif not entry.is_file(follow_symlinks=False) and (not names or entry.name in names):
            with contextlib.suppress(OSError):
                mode = entry.stat(follow_symlinks=not names).st_mode
                if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
                    raise NoRepository(f"{entry.path} is a pipe or a device, at which git would wait")


def copy_file(source: Path, target: Path) -> None:
    """Copy a file with its times; nothing where it is none."""
    with contextlib.suppress(OSError):
        if source.is_symlink() and source.name == "HEAD":  # how git once wrote it
            target.write_text(f"ref: {os.readlink(source)}\n")
        elif stat.S_ISREG(os.lstat(source).st_mode):
            _refuse_large(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


_LARGEST = 1 << 30
"""Bytes of an index or a list of refs; more, such as a file with a hole, would fill the disk."""


def _refuse_large(path: Path) -> None:
    if path.stat().st_size > _LARGEST:
        raise NoRepository(f"{path} is larger than a gigabyte")


def copy_folder(source: Path, target: Path) -> None:
    """Copy the files of a folder; links are not followed. Raises `NoRepository` where it takes too much."""
    if source.is_symlink():
        return
    taken = 0
    target.mkdir(parents=True, exist_ok=True)
    for above, folders, files in os.walk(source):
        there = target / os.path.relpath(above, source)
        for name in folders:
            (there / name).mkdir(exist_ok=True)
        for name in files:
            with contextlib.suppress(OSError):
                taken += os.lstat(Path(above, name)).st_size
            if taken > _LARGEST:
                raise NoRepository(f"{source} takes more than a gigabyte")
            copy_file(Path(above, name), there / name)


_PACKED = re.compile(rb"^([0-9a-f]{40,64}) (refs/.+)$", re.MULTILINE)
_LOOSE = re.compile(rb"([0-9a-f]{40,64})\s*")


def copy_refs(source: Path, target: Path) -> None:
    """Write all refs to one file, but for those that lead to others: copying thousands of files takes seconds."""
    refs: dict[bytes, bytes] = {}
    with contextlib.suppress(OSError):
        if stat.S_ISREG(os.lstat(source / "packed-refs").st_mode):
            _refuse_large(source / "packed-refs")
            refs.update((name, commit) for commit, name in _PACKED.findall(read_regular(source / "packed-refs")))
    for above, _, files in os.walk(source / "refs") if not (source / "refs").is_symlink() else ():
        for file in files:
            path = Path(above, file)
            if path.is_symlink():
                continue
            text = os.fsencode(small_text(str(path)))
            name = os.fsencode(path.relative_to(source).as_posix())
            if (found := _LOOSE.fullmatch(text)) is not None:
                refs[name] = found[1]
            elif text.startswith(b"ref:"):
                refs.pop(name, None)
                copy_file(path, target / os.fsdecode(name))
    if (target / "objects").is_dir():  # a worktree's own refs are always files
        (target / "packed-refs").write_bytes(b"".join(b"%s %s\n" % (refs[name], name) for name in sorted(refs)))
    else:
        for name, commit in refs.items():
            path = target / os.fsdecode(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(commit + b"\n")
