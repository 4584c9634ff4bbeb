"""Where texts come from: the disk, memory, standard input, or an editor's buffers over the disk.

All reading of sources goes through a `Workspace`. `DISK` holds nothing, so that it costs nothing on the way through a
large tree; of any other, a worker process is sent the texts of the files that it reads (`Workspace.part`).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from guardfix.regular_files import too_large

from .sources import BinaryFile, Source, Unreadable, decode, read_from_disk, unreadable

if TYPE_CHECKING:
    from ..facts import Facts


class Workspace(Struct, frozen=True, eq=False):
    """The texts of files, by path.

    `DISK` reads files. `Workspace.in_memory` knows the given texts and no others. `Workspace.over_disk` reads files,
    but takes the given texts for theirs, as an editor with unsaved changes does; a given path need not exist.
    """

    buffers: Mapping[str, bytes] = field(default_factory=dict)
    """The texts in memory, as bytes of files, by `key` of their paths; none for the disk."""
    has_disk: bool = True
    largest: int = 0
    """Bytes of the largest file that is read; 0 for any size."""

    @classmethod
    def in_memory(cls, texts: Mapping[str, str | bytes]) -> Workspace:
        """A workspace of these texts alone, by path: no source, header or .gitignore is read from the disk.

        Raises `UnicodeEncodeError` as `as_bytes` does.
        """
        empty = cls(has_disk=False)
        return cls({empty.key(path): as_bytes(text) for path, text in texts.items()}, has_disk=False)

    @classmethod
    def over_disk(cls, texts: Mapping[str, str | bytes]) -> Workspace:
        """The disk, with these texts, by path, instead of its files and beside them.

        Raises `UnicodeEncodeError` as `as_bytes` does.
        """
        return cls({DISK.key(path): as_bytes(text) for path, text in texts.items()})

    def key(self, path: str) -> str:
        """One absolute name for each file: on the disk links are followed; in memory there are none."""
        return os.path.realpath(path) if self.has_disk else os.path.abspath(path)

    def read(self, path: str) -> Source:
        """The text of a file. Raises `Unreadable`, `BinaryFile`."""
        data = self.buffer(path)
        if data is not None:
            if self.largest and len(data) > self.largest:
                raise unreadable(OSError(errno.EFBIG, too_large(len(data), self.largest)))
            return decode(data, path)
        if not self.has_disk:
            raise Unreadable(os.strerror(errno.ENOENT))
        return read_from_disk(path, self.largest)

    def read_or_none(self, path: str) -> Source | None:
        """The text of a file, or None when it cannot be read as text."""
        try:
            return self.read(path)
        except (Unreadable, BinaryFile):
            return None

    def unchanged(self, facts: Facts) -> Source | None:
        """A file, if it still has the text that its facts were read from: spans mean nothing in any other."""
        source = self.read_or_none(facts.path)
        return source if source is not None and source.digest == facts.digest else None

    def buffer(self, path: str) -> bytes | None:
        """What is in memory for a file; None where the disk is asked."""
        return self.buffers.get(self.key(path)) if self.buffers else None

    def is_file(self, path: str) -> bool:
        """Whether there is such a regular file, or text in memory."""
        return self.buffer(path) is not None or (self.has_disk and os.path.isfile(path))

    def exists(self, path: str) -> bool:
        """Whether there is such a file or folder; in memory, a folder is what holds a text."""
        return self.buffer(path) is not None or (self.has_disk and os.path.exists(path)) or bool(self.below(path))

    def below(self, folder: str) -> list[str]:
        """The paths of the texts in memory below a folder, sorted; they begin with the folder's name as it is given."""
        if not self.buffers:
            return []
        start = os.path.join(self.key(folder), "")
        shown = "" if folder == os.curdir else os.path.join(folder, "")
        return sorted(shown + key[len(start) :] for key in self.buffers if key.startswith(start))

    def with_texts(self, texts: Mapping[str, bytes]) -> Workspace:
        """This workspace with other texts, by path, for some of its files; as bytes of files."""
        return replace(self, buffers={**self.buffers, **{self.key(path): data for path, data in texts.items()}})

    def part(self, paths: Iterable[str]) -> Workspace:
        """What reading these files takes of it: so much is sent to a worker process."""
        if not self.buffers:
            return self
        keys = {self.key(path) for path in paths}
        return replace(self, buffers={key: self.buffers[key] for key in keys & self.buffers.keys()})


DISK = Workspace()
"""The files as they are."""


def as_bytes(text: str | bytes) -> bytes:
    """A text as a file holds it: UTF-8, in which surrogates become the bytes that `surrogateescape` made them from.

    Raises `UnicodeEncodeError` for surrogates that no byte was made into.
    """
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
