"""Reading files: bytes -> text, without losing a byte.

`Source.text` is the file's text as UTF-8 bytes, which the parsers and all spans work on. Line endings are
left as they are. `Source.encode` is the exact way back.
"""

from __future__ import annotations

import codecs
import errno
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from msgspec import Struct

from guardfix.regular_files import read_regular

from ..facts import Span
from ..named_tuples import NamedTuple
from .digests import blake2b

DEFAULT_MEGABYTES = 8.0
"""The size up to which files are read, by default."""


class Unreadable(Exception):
    """A file that cannot be read as text; the message says why."""


class BinaryFile(Exception):
    """A file with NUL bytes that is not UTF-16 text: passed over."""


class Position(NamedTuple):
    """Row and column from 1; columns count characters."""

    row: int
    column: int


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Source(Struct, frozen=True, dict=True):
    """The text of one file and how it was encoded."""

    path: str
    text: bytes
    encoding: str = "utf-8"
    bom: bytes = b""
    notes: tuple[str, ...] = ()

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Offset of each line's first byte; lines end in LF, CRLF or a lone CR."""
        starts = (0, *accumulate(map(len, self.text.splitlines(keepends=True))))
        return starts if len(starts) == 1 or self.text.endswith((b"\n", b"\r")) else starts[:-1]

    @cached_property
    def digest(self) -> bytes:
        """Tells this text from any other, and from the same one in another encoding."""
        return blake2b(self.text, digest_size=16, person=self.encoding.encode()).digest()

    def row(self, offset: int) -> int:
        """The row of a byte offset, from 1."""
        return bisect_right(self.line_starts, offset)

    def position(self, offset: int) -> Position:
        row = self.row(offset)
        start = self.line_starts[row - 1]
        return Position(row, len(self.text[start:offset].decode("utf-8", "replace")) + 1)

    def line(self, row: int) -> str:
        """Row `row` (from 1) without its end."""
        start = self.line_starts[row - 1]
        end = self.line_starts[row] if row < len(self.line_starts) else len(self.text)
        return self.text[start:end].decode("utf-8", "replace").rstrip("\r\n")

    def slice(self, span: Span) -> str:
        return self.text[span.start : span.end].decode("utf-8", "replace")

    def encode(self, text: bytes) -> bytes:
        """The file's bytes for a changed text."""
        if self.encoding == "utf-8":
            return self.bom + text
        return self.bom + text.decode("utf-8").encode(self.encoding)

    def text_of(self, data: bytes) -> bytes:
        """The changed text of the file's bytes: the way back from `encode`."""
        body = data.removeprefix(self.bom)
        return body if self.encoding == "utf-8" else body.decode(self.encoding).encode("utf-8")


def decode(data: bytes, path: str) -> Source:
    """The text of a file's bytes.

    Raises `BinaryFile` for NUL bytes outside UTF-16, `Unreadable` for UTF-16 that is cut short.
    """
    for bom, encoding in _BOMS:
        if not data.startswith(bom):
            continue
        body = data[len(bom) :]
        if encoding == "utf-8":
            break
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError as error:
            raise Unreadable(
                f"not valid {encoding.upper()}, which its byte order mark says it is: {error.reason}"
            ) from None
        return Source(path, text.encode("utf-8"), encoding, bom)
    else:
        bom, body = b"", data
    if b"\0" in body:
        raise BinaryFile(path)
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        if bom:
            raise Unreadable(
                f"not valid UTF-8 at byte {error.start + len(bom)}, although it begins with the UTF-8 byte order mark"
            ) from None
        note = f"not valid UTF-8 (byte {error.start}); read as Latin-1"
        return Source(path, body.decode("latin-1").encode("utf-8"), "latin-1", b"", (note,))
    return Source(path, body, "utf-8", bom)


def read_from_disk(path: str, largest: int = 0) -> Source:
    """The text of a file as the disk has it; all others ask their `Workspace`. Raises `Unreadable`, `BinaryFile`."""
    try:
        data = read_regular(path, largest)
    except OSError as error:
        raise unreadable(error) from None
    return decode(data, path)


def unreadable(error: OSError) -> Unreadable:
    """Why a file isn't read, with the setting that decides where it is too large."""
    setting = " (max-file-size)" if error.errno == errno.EFBIG else ""
    return Unreadable(f"{error.strerror or error}{setting}")
