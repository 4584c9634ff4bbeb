"""Files -> facts: each file on its own, here or in a pool of processes.

`extract_job` is the map of the map-and-reduce: it needs nothing but the paths and returns plain data, so any
`concurrent.futures.Executor` can run it.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from ..facts import Facts
from ..facts.packed_facts import pack_facts, unpack_facts
from ..files.sift import Hit
from ..files.sought import Sought
from ..files.sources import BinaryFile, Unreadable
from ..files.workspace import DISK, Workspace
from ..guards import Guard, extended
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


def extract_packed(job: Job) -> bytes:
    """As `extract_job`, in the form that is cheap to send to another process."""
    return pack_facts(extract_job(job))


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
) -> list[Facts]:
    """The facts of all the job's files, sorted by path. `progress` is called with (files done, files in all)."""
    if executor is None and (workers == 1 or len(job.hits) < POOL_FROM):
        return extract_job(job)
    if executor is not None:
        return _extract_in(executor, job, progress)
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Forked workers start at once and share the parent's modules.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    context = multiprocessing.get_context(method)
    others = workers - 1
    with collection_paused(), ProcessPoolExecutor(others, context, initializer=gc.enable) as pool:
        return _extract_with(pool, others, job, progress)


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
    for job, packed in zip(jobs, executor.map(extract_packed, jobs), strict=True):
        found += unpack_facts(packed)
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
    """Shared with `others` processes: what this process finds needs no sending."""
    from concurrent.futures import FIRST_COMPLETED, Future, wait

    jobs = _jobs(whole, max(2, min(16, len(whole.hits) // 16)))
    running: dict[Future[bytes], int] = {}
    found: list[Facts] = []
    files = 0
    while jobs or running:
        while jobs and len(running) < 2 * others:
            job = jobs.pop()
            running[pool.submit(extract_packed, job)] = len(job.hits)
        if jobs:
            job = jobs.pop()
            found += extract_job(job)
            files += len(job.hits)
            done = {future for future in running if future.done()}
        else:
            done = wait(running, return_when=FIRST_COMPLETED).done
        for future in done:
            found += unpack_facts(future.result())
            files += running.pop(future)
        if progress is not None:
            progress(files, len(whole.hits))
    return sorted(found, key=lambda facts: facts.path)


def _jobs(whole: Job, size: int) -> list[Job]:
    parts = (whole.hits[start : start + size] for start in range(0, len(whole.hits), size))
    return [whole._replace(hits=part, workspace=whole.workspace.part(path for _, path, _ in part)) for part in parts]
