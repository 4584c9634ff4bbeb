"""Files -> facts: each file on its own, here or in a pool of processes.

`extract_job` is the map of the map-and-reduce: it needs nothing but the paths and returns plain data, so any
`concurrent.futures.Executor` can run it.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ..facts import Facts
from ..facts.file_summary import FileSummary
from ..files.parallel_search import Hit
from ..files.search import FEW_WORDS, holds_word, words_of_text
from ..files.search_terms import SearchTerms
from ..files.sources import BinaryFile, Unreadable
from ..files.workspace import DISK, Workspace
from ..guards import Guard, extended
from ..named_tuples import NamedTuple
from .forked_readers import CAN_FORK, NO_LIMITS, FileLimits, Readers
from .frontend import frontend_named
from .garbage import collection_paused

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

_Found = TypeVar("_Found")

POOL_FROM = 24
_POOL_FROM_BYTES = 400_000
"""Below so many files, or so many bytes of text, to parse a pool of processes costs more than it saves."""


_MANY = 200
"""From so many files to read on, the process that asks for them reads none."""


class Job(NamedTuple):
    """Files to parse, the names that are watched in them, and where their texts come from."""

    hits: tuple[Hit, ...]
    watched: frozenset[str] = frozenset()
    terms: Mapping[str, SearchTerms] | None = None
    """What the rules look for in each language, when that is not what is recorded."""
    guards: tuple[tuple[str, Guard], ...] = ()
    """(language, row) that the guard table has besides its own."""
    workspace: Workspace = DISK
    stands: bytes | frozenset[bytes] = b""
    """What must be in a file for it to be read: an expression, or one of these words as a whole."""
    named: frozenset[str] = frozenset()
    """Functions that are read where they are defined, and classes, in files that are read for their sake alone."""


def extract_job(job: Job) -> list[Facts]:
    """The facts of the job's files."""
    found: list[Facts] = []
    with guard_tables_extended(job.guards):
        for language, path, trouble in job.hits:
            if trouble:
                found.append(Facts(path, language, unreadable=trouble))
                continue
            terms = None if job.terms is None else job.terms[language]
            facts = extract_file(path, language, job.watched, terms, job.workspace, job.named, job.stands)
            if facts is not None:
                found.append(facts)
    return found


@contextmanager
def guard_tables_extended(rows: Iterable[tuple[str, Guard]]) -> Iterator[None]:
    """The guard tables of these languages with further rows, meanwhile."""
    with ExitStack() as stack:
        for language, guard in rows:
            stack.enter_context(extended(frontend_named(language).guards, (guard,)))
        yield


def extract_file(
    path: str,
    language: str,
    watched: frozenset[str] = frozenset(),
    terms: SearchTerms | None = None,
    workspace: Workspace = DISK,
    named: frozenset[str] = frozenset(),
    stands: bytes | frozenset[bytes] = b"",
) -> Facts | None:
    """The facts of one file; None for a binary file, and for one in which nothing can matter."""
    try:
        source = workspace.read(path)
    except Unreadable as error:
        return Facts(path, language, unreadable=str(error))
    except BinaryFile:
        return None
    if stands and not _stands_in(source.text, stands):
        return None
    frontend = frontend_named(language)
    facts: Facts | None
    if named and frontend.extract_named is not None:
        facts = frontend.extract_named(source, watched, terms, named)
    else:
        facts = frontend.extract(source, watched, terms)
    return replace(facts, digest=source.digest) if facts is not None else None


def _stands_in(text: bytes, terms: bytes | frozenset[bytes]) -> bool:
    """Whether the expression matches in the text, or one of the words is there as a whole."""
    if isinstance(terms, bytes):
        return re.search(terms, text) is not None
    return bool(words_held(text, terms))


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def extract_all(
    job: Job,
    *,
    workers: int,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    limits: FileLimits = NO_LIMITS,
    lost: list[str] | None = None,
) -> list[Facts]:
    """The facts of all the job's files, sorted by path. `progress` is called with (files done, files in all).

    `limits` are kept where processes can be forked; then each file is read in one. How processes ended that were
    lost is added to `lost`; their files were read again.
    """
    work = _Work(extract_job, lambda hit, why: [Facts(hit[1], hit[0], unreadable=why)])
    found = _mapped(work, job, workers, executor, progress, limits, [] if lost is None else lost)
    return sorted(found, key=lambda facts: facts.path)


