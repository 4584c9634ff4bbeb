"""Facts and file summaries that earlier runs found: files that are still the same are neither read nor parsed again.

A file is the same if its size and times are, or else if its text is. What was found depends on that text, on what was
looked for, and on the code that looked: all but the text is part of the key.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import ClassVar, Generic, TypeVar

from msgspec import Struct, field

from .facts import Facts
from .facts.file_summary import FileSummary
from .facts.packing import NotPacked, pack, unpack
from .files.code_digest import code_digest
from .files.digests import blake2b
from .files.entry_store import NO_STAMP, Entry, EntryStore, FileStamp
from .files.parallel_search import Hit
from .files.workspace import Workspace
from .frontends.extraction import Job
from .frontends.forked_readers import NO_LIMITS, FileLimits
from .named_tuples import NamedTuple

_Found = TypeVar("_Found", Facts, FileSummary)

_RACY = 2_000_000_000
"""Nanoseconds. A file that changed so shortly before may change again and keep its times: file systems round them."""
WORTH_ASKING = 32 << 10
"""Bytes of files. Fewer are read again in less time than it takes to open the store and to prepare for its entries."""
_CODE = ("guards.py", "facts", "files", "frontends")
"""The code that reads files: what was found is kept for this code alone."""


class CachedKind(Struct, Generic[_Found], frozen=True):
    """One kind of what is found in files."""

    name: str
    type: type[_Found]


class _Asked(NamedTuple):
    """A file that was asked for."""

    key: bytes
    stamp: FileStamp
    """As it was before it was read; no stamp when it was young."""


class ExtractionCache(Struct):
    """What is kept between runs in one folder. What a workspace holds in memory is neither looked up nor kept."""

    FACTS: ClassVar = CachedKind[Facts]("facts", Facts)
    FILE_SUMMARIES: ClassVar = CachedKind[FileSummary]("file_summary", FileSummary)

    store: EntryStore
    limits: FileLimits = NO_LIMITS
    """Those of the run: what is found within others may differ."""
    _new: dict[bytes, Entry] = field(default_factory=dict)
    _restamped: dict[bytes, FileStamp] = field(default_factory=dict)
    _asked: dict[tuple[str, bytes], _Asked] = field(default_factory=dict)
    _in_use: bool = False

    def known(self, kind: CachedKind[_Found], job: Job) -> tuple[list[_Found], Job]:
        """What is known of a job's files, and the job of reading the others."""
        self._in_use = self._in_use or _is_worth_asking(path for _, path, _ in job.hits)
        if not self._in_use:
            return [], job
        found: list[_Found] = []
        others: list[Hit] = []
        about = self._about(kind.name, job)
        asked = {hit: one for hit in job.hits if (one := self._ask(hit, about, job.workspace)) is not None}
        entries = self.store.get([one.key for one in asked.values()])
        for hit in job.hits:
            one = asked.get(hit)
            entry = entries.get(one.key) if one is not None else None
            if one is None or entry is None or not self._holds(one, entry, hit[1], job.workspace):
                others.append(hit)
                continue
            try:
                if entry.data:
                    found.append(unpack(kind.type, entry.data))
            except NotPacked:
                others.append(hit)
        return found, job._replace(hits=tuple(others))

    def keep(self, kind: CachedKind[_Found], job: Job, found: Iterable[_Found]) -> None:
        """Keep what was found in the job's files, for the next run; `write` writes it."""
        if not self._asked:
            return
        about = self._about(kind.name, job)
        by_path = {one.path: one for one in found}
        for _, path, trouble in job.hits:
            asked = self._asked.pop((path, about), None)
            if asked is None or trouble:
                continue
            one = by_path.get(path)
            if one is None:
                if asked.stamp != NO_STAMP:  # nothing else could tell later that it is the same file
                    self._new[asked.key] = Entry(asked.stamp, b"", b"")
            elif one.digest:
                self._new[asked.key] = Entry(asked.stamp, one.digest, pack(one))

    def write(self) -> None:
        """Write what is new."""
        self.store.put(self._new)
        self.store.restamp(self._restamped.items())
        self._new.clear()
        self._restamped.clear()

    def _about(self, kind: str, job: Job) -> bytes:
        """What a job looks for, and who looks: the same bytes in each process."""
        stands = job.stands if isinstance(job.stands, bytes) else sorted(job.stands)
        terms = None if job.terms is None else sorted(job.terms.items())
        given = (kind, sorted(job.watched), sorted(job.named), stands, terms, job.guards, self.limits)
        return blake2b(repr(given).encode(), key=code_digest(*_CODE), digest_size=16).digest()

    def _ask(self, hit: Hit, about: bytes, workspace: Workspace) -> _Asked | None:
        language, path, trouble = hit
        if trouble or not workspace.has_disk or workspace.buffer(path) is not None:
            return None
        now = time.time_ns()
        try:
            status = os.stat(path)
        except OSError:
            return None
        if workspace.largest and status.st_size > workspace.largest:
            return None
        name = "\0".join((language, path, os.path.abspath(path)))
        key = blake2b(os.fsencode(name), key=about, digest_size=16).digest()
        young = max(status.st_mtime_ns, status.st_ctime_ns) > now - _RACY
        stamp = NO_STAMP if young else FileStamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        asked = self._asked[path, about] = _Asked(key, stamp)
        return asked

    def _holds(self, asked: _Asked, entry: Entry, path: str, workspace: Workspace) -> bool:
        """Whether an entry is about the file as it is now."""
        if asked.stamp != NO_STAMP and asked.stamp == entry.stamp:
            return True
        source = workspace.read_or_none(path) if entry.digest else None
        if source is None or source.digest != entry.digest:
            return False
        if asked.stamp != NO_STAMP:
            self._restamped[asked.key] = asked.stamp
        return True


def _is_worth_asking(paths: Iterable[str]) -> bool:
    size = 0
    for path in paths:
        with suppress(OSError):
            size += os.stat(path).st_size
        if size >= WORTH_ASKING:
            return True
    return False
