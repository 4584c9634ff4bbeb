"""Byte spans -> rows and columns, reading each file at most once in a row."""

from __future__ import annotations

from ..facts import Span
from .sources import BinaryFile, Position, Source, Unreadable, read


class SourcePositions:
    """Positions in the files of a report."""

    def __init__(self) -> None:
        self._sources: dict[str, Source | None] = {}

    def source(self, path: str) -> Source | None:
        """The file, or None when it cannot be read."""
        if path not in self._sources:
            if len(self._sources) > 8:
                self._sources.clear()
            try:
                self._sources[path] = read(path)
            except (Unreadable, BinaryFile):
                self._sources[path] = None
        return self._sources[path]

    def start(self, path: str, span: Span) -> Position:
        source = self.source(path)
        return source.position(span.start) if source is not None else Position(1, 1)

    def end(self, path: str, span: Span) -> Position:
        source = self.source(path)
        return source.position(span.end) if source is not None else Position(1, 1)