class WordsFound(NamedTuple):
    """Which of the words a file has."""

    hit: Hit
    words: frozenset[bytes]
    registers: bool
    """It gives functions to the dispatcher."""

    @property
    def path(self) -> str:
        return self.hit[1]


class LeftOut(NamedTuple):
    """A file that a job was not done with."""

    path: str
    why: str


_REGISTERS = (b"TORCH_LIBRARY", b"RegisterOperators", b"torch::Library", b"::import")


def words_held(text: bytes, words: frozenset[bytes]) -> frozenset[bytes]:
    """Those of the words that are in the text as a whole."""
    if len(words) <= FEW_WORDS:
        return frozenset(word for word in words if holds_word(text, word))
    found = words.intersection(words_of_text(text))
    return found.union(word for word in _compound(words) if holds_word(text, word))


@lru_cache(maxsize=64)
def _compound(words: frozenset[bytes]) -> tuple[bytes, ...]:
    """Those that aren't one word: `operator+`, `~Net`."""
    return tuple(word for word in words if words_of_text(word) != [word])


def words_job(job: Job) -> list[WordsFound | LeftOut]:
    """Which of the words in `job.stands` occur whole in the job's files; files with none of them are missing."""
    found: list[WordsFound | LeftOut] = []
    for hit in job.hits:
        source = job.workspace.read_or_none(hit[1]) if not hit[2] else None
        if source is not None and isinstance(job.stands, frozenset):
            words = words_held(source.text, job.stands)
            if words:
                found.append(WordsFound(hit, words, any(hint in source.text for hint in _REGISTERS)))
    return found


def words_all(
    job: Job,
    *,
    workers: int,
    executor: Executor | None = None,
    limits: FileLimits = NO_LIMITS,
    lost: list[str] | None = None,
) -> tuple[list[WordsFound], list[LeftOut]]:
    """Which of the words in `job.stands` occur in which of the job's files, sorted by path, and what was left out."""
    work = _Work[WordsFound | LeftOut](words_job, lambda hit, why: [LeftOut(hit[1], why)])
    return _sorted(_mapped(work, job, workers, executor, None, limits, [] if lost is None else lost))


def summary_job(job: Job) -> list[FileSummary | LeftOut]:
    """The file summaries of the job's files, of those whose language has any."""
    found: list[FileSummary | LeftOut] = []
    for language, path, trouble in job.hits:
        file_summary = frontend_named(language).file_summary
        source = job.workspace.read_or_none(path) if file_summary is not None and not trouble else None
        if file_summary is not None and source is not None:
            found.append(replace(file_summary(source), digest=source.digest))
    return found


def summarize_all(
    job: Job,
    *,
    workers: int,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    limits: FileLimits = NO_LIMITS,
    lost: list[str] | None = None,
) -> tuple[list[FileSummary], list[LeftOut]]:
    """The summaries of all the job's files, sorted by path, and what was left out. The rest is as in `extract_all`."""
    work = _Work[FileSummary | LeftOut](summary_job, lambda hit, why: [LeftOut(hit[1], why)])
    return _sorted(_mapped(work, job, workers, executor, progress, limits, [] if lost is None else lost))


_OfFile = TypeVar("_OfFile", WordsFound, FileSummary)


def _sorted(
    found: Iterable[_OfFile | LeftOut],
) -> tuple[list[_OfFile], list[LeftOut]]:
    ordered = sorted(found, key=lambda one: one.path)
    left_out = [one for one in ordered if isinstance(one, LeftOut)]
    return [one for one in ordered if not isinstance(one, LeftOut)], left_out


class _Work(Struct, Generic[_Found], frozen=True):
    """What is found in files."""

    find: Callable[[Job], list[_Found]]
    unread: Callable[[Hit, str], list[_Found]]
    """The findings in place of a file that can't be read, and the reason."""


def _mapped(
    work: _Work[_Found],
    job: Job,
    workers: int,
    executor: Executor | None,
    progress: Callable[[int, int], None] | None,
    limits: FileLimits,
    lost: list[str],
) -> list[_Found]:
    """What is found in all the job's files, here or in other processes."""
    few = workers == 1 or _are_few(job.hits)
    if executor is None and few and not (limits and CAN_FORK):
        return work.find(job)
    if executor is not None:
        return _mapped_in(executor, work, job, workers, progress, lost)
    if CAN_FORK:  # forked workers start at once and share this process's modules
        return _mapped_forked(work, job, workers, progress, limits, lost)
    from guardfix.module_command import shadowed_modules

    if shadowed_modules(os.getcwd()):
        return work.find(job)
    from concurrent.futures import ProcessPoolExecutor

    with collection_paused(), ProcessPoolExecutor(workers, initializer=gc.enable) as pool:
        return _mapped_in(pool, work, job, workers, progress, lost)


