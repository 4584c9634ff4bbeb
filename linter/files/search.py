"""The cheap look: which files can matter at all, by their bytes alone.

Imported on every run, so it imports next to nothing. Most files hold no guard, and for those reading them is
all the work there is. Measured: one reused buffer beats `re` and threads, and StringZilla's `find` takes a third
of the time of `bytes.find`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

try:
    from stringzilla import find as find
except ImportError:  # not built for every platform

    def find(data: bytes | bytearray, needle: bytes, start: int, end: int) -> int:
        return data.find(needle, start, end)


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import AnyStr

    AsksComments = Callable[[bytearray | bytes, int], bool]
    """Whether a comment in the first bytes of a text, so many of them, may be one of those that are asked for."""

_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_BUFFER = 1 << 20
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
NAMES_A_CODE = "names a code"
"""Said of a file in which a comment that silences findings may name one of guardfix's codes or rules."""
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
    """Whether one of the needles is in the first `size` bytes of `data`, or may do so in UTF-16."""
    for needle in needles:
        if find(data, needle, 0, size) >= 0:
            return True
    # UTF-16 is rare enough to be decoded whatever is in it: it may not be what its mark says.
    return data[:2] in _UTF16


def holds_word(text: bytes, word: bytes) -> bool:
    """Whether the word is in the text as a whole."""
    return next(word_places(text, word), None) is not None


def words_of_text(text: bytes) -> list[bytes]:
    """All words of a text, as `holds_word` understands them."""
    return text.translate(_BLANKED).split()


FEW_WORDS = 250
"""Up to so many words are searched for one by one in less time than a text is cut into words."""
_BLANKED = bytes(code if bytes((code,)).isalnum() or code == ord("_") else ord(" ") for code in range(256))


def word_places(text: bytes, word: bytes) -> Iterator[int]:
    """Where the word is in the text as a whole."""
    place = find(text, word, 0, len(text))
    while place >= 0:
        if not _is_letter(text[place - 1 : place]) and not _is_letter(text[place + len(word) : place + len(word) + 1]):
            yield place
        place = find(text, word, place + 1, len(text))


def _is_letter(character: bytes) -> bool:
    return character.isalnum() or character == b"_"


def names_a_code(data: bytes | bytearray, size: int) -> bool:
    """Whether `GF` and a digit follow `NOLINT` or `noqa` on a line of the first `size` bytes of `data`."""
    at = find(data, _CODE, 0, size)
    while at >= 0:
        if data[at + 2 : at + 3].isdigit():
            begin = max(0, at - _LOOK_BACK)
            line = data[begin:at].rpartition(b"\n")[2]
            if b"NOLINT" in line or b"noqa" in line.lower():
                return True
        at = find(data, _CODE, at + 2, size)
    return False


_ENDS_OF_NOQA = (b"qa", b"QA", b"qA", b"Qa")


def names_one_of(words: Iterable[bytes]) -> AsksComments:
    """What tells whether one of the words follows `NOLINT` or `noqa` on a line; a guess where no line ends."""
    import re

    named = re.compile(b"|".join(map(re.escape, words)))
    line_end = re.compile(rb"[\r\n]")

    def names(data: bytearray | bytes, size: int) -> bool:
        for mark in (b"NOLINT", *_ENDS_OF_NOQA):
            at = find(data, mark, 0, size)
            while at >= 0:
                end = at + len(mark)
                if len(mark) > 2 or data[max(0, at - 2) : at].lower() == b"no":
                    eol = line_end.search(data, end, size)
                    if named.search(data, end, eol.start() if eol else size) or (not eol and size == _BUFFER):
                        return True
                at = find(data, mark, end, size)
        return data[:2] in _UTF16

    return names


def _search_rest(
    handle: int, buffer: bytearray, needles: Sequence[bytes], comments: AsksComments | None
) -> tuple[int, bool]:
    """Read on until a needle is in the buffer, or to the end: however large a file is, so much of it is in memory.

    Gives the number of bytes in the buffer, which begins with what may be the beginning of a needle, and whether a
    comment was asked for before that.
    """
    kept = max(_LOOK_BACK, *map(len, needles))
    view = memoryview(buffer)
    size = _BUFFER
    named = False
    while True:
        named = named or (comments is not None and comments(buffer, size))
        buffer[:kept] = buffer[size - kept : size]
        read = _readv(handle, (view[kept:],))
        size = kept + read
        if not read or holds(buffer, size, needles):
            return size, named


def candidates(
    paths: Iterable[AnyStr], needles: Sequence[bytes], *, comments: AsksComments | None = None
) -> Iterator[tuple[AnyStr, str]]:
    """(path, why it could not be read, or "") of each file that holds a needle or could not be read.

    With `comments`, (path, `NAMES_A_CODE`) of each file with such a comment as well.
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
                size, named = _search_rest(handle, buffer, needles, comments)
            data = buffer
        except OSError as error:
            yield path, error.strerror or str(error)
            continue
        finally:
            close(handle)
        if find(data, first, 0, size) >= 0 or ((several or data[:2] in _UTF16) and holds(data, size, needles)):
            yield path, ""
        if comments is not None and (named or comments(data, size)):
            yield path, NAMES_A_CODE
