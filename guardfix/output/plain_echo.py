"""The one printer: text goes out through `echo`, bytes that belong to the user through `write_bytes`."""

from __future__ import annotations

import codecs
import io
import sys
from typing import TextIO

from ..foreign_text import printed


class PrintingStream(io.TextIOWrapper):
    """Standard output or error that lets nothing from outside through as it is, whoever writes it."""

    @classmethod
    def around(cls, stream: io.TextIOWrapper) -> PrintingStream:
        """The stream in place of another one, which is of no more use then."""
        encoding, errors, buffered = stream.encoding, stream.errors, stream.line_buffering
        if codecs.lookup(encoding).name == "ascii":
            encoding = "utf-8"  # as click does: the C locale says nothing about what the terminal shows
        return cls(stream.detach(), encoding=encoding, errors=errors, line_buffering=buffered)

    def write(self, text: str, /) -> int:
        super().write(printed(text))
        return len(text)


def echo(text: str = "", *, file: TextIO | None = None, err: bool = False, nl: bool = True) -> None:
    """Write text to standard output, a file or standard error, at once.

    What doesn't come from guardfix is made harmless; colors and links are kept (`foreign_text.own`).
    """
    stream = file or (sys.stderr if err else sys.stdout)
    whole = f"{text}\n" if nl else text
    stream.write(whole if isinstance(stream, PrintingStream) else printed(whole))
    stream.flush()


def write_bytes(data: bytes) -> None:
    """Write bytes to standard output as they are: a text that the user gave, or asked to have in a file."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
