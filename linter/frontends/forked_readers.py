"""Forked processes that read files for this one, each with its own pipes.

A pool from concurrent.futures waits forever for a worker that was killed while sending a result, because the other
workers hold the same pipe. Here, the end of a worker is the end of its pipe, whatever it was doing. What a lost worker
had in hand is read again, file by file, in other processes; a file that ends them too is unreadable.
"""

from __future__ import annotations

import errno
import gc
import os
import select
import signal
import struct
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any, Generic, TypeVar

from msgspec import Struct

from ..files.forked_process import ForkedProcess, ending
from ..files.parallel_search import Hit, enlarge_pipe

CAN_FORK = hasattr(os, "fork") and hasattr(select, "poll")
_COLLECT_FROM = 1_000_000
"""Objects. A file's are gone when it has been read, but for a few that form cycles: it takes many files for so many."""
_NUMBER = struct.Struct("=I")
_LENGTH = struct.Struct("=Q?")
_IN_HAND = 2
"""Pieces of work that a worker has at a time, so that it need not wait for the next."""

_Found = TypeVar("_Found")
FilePiece = tuple[Hit, ...]
_ROUNDS = 100
"""Maximum restarts of lost workers, one after the other."""
_USED_UP = 77
"""The status of a process that other files have left too little memory for the one it had in hand."""


class FileLimits(Struct, frozen=True):
    """What reading one file may take; 0 for any amount."""

    seconds: float = 0.0
    megabytes: int = 0

    def __bool__(self) -> bool:
        return bool(self.seconds or self.megabytes)


NO_LIMITS = FileLimits()


class Readers(Struct, Generic[_Found], eq=False):
    """Reads files with `others` processes, and in this one as well if `shared` is set and no limits apply."""

    extract: Callable[[Sequence[Hit]], list[_Found]]
    unread: Callable[[Hit, str], list[_Found]]
    """The findings in place of a file that can't be read, and the reason."""
    others: int
    limits: FileLimits = NO_LIMITS
    done: Callable[[int], None] = lambda files: None
    """Called with the number of files whenever some were read."""
    lost: list[str] = []
    """How workers ended that were lost: `killed by SIGKILL`."""
    shared: bool = True
    """This process reads as well; else it only unpacks what the others have found."""
    doing: str = "reading it"
    """What is done with a file, in the reasons why one is left out."""

    def read(self, pieces: Sequence[FilePiece]) -> list[_Found]:
        """What is found in all files of all pieces of work, in any order. Raises what `extract` raises."""
        found: list[_Found] = []
        again = self._round(pieces, found, here=self.shared and not self.limits)
        # With limits each round is done with one file at least, and nothing is read here.
        for _ in count() if self.limits else range(_ROUNDS):
            if not again:
                return found
            # One file a piece, and none of them here: whatever ended the worker may end this process as well.
            again = self._round(again, found, here=False)
        return found + self.extract([hit for piece in again for hit in piece])

    def _round(self, pieces: Sequence[FilePiece], found: list[_Found], here: bool) -> list[FilePiece]:
        """Read all pieces but those of lost workers, which are given back, file by file."""
        again: list[FilePiece] = []
        waiting = deque(range(len(pieces)))
        workers: list[_Worker[_Found]] = []
        try:
            for _ in range(min(max(1, self.others), len(pieces))):
                try:
                    workers.append(_Worker(self, pieces, workers))
                except OSError:  # too few descriptors, or processes: then with those that there are
                    break
            while workers and (waiting or any(worker.in_hand for worker in workers)):
                for worker in workers:
                    while waiting and worker.alive and len(worker.in_hand) < _IN_HAND:
                        worker.give(waiting.popleft())
                if self._is_full():
                    self._leave_out(waiting, pieces, found)
                mine = waiting.pop() if here and waiting else None
                if mine is not None:
                    self._take(self.extract(pieces[mine]), len(pieces[mine]), found)
                for worker in _with_news(workers, wait=mine is None):
                    for number, part in worker.results():
                        self._take(part, len(pieces[number]), found)
                    if not worker.alive and worker.in_hand:
                        again += self._of_lost(worker, pieces, found)
                if not any(worker.alive for worker in workers):
                    return again + [(hit,) for number in waiting for hit in pieces[number]]
            for number in waiting:  # there are no workers
                self._take(self.extract(pieces[number]), len(pieces[number]), found)
        finally:
            for worker in workers:
                worker.end()
        return again

    def _is_full(self) -> bool:
        """Whether what was found in the files that were read so far takes as much memory as there may be."""
        return bool(self.limits.megabytes) and _resident() > self.limits.megabytes << 20

    def _leave_out(self, waiting: deque[int], pieces: Sequence[FilePiece], found: list[_Found]) -> None:
        why = f"the run takes {self.limits.megabytes} MB already (--memory)"
        while waiting:
            piece = pieces[waiting.popleft()]
            self._take([one for hit in piece for one in self.unread(hit, why)], len(piece), found)

    def _take(self, part: list[_Found], files: int, found: list[_Found]) -> None:
        found += part
        self.done(files)

    def _of_lost(self, worker: _Worker[_Found], pieces: Sequence[FilePiece], found: list[_Found]) -> list[FilePiece]:
        """What has to be read again. A file that was read alone is unreadable instead."""
        first, *others = [pieces[number] for number in worker.in_hand]
        worker.in_hand.clear()
        timed_out = self.limits.seconds and worker.ending == ending(signal.SIGALRM)
        if worker.ending == f"ended with status {_USED_UP}":  # a new one may have enough
            return [(hit,) for piece in (first, *others) for hit in piece]
        if not timed_out:
            self.lost.append(worker.ending)
        if len(first) == 1:
            why = f"the process was lost while {self.doing} ({worker.ending})"
            if timed_out:
                why = f"{self.doing} took longer than {self.limits.seconds:g} seconds (--timeout-per-file)"
            self._take(self.unread(first[0], why), 1, found)
            first = ()
        return [(hit,) for piece in (first, *others) for hit in piece]


