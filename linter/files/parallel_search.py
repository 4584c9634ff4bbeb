"""The byte search over many files, shared among processes while the tree is still being walked.

A pool from concurrent.futures takes longer to start and to feed than searching 40,000 files takes (measured). Here, the
parent walks and puts batches of paths into a pipe that all children read from, and each child writes its hits to its
own pipe. When the pipe is full, the parent parses what was hit
so far or searches the batch itself; at the end it takes batches back out, so that all are done at the same time.
A child says which batches it is done with: those of a child that was killed are searched again here.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from .search import NAMES_A_CODE, candidates, holds
from .workspace import DISK, Workspace

if TYPE_CHECKING:
    from .search import AsksComments

Needles = Mapping[str, Sequence[bytes]]
"""Language -> the bytes of which one must be in a file."""

Hit = tuple[str, str, str]
"""(language, path, why it could not be read or "")."""

_BATCH = getattr(select, "PIPE_BUF", 512)
"""Bytes a batch: so much goes into a pipe, and comes out of it, in one piece however many read from it."""
_BACKLOG = 1 << 19
"""Bytes that the pipe holds where the system lets us say so: some 6,000 files."""
_FILES = 48
"""Files a batch, unless their paths take more bytes."""
_CAN_FORK = hasattr(os, "fork") and hasattr(select, "poll")
_FORK_FROM = 300
"""Files that are searched before the first child is forked: small trees need none."""


class ParallelSearch:
    """Collects paths as they are found, and the ones among them that hold a needle.

    Use as a context manager: `add` paths, then `hits` gives the answer and ends the children. `meanwhile` is
    called with hits that are known early, at moments when the children are busy; `hits` leaves those out. What the
    workspace holds in memory is searched here, as the children read the disk. The files are noted in which
    `comments` finds some.
    """

    def __init__(
        self,
        needles: Needles,
        processes: int,
        meanwhile: Callable[[Hit], object] | None = None,
        workspace: Workspace = DISK,
        *,
        comments: AsksComments | None = None,
    ) -> None:
        self._needles = {language: tuple(found) for language, found in needles.items() if found}
        self._spare = max(0, processes - 1) if _CAN_FORK else 0
        self._batches: dict[str, list[str]] = {language: [] for language in self._needles}
        self._meanwhile = meanwhile
        self._workspace = workspace
        self._hits: list[Hit] = []
        self._given: set[Hit] = set()
        self._queue: _Queue | None = None
        self._children: list[_Child] = []
        self._count = 0
        self._queued: dict[int, tuple[str, list[str]]] = {}
        self._comments = comments
        self.naming: dict[str, str] = {}
        """Path -> language of the files with such a comment, once `hits` has been asked."""
        self.lost: list[str] = []
        """How children ended that were lost: `killed by SIGKILL`."""

    def __enter__(self) -> ParallelSearch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._queue is not None:
            self._queue.close()
        for child in self._children:
            child.abandon()

    def add(self, paths: Sequence[str], language: str) -> None:
        """Search these files, now or soon, here or in a child."""
        batch = self._batches.get(language)
        if batch is None:
            return
        batch += self._search_buffers(paths, language) if self._workspace.buffers else paths
        if len(batch) >= _FILES:
            self._batches[language] = []
            for start in range(0, len(batch), _FILES):
                self._send(batch[start : start + _FILES], language)

    def _search_buffers(self, paths: Sequence[str], language: str) -> list[str]:
        """Search those of the files that are in memory; the others are left to the disk."""
        others = []
        for path in paths:
            data = self._workspace.buffer(path)
            if data is None:
                others.append(path)
                continue
            if holds(data, len(data), self._needles[language]):
                self._hits.append((language, path, ""))
            if self._comments is not None and self._comments(data, len(data)):
                self.naming[path] = language
        return others

    def _send(self, batch: list[str], language: str) -> None:
        number = len(self._queued)
        data = os.fsencode("\0".join((str(number), language, *batch)))
        if len(data) > _BATCH and len(batch) > 1:
            middle = len(batch) // 2
            self._send(batch[:middle], language)
            self._send(batch[middle:], language)
            return
        self._count += len(batch)
        if self._count > _FORK_FROM and len(self._children) < self._spare:
            try:
                if self._queue is None:
                    self._queue = _Queue()
                self._children.append(_Child(self._queue, self._needles, self._comments))
            except OSError:  # too few descriptors, or processes: then with those that there are
                self._spare = len(self._children)
                if self._queue is not None and not self._children:
                    self._queue.close()
                    self._queue = None
        if self._queue is not None and len(data) <= _BATCH and b"\n" not in data:
            while True:
                if self._queue.put(data):
                    self._queued[number] = language, batch
                    return
                if not self._passes_a_hit_on():
                    break
        self._search(language, batch)

    def _search(self, language: str, paths: Sequence[str]) -> None:
        found = candidates(paths, self._needles[language], comments=self._comments)
        self._take((language, path, trouble) for path, trouble in found)

    def _take(self, found: Iterable[Hit]) -> None:
        """Keep what was found."""
        for hit in found:
            language, path, trouble = hit
            if trouble == NAMES_A_CODE:
                self.naming[path] = language
            else:
                self._hits.append(hit)

    def _passes_a_hit_on(self) -> bool:
        """Give `meanwhile` one hit, when there is one and a child is at work."""
        if self._meanwhile is None:
            return False
        for child in self._children:
            self._take(child.hits_so_far())
        if not self._hits or all(child.done for child in self._children):
            return False
        hit = self._hits.pop()
        self._given.add(hit)
        self._meanwhile(hit)
        return True

    def hits(self) -> list[Hit]:
        """Every file that holds a needle or could not be read, sorted by path, but those that `meanwhile` was given."""
        for language, batch in self._batches.items():
            if batch:
                self._send(batch, language)
        if self._queue is not None:
            self._queue.end()
            while data := self._queue.take():
                number, language, *paths = os.fsdecode(data).split("\0")
                self._search(language, paths)
                del self._queued[int(number)]
                while self._passes_a_hit_on():
                    pass
            while self._passes_a_hit_on():
                pass
        while self._children:
            child = self._children.pop()
            hits, how = child.finish()
            self._take(hits)
            if how:
                self.lost.append(how)
            for done in child.batches:
                del self._queued[done]
        for language, paths in self._queued.values():  # a lost child's
            self._search(language, paths)
        # What a lost child had found already has been found again.
        found = {*self._hits} - self._given if self.lost else self._hits
        return sorted(found, key=lambda hit: hit[1])


class _Queue:
    """Batches for the next process that is free."""

    def __init__(self) -> None:
        self._out, self._in = os.pipe()
        os.set_blocking(self._in, False)
        enlarge_pipe(self._in)

    def put(self, data: bytes) -> bool:
        """Add a batch of at most `_BATCH` bytes; False when there is no room."""
        try:
            os.write(self._in, data.ljust(_BATCH, b"\0"))
        except (BlockingIOError, BrokenPipeError):
            return False
        return True

    def take(self) -> bytes:
        """The next batch; waits for one. Empty when there will be none."""
        return os.read(self._out, _BATCH).rstrip(b"\0")

    def end(self) -> None:
        """No more batches will come from this process."""
        if self._in >= 0:
            os.close(self._in)
            self._in = -1

    def close(self) -> None:
        self.end()
        os.close(self._out)


class _Child:
    """One forked process that searches what it takes from the queue."""

    def __init__(self, queue: _Queue, needles: Needles, comments: AsksComments | None) -> None:
        from .forked_process import ForkedProcess

        self._answers, answers_in = os.pipe()

        def work() -> None:
            os.close(self._answers)  # when the parent is gone, writing has to fail
            _serve(queue, answers_in, needles, comments)

        try:
            self.process = ForkedProcess(work)
        except OSError:
            os.close(self._answers)
            raise
        finally:
            os.close(answers_in)
        self._news = select.poll()
        self._news.register(self._answers, select.POLLIN)
        self._rest = b""
        self.done = False
        self.batches: list[int] = []
        """The batches that it has searched."""

    def hits_so_far(self) -> list[Hit]:
        """The hits that the child has found since it was last asked; does not wait for any."""
        hits: list[Hit] = []
        while not self.done and self._news.poll(0):
            hits += self._read()
        return hits

    def _read(self) -> list[Hit]:
        data = os.read(self._answers, 1 << 16)
        self.done = not data
        return self._hits_in(data)

    def _hits_in(self, data: bytes) -> list[Hit]:
        *lines, self._rest = (self._rest + data).split(b"\n\n")
        hits = []
        for line in lines:
            if line.isdigit():
                self.batches.append(int(line))
                continue
            language, path, trouble = line.split(b"\0")
            hits.append((language.decode(), os.fsdecode(path), trouble.decode()))
        return hits

    def finish(self) -> tuple[list[Hit], str]:
        """The child's other hits, and how it ended if it was lost."""
        hits: list[Hit] = []
        while not self.done:
            hits += self._read()
        os.close(self._answers)
        if status := self.process.wait():
            from .forked_process import ending

            return hits, ending(status)
        return hits, ""

    def abandon(self) -> None:
        """End a child whose answer is no longer wanted."""
        os.close(self._answers)
        self.process.kill()


def enlarge_pipe(pipe: int) -> None:
    """Let a pipe hold more, on Linux and where the user's limit for pipes allows it."""
    import fcntl

    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _BACKLOG)


def _serve(queue: _Queue, answers: int, needles: Needles, comments: AsksComments | None) -> None:
    """The child's life: batches in, hits out."""
    queue.end()
    with os.fdopen(answers, "wb") as out:
        while data := queue.take():
            number, language, *paths = data.split(b"\0")
            for path, trouble in candidates(paths, needles[language.decode()], comments=comments):
                out.write(b"\0".join((language, path, trouble.encode())) + b"\n\n")
                out.flush()
            out.write(number + b"\n\n")
            out.flush()
