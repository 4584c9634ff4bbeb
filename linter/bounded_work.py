"""Work on one file after the other that may take so long, and so much memory, for each: what takes more is left out.

Reading files has its own way there (`frontends/extraction.py`). This is for what follows: questions, decisions, fixes.
They see the whole project, so that a worker is forked from the process that has it, and sends back what it found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from .files.parallel_search import Hit
from .frontends.forked_readers import CAN_FORK, NO_LIMITS, FileLimits, Readers

_Found = TypeVar("_Found")

DECIDING = "deciding about it"
FIXING = "making its fixes"
PARSING = "parsing what its fixes leave"


class _Done(Struct, Generic[_Found], frozen=True):
    """What came of one file."""

    path: str
    found: list[_Found]
    """The one thing that was found; empty where the file was left out."""
    why_not: str = ""


class BoundedWork(Struct, eq=False):
    """Does the work of one run, file by file, and keeps what was left out of it."""

    limits: FileLimits = NO_LIMITS
    workers: int = 1
    lost: list[str] = []
    """How processes ended that were lost."""
    left_out: dict[str, str] = {}
    """Why files are left out, by path; no further work is done on them."""

    def __bool__(self) -> bool:
        """Whether there are limits that can be kept: processes must be forked for that."""
        return bool(self.limits) and CAN_FORK

    def each(self, work: Callable[[str], _Found], paths: Iterable[str], doing: str) -> list[_Found]:
        """What the work finds in each of the files, in their order, without those that are left out.

        `doing` says what is done, for the reason. What the work finds must be picklable, and what
        it does to objects is lost with its process, if there are limits.
        """
        wanted = [path for path in dict.fromkeys(paths) if path not in self.left_out]
        if not self:
            return [work(path) for path in wanted]

        def done(hits: Sequence[Hit]) -> list[_Done[_Found]]:
            return [_Done(path, [work(path)]) for _, path, _ in hits]

        def given_up(hit: Hit, why: str) -> list[_Done[_Found]]:
            return [_Done(hit[1], [], why)]

        readers = Readers(done, given_up, self.workers, self.limits, lost=self.lost, doing=doing)
        found = {one.path: one for one in readers.read([(("", path, ""),) for path in wanted])}
        self.left_out.update({path: found[path].why_not for path in wanted if found[path].why_not})
        return [one for path in wanted for one in found[path].found]