class _Worker(Generic[_Found]):
    """One forked process: the numbers of pieces of work in, what was found out."""

    def __init__(
        self, readers: Readers[_Found], pieces: Sequence[FilePiece], before: Sequence[_Worker[_Found]]
    ) -> None:
        self.in_hand: deque[int] = deque()
        self.alive = True
        self.ending = ""
        self._rest = bytearray()
        opened: list[int] = []
        try:
            opened += os.pipe()
            opened += os.pipe()
            tasks, self._tasks, self.results_out, results = opened
            enlarge_pipe(results)

            def work() -> None:
                for other in (self, *before):  # a worker whose pipe another one holds would not see its end
                    other.close()
                _serve(tasks, results, readers, pieces)

            self.process = ForkedProcess(work)
        except OSError:
            for handle in opened:
                os.close(handle)
            raise
        os.close(tasks)
        os.close(results)

    def give(self, number: int) -> None:
        """Add a piece of work; that a worker is gone is noticed when its results are read."""
        self.in_hand.append(number)
        with suppress(OSError):
            os.write(self._tasks, _NUMBER.pack(number))

    def results(self) -> list[tuple[int, list[_Found]]]:
        """(number of the piece, what was found) of what has come back. Raises what `extract` raised."""
        data = os.read(self.results_out, 1 << 20)
        if not data:
            self._gone()
            return []
        self._rest += data
        found = []
        start = 0
        while len(self._rest) - start >= _LENGTH.size:
            length, fine = _LENGTH.unpack_from(self._rest, start)
            end = start + _LENGTH.size + length
            if len(self._rest) < end:
                break
            import pickle  # takes a millisecond, and most runs need no other process

            value = pickle.loads(self._rest[start + _LENGTH.size : end])
            if not fine:
                raise value
            found.append((self.in_hand.popleft(), value))
            start = end
        del self._rest[:start]
        return found

    def _gone(self) -> None:
        """Its pipe has ended, and so has it; how is known a moment later."""
        self.ending = ending(self.process.wait())
        self.alive = False
        self.close()

    def close(self) -> None:
        if self._tasks >= 0:
            os.close(self._tasks)
            os.close(self.results_out)
            self._tasks = -1

    def end(self) -> None:
        """End the process, if it still runs; its answers are no longer wanted."""
        if self.alive:
            self.alive = False
            self.close()
            self.process.kill()


def _resident() -> int:
    """Bytes of memory that this process has; 0 where the system does not say."""
    with suppress(OSError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _with_news(workers: Sequence[_Worker[_Found]], wait: bool) -> list[_Worker[_Found]]:
    news = select.poll()
    by_handle = {worker.results_out: worker for worker in workers if worker.alive}
    for handle in by_handle:
        news.register(handle, select.POLLIN)
    return [by_handle[handle] for handle, _ in news.poll(None if wait and by_handle else 0)]


def _write(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _tells_of_memory(error: Exception, limited: bool) -> bool:
    """Whether memory ran out: of an object, a system call, a thread's stack, or a library that could not be loaded.

    Under a limit a library fails to load in several ways, few of which name memory: the dynamic linker has words of its
    own, and an extension module that gets no memory may leave no exception behind, which is a `SystemError`.
    """
    if limited and isinstance(error, RuntimeError) and "start new thread" in str(error):
        return True
    if limited and isinstance(error, (ImportError, SystemError)) and not isinstance(error, ModuleNotFoundError):
        return True
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


@contextmanager
def _memory_limit(megabytes: int) -> Iterator[None]:
    """Limits the process's address space, if to anything; what is sent afterwards needs memory of its own."""
    if not megabytes:
        yield
        return
    import resource

    usual, most = resource.getrlimit(resource.RLIMIT_AS)
    size = megabytes << 20
    resource.setrlimit(resource.RLIMIT_AS, (size if most == resource.RLIM_INFINITY else min(size, most), most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (usual, most))


def _serve(tasks: int, results: int, readers: Readers[Any], pieces: Sequence[FilePiece]) -> None:
    """The child's life: numbers of pieces of work in, what was found out."""
    import pickle

    limits = readers.limits
    gc.freeze()  # what the parent has made stays as it is
    gc.enable()
    if not limits:
        gc.set_threshold(_COLLECT_FROM)
    fresh = True
    with os.fdopen(tasks, "rb") as stream:
        while head := stream.read(_NUMBER.size):
            piece = pieces[_NUMBER.unpack(head)[0]]
            value: Any
            fine = True
            signal.setitimer(signal.ITIMER_REAL, limits.seconds)
            try:
                with _memory_limit(limits.megabytes):
                    value = readers.extract(piece)
            except Exception as error:
                value, fine = error, False
                if _tells_of_memory(error, limited=limits.megabytes > 0):
                    if limits.megabytes and not fresh:
                        os._exit(_USED_UP)
                    why = f"there is not enough memory for {readers.doing}"
                    if limits.megabytes:
                        why = f"{readers.doing} takes more than {limits.megabytes} MB (--memory)"
                    value, fine = [found for hit in piece for found in readers.unread(hit, why)], True
            signal.setitimer(signal.ITIMER_REAL, 0)
            data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
            _write(results, _LENGTH.pack(len(data), fine) + data)
            fresh = False
