"""Byte offsets <-> an editor's lines and characters, in the unit that the two sides agreed on."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from lsprotocol.types import Position, PositionEncodingKind, Range

from guardfix.linter.facts import Span

_CODECS = {
    PositionEncodingKind.Utf8: ("utf-8", 1),
    PositionEncodingKind.Utf16: ("utf-16-le", 2),
    PositionEncodingKind.Utf32: ("utf-32-le", 4),
}


class EditorLines:
    """The lines of one text, which is given as UTF-8.

    Lines end in LF, CRLF or a lone CR, as the protocol has it; a form feed or a U+2028 ends none.
    """

    def __init__(self, data: bytes, encoding: PositionEncodingKind | str) -> None:
        self.data = data
        self._codec, self._width = _CODECS[PositionEncodingKind(encoding)]
        ends = list(accumulate(map(len, data.splitlines(keepends=True))))
        self._starts = [0, *ends] if data.endswith((b"\n", b"\r")) else [0, *ends[:-1]]

    def position(self, offset: int) -> Position:
        """Line and character, from 0, of a byte offset."""
        line = bisect_right(self._starts, offset) - 1
        before = self.data[self._starts[line] : offset].decode("utf-8", "replace")
        return Position(line, len(before.encode(self._codec)) // self._width)

    def range(self, span: Span) -> Range:
        """The range of a byte span."""
        return Range(self.position(span.start), self.position(span.end))

    def offset(self, position: Position) -> int:
        """The byte offset of a position; one after the end of a line or of the text means that end."""
        if position.line >= len(self._starts):
            return len(self.data)
        start = self._starts[position.line]
        end = self._starts[position.line + 1] if position.line + 1 < len(self._starts) else len(self.data)
        line = self.data[start:end].rstrip(b"\r\n").decode("utf-8", "replace")
        # Half of a pair of surrogates stands for nothing: the position is then that of the whole character.
        before = line.encode(self._codec)[: position.character * self._width].decode(self._codec, "ignore")
        return start + len(before.encode("utf-8"))

    def whole(self) -> Range:
        """The range of the whole text."""
        return self.range(Span(0, len(self.data)))
