"""A campaign's run: tasks out, results in, a bounded number at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import dataclass, field
from typing import Any

from .campaign_executors import LOOK, ExecutorHandle
from .campaign_manifest import RepositoryEntry
from .contained_tasks import ServerLost, run_task
from .repository_task import CampaignSettings, RepositoryTask, TaskLimits, TaskOutcome, TaskResult
from .result_store import ResultStore

_AHEAD = 8
"""Tasks given out for each worker: enough for stealing and for long ones, and no more to remember."""


class EngineLost(Exception):
    """The executor is gone, a cluster's scheduler for instance. What is done is kept; the message says so."""


@dataclass
class CampaignProgress:
    """What a run has done."""

    total: int
    done: int = 0
    outcomes: Counter[TaskOutcome] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    """Of all repositories, those that were done before included: files, uses, old_uses, patches, fixes."""
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    """(repository, outcome, reason)."""


def tasks_of(
    entries: Sequence[RepositoryEntry], settings: CampaignSettings, limits: TaskLimits
) -> list[RepositoryTask]:
    """The tasks of a manifest, in its order."""
    return [RepositoryTask(entry, settings, limits, shard) for entry in entries for shard in range(entry.shard_count)]


def run_campaign(
    tasks: Sequence[RepositoryTask],
    store: ResultStore,
    engine: ExecutorHandle,
    *,
    work: Callable[[RepositoryTask], TaskResult] = run_task,
    retry: bool = False,
    on_done: Callable[[RepositoryTask, TaskOutcome, dict[str, Any], CampaignProgress], None] | None = None,
) -> CampaignProgress:
    """Do all tasks, and keep each result as it comes.

    `on_done` is called with (task, what it came to now, row, progress).
    A task whose worker is killed again and again counts as failed. Raises `EngineLost`, `BadStore`.
    """
    with store.locked():
        store.begin(tasks)
        progress = CampaignProgress(len(tasks))
        for task, result in _results(tasks, store, engine, work, retry=retry):
            row = store.add(task, result)
            progress.done += 1
            progress.outcomes[result.outcome] += 1
            for name in ("files", "uses", "old_uses", "findings", "patches", "fixes"):
                progress.counts[name] += row.get(name) or 0
            if row.get("outcome") != TaskOutcome.DONE:
                progress.failures.append((task.label, row.get("outcome", ""), row.get("reason") or ""))
            if on_done is not None:
                on_done(task, result.outcome, row, progress)
        return progress


def _results(
    tasks: Sequence[RepositoryTask],
    store: ResultStore,
    engine: ExecutorHandle,
    work: Callable[[RepositoryTask], TaskResult],
    *,
    retry: bool,
) -> Iterator[tuple[RepositoryTask, TaskResult]]:
    waiting = iter(tasks)
    running: dict[Future[TaskResult], RepositoryTask] = {}
    try:
        while True:
            while len(running) < _AHEAD * engine.workers and (task := next(waiting, None)) is not None:
                asked = task.with_known(store.known(task, retry=retry))
                running[_submitted(engine, work, asked)] = task
            if not running:
                return
            done = wait(running, timeout=LOOK, return_when=FIRST_COMPLETED).done
            if not done and engine.is_lost():
                raise EngineLost("the scheduler is gone")
            for future in done:
                task = running.pop(future)
                yield task, _result_of(future, task, engine)
    finally:
        for future in running:
            future.cancel()


def _submitted(
    engine: ExecutorHandle, work: Callable[[RepositoryTask], TaskResult], task: RepositoryTask
) -> Future[TaskResult]:
    try:
        return engine.submit(work, task)
    except BrokenExecutor as error:
        raise EngineLost(f"no task can be given out any more: {error}") from error


def _result_of(future: Future[TaskResult], task: RepositoryTask, engine: ExecutorHandle) -> TaskResult:
    try:
        return future.result()
    except ServerLost as error:
        return _lost(task, str(error))
    except engine.lost as error:
        if type(error).__name__ != "KilledWorker":
            raise EngineLost(f"the workers are gone: {error or type(error).__name__}") from error
        return _lost(task, "its workers were killed, one after the other")
    except CancelledError as error:
        raise EngineLost("the scheduler is gone") from error


def _lost(task: RepositoryTask, reason: str) -> TaskResult:
    """What is noted of a task that was killed from outside; the next run does it again."""
    row = {
        "repository": task.entry.name,
        "shard": task.shard,
        "shards": task.entry.shard_count,
        "source": task.entry.source,
        "revision": task.entry.revision or None,
        "commit": None,
        "outcome": str(TaskOutcome.FAILED),
        "reason": reason,
    }
    return TaskResult(task.key(""), TaskOutcome.FAILED, row)
