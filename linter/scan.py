"""Files -> facts: each file on its own, here or in a pool of processes.

`scan` is the map of the map-and-reduce: it needs nothing but the paths and returns plain data, so any
`concurrent.futures.Executor` can run it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from typing import NamedTuple

from .facts import Facts
from .prefilter import candidates
from .sources import BinaryFile, Unreadable, read

POOL_FROM = 400
"""Below this many files a pool of processes costs more than it saves."""


class Job(NamedTuple):
    """Files of one language, and the bytes of which one must stand in a file for it to be parsed."""

    language: str
    paths: tuple[str, ...]
    needles: tuple[bytes, ...]
    watched: frozenset[str] = frozenset()


def scan_job(job: Job) -> list[Facts]:
    """The facts of the job's files that hold a needle or cannot be read."""
    found: list[Facts] = []
    for path, trouble in candidates(job.paths, job.needles):
        if trouble:
            found.append(Facts(path, job.language, unreadable=trouble))
        elif (facts := extract_file(path, job.language, job.watched)) is not None:
            found.append(facts)
    return found


def extract_file(path: str, language: str, watched: frozenset[str] = frozenset()) -> Facts | None:
    """The facts of one file; None for a binary file or a language without a front end."""
    try:
        source = read(path)
    except Unreadable as error:
        return Facts(path, language, unreadable=str(error))
    except BinaryFile:
        return None
    if language == "cpp":
        from .cpp.extract import extract

        return extract(source, watched)
    return None


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def scan(
    jobs: Iterable[Job],
    *,
    workers: int = 0,
    executor: Executor | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[Facts]:
    """The facts of all jobs, sorted by path. `workers` 0 means one a processor."""
    jobs = [job for job in jobs if job.paths and job.needles]
    total = sum(len(job.paths) for job in jobs)
    workers = workers or cores()
    if executor is None and (workers == 1 or total < POOL_FROM):
        found = []
        for part in _parts(jobs, 500):
            found += scan_job(part)
            if progress is not None:
                progress(len(part.paths))
        return sorted(found, key=lambda facts: facts.path)
    if executor is not None:
        return _scan_in(executor, jobs, total // 8 + 1, progress)
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Forked workers start at once and share the parent's modules.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    with ProcessPoolExecutor(workers, multiprocessing.get_context(method)) as pool:
        return _scan_in(pool, jobs, min(2000, total // (workers * 4) + 1), progress)


def _scan_in(executor: Executor, jobs: Sequence[Job], size: int, progress: Callable[[int], None] | None) -> list[Facts]:
    found: list[Facts] = []
    parts = _parts(jobs, size)
    for part, facts in zip(parts, executor.map(scan_job, parts), strict=True):
        found += facts
        if progress is not None:
            progress(len(part.paths))
    return sorted(found, key=lambda facts: facts.path)


def _parts(jobs: Iterable[Job], size: int) -> list[Job]:
    return [
        job._replace(paths=job.paths[start : start + size]) for job in jobs for start in range(0, len(job.paths), size)
    ]
