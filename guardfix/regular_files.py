"""The one way to read a file that a user or a tree names. Imported on every run, so it imports next to nothing."""

from __future__ import annotations

import errno
import os
import stat

LARGEST_READ = 1 << 30
"""The size up to which files are read that aren't sources."""


def read_regular(path: str | os.PathLike[str], largest: int = LARGEST_READ, *, pipes: bool = False) -> bytes:
    """The bytes of a file that a user or a tree names, of at most so many where `largest` is not 0.

    Raises OSError, also for a larger one, and for what is not a regular file: a named pipe waits for somebody to write
    into it, and /dev/zero has no end. `pipes` are read where the output of a program may be named (`<(git diff)`).
    """
    at_once = 0 if pipes else getattr(os, "O_NONBLOCK", 0)
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | at_once)) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) and not (pipes and stat.S_ISFIFO(found.st_mode)):
            raise OSError(errno.EINVAL, "not a regular file", path)
        if not largest:
            return file.read()
        data = file.read(largest + 1) if found.st_size <= largest else b""
        if found.st_size > largest or len(data) > largest:
            raise OSError(errno.EFBIG, too_large(max(found.st_size, len(data)), largest), path)
        return data


def read_regular_text(
    path: str | os.PathLike[str], errors: str = "strict", largest: int = LARGEST_READ, *, pipes: bool = False
) -> str:
    """The UTF-8 text of a file, its lines ended by line feeds, as `read_regular` reads it.

    Raises OSError; UnicodeDecodeError where `errors` is "strict".
    """
    text = read_regular(path, largest, pipes=pipes).decode("utf-8", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def too_large(size: int, largest: int) -> str:
    """Why a file of so many bytes is not read."""
    return f"it has {size / (1 << 20):.1f} MB, and the largest that is read has {largest / (1 << 20):g}"
