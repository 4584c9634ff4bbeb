"""The byte search over many files, shared among processes while the tree is still being walked.

A pool from concurrent.futures takes longer to start and to feed than searching 40,000 files takes (measured), so
here the processes are forked plainly. Each child reads paths from a pipe; the parent walks, and hands a batch to
whichever child has room. When none has, the parent searches the batch itself, so nobody waits.
"""

from __future__ import annotations

import os
import select
from collections.abc import Mapping, Sequence
from types import TracebackType

from .prefilter import candidates

Needles = Mapping[str, Sequence[bytes]]
"""Language -> the bytes of which one must stand in a file."""

Hit = tuple[str, str, str]
"""(language, path, why it could not be read or "")."""

_BATCH = 4096
"""Bytes a batch: a pipe that is ready takes this much at once (POSIX's PIPE_BUF on Linux; 512 is the minimum)."""
_FILES = 48
"""Files a batch, unless their paths take more bytes."""
_CAN_FORK = hasattr(os, "fork") and hasattr(select, "poll")
_FORK_FROM = 300
"""Files that are searched before the first child is forked: small trees need none."""


class Sift:
    """Collects paths as they are found, and the ones among them that hold a needle.

    Use as a context manager: `add` paths, then `hits` gives the answer and ends the children.
    """

    def __init__(self, needles: Needles, processes: int) -> None:
        self._needles = {language: tuple(found) for language, found in needles.items() if found}
        self._spare = max(0, processes - 1) if _CAN_FORK else 0
        self._batches: dict[str, list[str]] = {language: [] for language in self._needles}
        self._hits: list[Hit] = []
        self._children: list[_Child] = []
        self._count = 0

    def __enter__(self) -> Sift:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in self._children:
            child.abandon()

    def add(self, paths: Sequence[str], language: str) -> None:
        """Search these files, now or soon, here or in a child."""
        batch = self._batches.get(language)
        if batch is None:
            return
        batch += paths
        if len(batch) >= _FILES:
            self._batches[language] = []
            self._send(batch, language)

    def _send(self, batch: list[str], language: str) -> None:
        data = os.fsencode("\0".join((language, *batch))) + b"\n\n"
        if len(data) > _BATCH and len(batch) > 1:
            middle = len(batch) // 2
            self._send(batch[:middle], language)
            self._send(batch[middle:], language)
            return
        self._count += len(batch)
        if self._count > _FORK_FROM and len(self._children) < self._spare:
            self._children.append(_Child(self._needles))
        if len(data) <= _BATCH and b"\n" not in data[:-2]:
            for child in self._children:
                if child.takes(data):
                    return
        self._hits += ((language, path, trouble) for path, trouble in candidates(batch, self._needles[language]))

    def hits(self) -> list[Hit]:
        """Every file that holds a needle or could not be read, sorted by path."""
        for language, batch in self._batches.items():
            if batch:
                self._send(batch, language)
        for child in self._children:
            self._hits += child.finish()
        self._children = []
        return sorted(self._hits, key=lambda hit: hit[1])


class _Child:
    """One forked process that searches what it is sent."""

    def __init__(self, needles: Mapping[str, Sequence[bytes]]) -> None:
        paths_out, self._paths = os.pipe()
        self._answers, answers_in = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(self._paths)
                os.close(self._answers)
                _serve(paths_out, answers_in, needles)
                status = 0
            finally:
                os._exit(status)  # no clean-up of the parent's objects in the child
        os.close(paths_out)
        os.close(answers_in)
        os.set_blocking(self._paths, False)
        self._poll = select.poll()
        self._poll.register(self._paths, select.POLLOUT)

    def takes(self, data: bytes) -> bool:
        """Give the child a batch; False when it is busy."""
        if not self._poll.poll(0):
            return False
        try:
            return os.write(self._paths, data) == len(data)
        except (BlockingIOError, BrokenPipeError):
            return False

    def finish(self) -> list[Hit]:
        """The child's hits. Raises `ChildProcessError` when it died, so that no file is passed over unseen."""
        os.close(self._paths)
        with os.fdopen(self._answers, "rb") as answers:
            data = answers.read()
        _, status = os.waitpid(self.pid, 0)
        if status:
            raise ChildProcessError(f"a process that read files ended with status {status}")
        hits = []
        for line in data.split(b"\n\n"):
            if line:
                language, path, trouble = line.split(b"\0")
                hits.append((language.decode(), os.fsdecode(path), trouble.decode()))
        return hits

    def abandon(self) -> None:
        """End a child whose answer nobody wants any more."""
        import signal

        for handle in (self._paths, self._answers):
            os.close(handle)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def _serve(paths: int, answers: int, needles: Mapping[str, Sequence[bytes]]) -> None:
    """The child's life: batches in, hits out at the end."""
    found: list[bytes] = []
    rest = b""
    while data := os.read(paths, 1 << 16):
        *batches, rest = (rest + data).split(b"\n\n")
        for batch in batches:
            language, *names = batch.split(b"\0")
            for path, trouble in candidates(names, needles[language.decode()]):
                found.append(b"\0".join((language, path, trouble.encode())))
    with os.fdopen(answers, "wb") as out:
        out.write(b"".join(line + b"\n\n" for line in found))
