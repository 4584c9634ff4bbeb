"""The one way to read a file that a user or a tree names. Imported on every run, so it imports next to nothing."""

from __future__ import annotations

import errno
import os
import stat

_PIECE = 1 << 16
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
        # A read reserves what it may bring: by size, then on, as a file can grow and those of /proc have none.
        pieces: list[bytes] = []
        taken, expected = 0, found.st_size
        while max(taken, expected) <= largest and (piece := file.read(max(expected - taken, 0) + _PIECE)):
            pieces.append(piece)
            taken += len(piece)
        if max(taken, expected) > largest:
            raise OSError(errno.EFBIG, too_large(max(taken, expected), largest), path)
        return b"".join(pieces)


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
