"""Files -> facts: each file on its own, here or in a pool of processes.

`extract_job` is the map of the map-and-reduce: it needs nothing but the paths and returns plain data, so any
`concurrent.futures.Executor` can run it.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..facts import Facts
from ..files.sift import Hit
from ..files.sources import BinaryFile, Unreadable
from ..files.workspace import DISK, Workspace
from .frontend import frontend_named

if TYPE_CHECKING:
    from concurrent.futures import Executor

POOL_FROM = 24
"""Below this many files to parse a pool of processes costs more than it saves."""


class Job(NamedTuple):
    """Files to parse, the names that are watched in them, and where their texts come from."""

    hits: tuple[Hit, ...]
    watched: frozenset[str] = frozenset()
    workspace: Workspace = DISK


def extract_job(job: Job) -> list[Facts]:
    """The facts of the job's files."""
    found: list[Facts] = []
    for language, path, trouble in job.hits:
        if trouble:
            found.append(Facts(path, language, unreadable=trouble))
        elif (facts := extract_file(path, language, job.watched, job.workspace)) is not None:
            found.append(facts)
    return found


def extract_file(
    path: str, language: str, watched: frozenset[str] = frozenset(), workspace: Workspace = DISK
) -> Facts | None:
    """The facts of one file; None for a binary file, and for one in which nothing can matter."""
    try:
        source = workspace.read(path)
    except Unreadable as error:
        return Facts(path, language, unreadable=str(error))
    except BinaryFile:
        return None
    facts = frontend_named(language).extract(source, watched)
    return replace(facts, digest=source.digest) if facts is not None else None


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def extract_all(
    hits: Sequence[Hit],
    watched: frozenset[str] = frozenset(),
    *,
    workers: int,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    workspace: Workspace = DISK,
) -> list[Facts]:
    """The facts of all files, sorted by path. `progress` is called with (files done, files in all)."""
    if executor is None and (workers == 1 or len(hits) < POOL_FROM):
        return extract_job(Job(tuple(hits), watched, workspace))
    if executor is not None:
        return _extract_in(executor, hits, watched, progress, workspace)
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Forked workers start at once and share the parent's modules.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    context = multiprocessing.get_context(method)
    others = workers - 1
    with collection_paused(), ProcessPoolExecutor(others, context, initializer=gc.enable) as pool:
        return _extract_with(pool, others, hits, watched, progress, workspace)


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


def _extract_in(
    executor: Executor,
    hits: Sequence[Hit],
    watched: frozenset[str],
    progress: Callable[[int, int], None] | None,
    workspace: Workspace,
) -> list[Facts]:
    jobs = _jobs(hits, watched, max(4, min(64, len(hits) // 16)), workspace)
    found: list[Facts] = []
    done = 0
    for job, facts in zip(jobs, executor.map(extract_job, jobs), strict=True):
        found += facts
        done += len(job.hits)
        if progress is not None:
            progress(done, len(hits))
    return sorted(found, key=lambda facts: facts.path)


def _extract_with(
    pool: Executor,
    others: int,
    hits: Sequence[Hit],
    watched: frozenset[str],
    progress: Callable[[int, int], None] | None,
    workspace: Workspace,
) -> list[Facts]:
    """Shared with `others` processes: to send facts costs a fifth of what finding them does, so do some here."""
    from concurrent.futures import FIRST_COMPLETED, Future, wait

    jobs = _jobs(hits, watched, max(2, min(16, len(hits) // 16)), workspace)
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
            progress(files, len(hits))
    return sorted(found, key=lambda facts: facts.path)


def _jobs(hits: Sequence[Hit], watched: frozenset[str], size: int, workspace: Workspace) -> list[Job]:
    parts = (tuple(hits[start : start + size]) for start in range(0, len(hits), size))
    return [Job(part, watched, workspace.part(path for _, path, _ in part)) for part in parts]