def _are_few(hits: Sequence[Hit]) -> bool:
    """Whether one process reads the files sooner than several."""
    if len(hits) >= POOL_FROM:
        return False
    size = 0
    for _, path, trouble in hits if len(hits) > 1 else ():
        with suppress(OSError, ValueError):
            size += 0 if trouble else os.stat(path).st_size
    return size < _POOL_FROM_BYTES


def _mapped_forked(
    work: _Work[_Found],
    job: Job,
    workers: int,
    progress: Callable[[int, int], None] | None,
    limits: FileLimits,
    lost: list[str],
) -> list[_Found]:
    files = 0

    def done(count: int) -> None:
        nonlocal files
        files += count
        if progress is not None:
            progress(files, len(job.hits))

    def find(hits: Sequence[Hit]) -> list[_Found]:
        return work.find(job._replace(hits=tuple(hits)))

    first = () if limits else _first_of_new_kinds(work.find, job.hits)
    found = find(first)
    done(len(first))
    hits = [hit for hit in job.hits if hit not in first]
    # Small pieces, so that no worker has much to do when the others are done.
    size = 1 if limits else max(1, min(4, len(hits) // 16))
    pieces = [tuple(hits[start : start + size]) for start in range(0, len(hits), size)]
    # To send all that is found costs more than it saves where there is little; where there is much, a process that
    # reads large files itself lets the others wait.
    shared = not limits and len(hits) < _MANY
    readers = Readers(find, work.unread, workers - shared, limits, done, lost, shared)
    with collection_paused():
        return found + readers.read(pieces)


_READ_HERE: set[tuple[object, str]] = set()
"""What was looked for in files of which languages in this process."""


def _first_of_new_kinds(find: object, hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """A file of each language that wasn't read in this process before: what that imports, no worker has to import."""
    first = {(find, hit[0]): hit for hit in hits if not hit[2] and (find, hit[0]) not in _READ_HERE}
    _READ_HERE.update(first)
    return tuple(first.values())


def _mapped_in(
    executor: Executor,
    work: _Work[_Found],
    whole: Job,
    workers: int,
    progress: Callable[[int, int], None] | None,
    lost: list[str],
) -> list[_Found]:
    """What somebody's executor finds; what its lost workers were to read is read again, here."""
    from concurrent.futures import BrokenExecutor

    found: list[_Found] = []
    files = 0

    def done(count: int) -> None:
        nonlocal files
        files += count
        if progress is not None:
            progress(files, len(whole.hits))

    jobs = _jobs(whole, max(4, min(64, len(whole.hits) // 16)))
    given = [(job, _submitted(executor, work.find, job)) for job in jobs]
    again: list[Hit] = []
    reasons: list[str] = []
    for job, future in given:
        try:
            found += future.result()
        except BrokenExecutor as error:
            again += job.hits
            reasons.append(str(error))
        else:
            done(len(job.hits))
    lost += [reason for reason in dict.fromkeys(reasons) if reason not in lost]
    if not again:
        return found
    if not CAN_FORK:
        return found + work.find(whole._replace(hits=tuple(again)))
    # Whatever ended the workers may end this process as well.
    readers = Readers(
        lambda hits: work.find(whole._replace(hits=tuple(hits))), work.unread, workers, NO_LIMITS, done, lost, False
    )
    return found + readers.read([(hit,) for hit in again])


def _submitted(executor: Executor, find: Callable[[Job], list[_Found]], job: Job) -> Future[list[_Found]]:
    """The future of a job; that of a pool that is broken already says so."""
    from concurrent.futures import BrokenExecutor, Future

    try:
        return executor.submit(find, job)
    except BrokenExecutor as error:
        broken: Future[list[_Found]] = Future()
        broken.set_exception(error)
        return broken


def _jobs(whole: Job, size: int) -> list[Job]:
    parts = (whole.hits[start : start + size] for start in range(0, len(whole.hits), size))
    return [whole._replace(hits=part, workspace=whole.workspace.part(path for _, path, _ in part)) for part in parts]
