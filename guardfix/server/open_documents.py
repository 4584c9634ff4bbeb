"""The texts that the editor has open: what is typed counts, saved or not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote, unquote_to_bytes, urlsplit

from lsprotocol.types import (
    PositionEncodingKind,
    TextDocumentContentChangeEvent,
    TextDocumentContentChangePartial,
)
from pygls.uris import from_fs_path, to_fs_path

from guardfix.linter.files.workspace import Workspace

from .editor_positions import EditorLines


@dataclass(frozen=True)
class OpenDocument:
    """One version of an open text."""

    uri: str
    path: str
    version: int
    data: bytes
    """The text as UTF-8."""
    encoding: PositionEncodingKind | str

    @cached_property
    def lines(self) -> EditorLines:
        return EditorLines(self.data, self.encoding)

    def edited(self, version: int, changes: Iterable[TextDocumentContentChangeEvent]) -> OpenDocument:
        """The text after these changes, each of which counts from what the one before it left."""
        data, lines = self.data, self.lines
        for number, change in enumerate(changes):
            if not isinstance(change, TextDocumentContentChangePartial):
                data = utf8(change.text)
                continue
            if number:
                lines = EditorLines(data, self.encoding)
            start, end = lines.offset(change.range.start), lines.offset(change.range.end)
            data = data[:start] + utf8(change.text) + data[max(start, end) :]
        return OpenDocument(self.uri, self.path, version, data, self.encoding)


class OpenDocuments:
    """All texts that are open, by URI."""

    def __init__(self) -> None:
        self._by_uri: dict[str, OpenDocument] = {}

    def __iter__(self) -> Iterator[OpenDocument]:
        return iter(list(self._by_uri.values()))

    def __contains__(self, uri: str) -> bool:
        return uri in self._by_uri

    def get(self, uri: str) -> OpenDocument | None:
        """The text as it is now; None when it isn't open."""
        return self._by_uri.get(uri)

    def put(self, document: OpenDocument) -> None:
        self._by_uri[document.uri] = document

    def close(self, uri: str) -> None:
        self._by_uri.pop(uri, None)

    def workspace(self) -> Workspace:
        """The files of the disk, with the open texts over them."""
        return Workspace.over_disk({document.path: document.data for document in self})


def utf8(text: str) -> bytes:
    """A text as UTF-8; half of a surrogate pair, which UTF-8 can't hold, becomes a question mark."""
    return text.encode("utf-8", "replace")


def document_path(uri: str) -> str | None:
    """The absolute path that a URI names; None for other kinds of URIs, and for what can't be the name of a file."""
    try:
        if os.name == "nt":
            path = to_fs_path(uri) or ""
        else:
            parts = urlsplit(uri)
            here = parts.scheme == "file" and parts.netloc in ("", "localhost")
            path = os.fsdecode(unquote_to_bytes(parts.path)) if here else ""
    except ValueError:
        return None
    return path if os.path.isabs(path) and "\0" not in path else None


def document_uri(path: str) -> str:
    """The URI of an absolute path, whatever bytes the name is made of."""
    return from_fs_path(path) or "" if os.name == "nt" else f"file://{quote(os.fsencode(path))}"
