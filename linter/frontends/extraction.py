"""Files -> facts: each file on its own, here or in a pool of processes.

`extract_job` is the map of the map-and-reduce: it needs nothing but the paths and returns plain data, so any
`concurrent.futures.Executor` can run it.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..facts import Facts
from ..files.sift import Hit
from ..files.sought import Sought
from ..files.sources import BinaryFile, Unreadable
from ..files.workspace import DISK, Workspace
from ..guards import Guard, extended
from .forked_readers import CAN_FORK, NO_LIMITS, FileLimits, Readers
from .frontend import frontend_named

if TYPE_CHECKING:
    from concurrent.futures import Executor

POOL_FROM = 24
"""Below this many files to parse a pool of processes costs more than it saves."""


class Job(NamedTuple):
    """Files to parse, the names that are watched in them, and where their texts come from."""

    hits: tuple[Hit, ...]
    watched: frozenset[str] = frozenset()
    sought: Mapping[str, Sought] | None = None
    """What the rules look for in each language, when that is not what is recorded."""
    guards: tuple[tuple[str, Guard], ...] = ()
    """(language, row) that the guard table has besides its own."""
    workspace: Workspace = DISK


def extract_job(job: Job) -> list[Facts]:
    """The facts of the job's files."""
    found: list[Facts] = []
    with guard_tables_extended(job.guards):
        for language, path, trouble in job.hits:
            if trouble:
                found.append(Facts(path, language, unreadable=trouble))
                continue
            sought = None if job.sought is None else job.sought[language]
            facts = extract_file(path, language, job.watched, sought, job.workspace)
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
    sought: Sought | None = None,
    workspace: Workspace = DISK,
) -> Facts | None:
    """The facts of one file; None for a binary file, and for one in which nothing can matter."""
    try:
        source = workspace.read(path)
    except Unreadable as error:
        return Facts(path, language, unreadable=str(error))
    except BinaryFile:
        return None
    facts = frontend_named(language).extract(source, watched, sought)
    return replace(facts, digest=source.digest) if facts is not None else None


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
    few = workers == 1 or len(job.hits) < POOL_FROM
    if executor is None and few and not (limits and CAN_FORK):
        return extract_job(job)
    if executor is not None:
        return _extract_in(executor, job, progress)
    if CAN_FORK:  # forked workers start at once and share this process's modules
        return _extract_forked(job, workers, limits, progress, lost)
    from concurrent.futures import ProcessPoolExecutor

    with collection_paused(), ProcessPoolExecutor(workers - 1, initializer=gc.enable) as pool:
        return _extract_with(pool, workers - 1, job, progress)


def _extract_forked(
    job: Job,
    workers: int,
    limits: FileLimits,
    progress: Callable[[int, int], None] | None,
    lost: list[str] | None,
) -> list[Facts]:
    files = 0

    def done(count: int) -> None:
        nonlocal files
        files += count
        if progress is not None:
            progress(files, len(job.hits))

    def extract(hits: Sequence[Hit]) -> list[Facts]:
        return extract_job(job._replace(hits=tuple(hits)))

    size = 1 if limits else max(2, min(16, len(job.hits) // 16))
    pieces = [job.hits[start : start + size] for start in range(0, len(job.hits), size)]
    readers = Readers(extract, workers if limits else workers - 1, limits, done, [] if lost is None else lost)
    with collection_paused():
        return sorted(readers.read(pieces), key=lambda facts: facts.path)


@contextmanager
def collection_paused() -> Iterator[None]:
    """No garbage collection meanwhile: facts hold no cycles, and looking for some took longer than receiving them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _extract_in(executor: Executor, whole: Job, progress: Callable[[int, int], None] | None) -> list[Facts]:
    jobs = _jobs(whole, max(4, min(64, len(whole.hits) // 16)))
    found: list[Facts] = []
    done = 0
    for job, facts in zip(jobs, executor.map(extract_job, jobs), strict=True):
        found += facts
        done += len(job.hits)
        if progress is not None:
            progress(done, len(whole.hits))
    return sorted(found, key=lambda facts: facts.path)


def _extract_with(
    pool: Executor,
    others: int,
    whole: Job,
    progress: Callable[[int, int], None] | None,
) -> list[Facts]:
    """Shared with `others` processes: to send facts costs a fifth of what finding them does, so do some here."""
    from concurrent.futures import FIRST_COMPLETED, Future, wait

    jobs = _jobs(whole, max(2, min(16, len(whole.hits) // 16)))
    running: dict[Future[list[Facts]], int] = {}
    found: list[Facts] = []
    files = 0
    while jobs or running:
        while jobs and len(running) < 2 * others:
            job = jobs.pop()
            running[pool.submit(extract_job, job)] = len(job.hits)
        if jobs:
            job = jobs.pop()
            found += extract_job(job)
            files += len(job.hits)
            done = {future for future in running if future.done()}
        else:
            done = wait(running, return_when=FIRST_COMPLETED).done
        for future in done:
            found += future.result()
            files += running.pop(future)
        if progress is not None:
            progress(files, len(whole.hits))
    return sorted(found, key=lambda facts: facts.path)


def _jobs(whole: Job, size: int) -> list[Job]:
    parts = (whole.hits[start : start + size] for start in range(0, len(whole.hits), size))
    return [whole._replace(hits=part, workspace=whole.workspace.part(path for _, path, _ in part)) for part in parts]
