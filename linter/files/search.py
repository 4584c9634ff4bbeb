"""The cheap look: which files can matter at all, by their bytes alone.

Imported on every run, so it imports next to nothing. Most files hold no guard, and for those reading them is
all the work there is. Measured: one reused buffer beats `re` and threads, and StringZilla's `find` takes a third
of the time of `bytes.find`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

try:
    from stringzilla import find
except ImportError:  # not built for every platform

    def find(data: bytes | bytearray, needle: bytes, start: int, end: int) -> int:
        return data.find(needle, start, end)


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import AnyStr

_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_BUFFER = 1 << 20
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
NAMES_A_CODE = "names a code"
"""Said of a file in which a comment that silences findings may name one of guardfix's codes."""
_CODE = b"GF"
_LOOK_BACK = 512
"""Bytes before a code in which its comment begins."""


def _read_into(handle: int, views: tuple[memoryview]) -> int:
    """`os.readv` for systems that have none: Windows."""
    data = os.read(handle, len(views[0]))
    views[0][: len(data)] = data
    return len(data)


_readv = getattr(os, "readv", _read_into)


def holds(data: bytes | bytearray, size: int, needles: Sequence[bytes]) -> bool:
    """Whether one of the needles stands in the first `size` bytes of `data`, or may do so in UTF-16."""
    for needle in needles:
        if find(data, needle, 0, size) >= 0:
            return True
    # UTF-16 is rare enough to be decoded whatever stands in it: it may not be what its mark says.
    return data[:2] in _UTF16


def holds_word(text: bytes, word: bytes) -> bool:
    """Whether the word stands in the text as a whole."""
    place = find(text, word, 0, len(text))
    while place >= 0:
        if not _is_letter(text[place - 1 : place]) and not _is_letter(text[place + len(word) : place + len(word) + 1]):
            return True
        place = text.find(word, place + 1)
    return False


def _is_letter(character: bytes) -> bool:
    return character.isalnum() or character == b"_"


def names_a_code(data: bytes | bytearray, size: int) -> bool:
    """Whether `GF` and a digit stand behind `NOLINT` or `noqa` on a line of the first `size` bytes of `data`."""
    at = find(data, _CODE, 0, size)
    while at >= 0:
        if data[at + 2 : at + 3].isdigit():
            begin = max(0, at - _LOOK_BACK)
            line = data[begin:at].rpartition(b"\n")[2]
            if b"NOLINT" in line or b"noqa" in line.lower():
                return True
        at = find(data, _CODE, at + 2, size)
    return False


def _search_rest(handle: int, buffer: bytearray, needles: Sequence[bytes]) -> tuple[int, bool]:
    """Read on until a needle stands in the buffer, or to the end: however large a file is, so much of it is in memory.

    Gives the number of bytes in the buffer, which begins with what may be the beginning of a needle, and whether a
    comment named a code before that.
    """
    kept = max(_LOOK_BACK, *map(len, needles))
    view = memoryview(buffer)
    size = _BUFFER
    named = False
    while True:
        named = named or names_a_code(buffer, size)
        buffer[:kept] = buffer[size - kept : size]
        read = _readv(handle, (view[kept:],))
        size = kept + read
        if not read or holds(buffer, size, needles):
            return size, named


def candidates(
    paths: Iterable[AnyStr], needles: Sequence[bytes], *, comments: bool = False
) -> Iterator[tuple[AnyStr, str]]:
    """(path, why it could not be read, or "") of each file that holds a needle or could not be read.

    With `comments`, (path, `NAMES_A_CODE`) of each file in which a comment may name one of guardfix's codes as well.
    """
    if not needles:
        return
    buffer = bytearray(_BUFFER)
    views = (memoryview(buffer),)
    first, several = needles[0], len(needles) > 1
    open_, readv, close = os.open, _readv, os.close
    for path in paths:
        try:
            handle = open_(path, _READ)
        except OSError as error:
            yield path, error.strerror or str(error)
            continue
        try:
            size = readv(handle, views)
            named = False
            if size == _BUFFER and not holds(buffer, size, needles):
                size, named = _search_rest(handle, buffer, needles)
            data = buffer
        except OSError as error:
            yield path, error.strerror or str(error)
            continue
        finally:
            close(handle)
        if find(data, first, 0, size) >= 0 or ((several or data[:2] in _UTF16) and holds(data, size, needles)):
            yield path, ""
        if comments and (named or find(data, _CODE, 0, size) >= 0) and (named or names_a_code(data, size)):
            yield path, NAMES_A_CODE
