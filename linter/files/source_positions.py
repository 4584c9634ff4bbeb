"""Byte spans -> rows and columns, reading each file at most once in a row."""

from __future__ import annotations

from ..facts import Span
from .sources import Position, Source
from .workspace import DISK, Workspace


class SourcePositions:
    """Positions in the files of a report."""

    def __init__(self, workspace: Workspace = DISK) -> None:
        self._workspace = workspace
        self._sources: dict[str, Source | None] = {}

    def source(self, path: str) -> Source | None:
        """The file, or None when it cannot be read."""
        if path not in self._sources:
            if len(self._sources) > 8:
                self._sources.clear()
            self._sources[path] = self._workspace.read_or_none(path)
        return self._sources[path]

    def start(self, path: str, span: Span) -> Position:
        source = self.source(path)
        return source.position(span.start) if source is not None else Position(1, 1)

    def end(self, path: str, span: Span) -> Position:
        source = self.source(path)
        return source.position(span.end) if source is not None else Position(1, 1)
