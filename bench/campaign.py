#!/usr/bin/env python3
"""Measures campaigns: a Dask cluster on this machine against a plain pool of processes, and how time and memory grow.

    bench/campaign.py real [--revisions N] [--limit N] [--jobs N] GIT_DIRECTORY…
    bench/campaign.py synthetic [--jobs N] COUNT…

`real` looks at the newest commit of each repository, and with --revisions at older ones as well, evenly spread over
its history. Each is run twice by each executor, in turn (process, dask, dask, process), into empty folders. Targets:
the cluster does at least 95 % of what the pool does, and its scheduling costs at most 5 % of the processor time.

`synthetic` makes for each COUNT so many repositories out of the fixtures (median 50 files). The workers make them,
which counts as the engine's time. Targets: the processor time grows with the number of files with an exponent of at
most 1.05, and the memory of the client, which has the scheduler in it, by at most 20 % from first COUNT to last.

Exit status 1 when a target is missed. Nothing is written to the repositories.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from guardfix.campaign.campaign_executors import ExecutorHandle, executor_named
from guardfix.campaign.campaign_manifest import RepositoryEntry
from guardfix.campaign.campaign_run import run_campaign, tasks_of
from guardfix.campaign.contained_tasks import run_task
from guardfix.campaign.repository_task import CampaignSettings, RepositoryTask, TaskLimits, TaskOutcome, TaskResult
from guardfix.campaign.result_store import ResultStore
from guardfix.campaign.result_tables import query
from synthetic_repositories import SOURCE, run_synthetic

RATIO, OVERHEAD, EXPONENT, GROWTH = 0.95, 0.05, 1.05, 1.2
REPEATED, MOST_RUNS = 1_000, 5
"""Campaigns of fewer repositories are over in seconds, in which whatever else the machine does shows: they are run
several times, and the median counts."""


@dataclass(frozen=True)
class Measured:
    """One run."""

    seconds: float
    task_cpu: float
    """Of the repositories' own processes."""
    engine_cpu: float
    """Of the client and the workers: giving out tasks, taking results, writing them."""
    peak_task: float
    client: float
    """Megabytes of this process, the scheduler included, at the end of the run, before its tables are read."""
    rows: list[tuple[Any, ...]]
    files: int
    done: int

    def line(self, name: str) -> str:
        return (
            f"{name:<10} {self.seconds:7.1f} s  {self.files / self.seconds:7.0f} files/s  "
            f"cpu: tasks {self.task_cpu:7.1f} s, engine {self.engine_cpu:5.1f} s ({self.overhead:.1%})  "
            f"MB: task {self.peak_task:.0f}, client {self.client:.0f}"
        )

    @property
    def overhead(self) -> float:
        return self.engine_cpu / (self.engine_cpu + self.task_cpu)


def cpu_of(process: psutil.Process) -> float:
    """Processor time of a process alone."""
    times = process.cpu_times()
    return float(times.user + times.system)


def engine_cpu() -> float:
    """Processor time of this process and its descendants that do no tasks themselves.

    Servers (`task_server`) and what they start are left out: tasks are counted by their own processes.
    """
    total = 0.0
    here = psutil.Process()
    for process in (here, *here.children(recursive=True)):
        try:
            line = " ".join(process.cmdline())
            if "task_server" not in line and "git" not in line.split(" ")[0]:
                total += cpu_of(process)
        except psutil.Error:
            continue
    return total


def measure(
    tasks: Sequence[RepositoryTask], executor: str, jobs: int, work: Callable[[RepositoryTask], TaskResult]
) -> Measured:
    """Run a campaign into an empty folder."""
    with tempfile.TemporaryDirectory(prefix="guardfix-bench-") as folder:
        store = ResultStore(folder)
        with executor_named(executor, jobs) as engine:
            _warm(engine, jobs)
            before = engine_cpu()
            started = time.perf_counter()
            progress = run_campaign(tasks, store, engine, work=work)
            seconds = time.perf_counter() - started
            spent = engine_cpu() - before
            client = psutil.Process().memory_info().rss / (1 << 20)
        sql = "SELECT sum(cpu_seconds), max(peak_megabytes), sum(files) FROM repositories"
        _, [(task_cpu, peak, files)] = query(store, sql)
        _, rows = query(store, "SELECT * EXCLUDE (seconds, started_at) FROM uses")
    done = progress.outcomes[TaskOutcome.DONE]
    return Measured(seconds, task_cpu, spent, peak, client, rows, int(files or 0), done)


def _warm(engine: ExecutorHandle, jobs: int) -> None:
    """Start the workers and their servers: a campaign of hours pays for that once."""
    entries = [RepositoryEntry(f"warm {number}", f"{SOURCE}{number}") for number in range(4 * jobs)]
    tasks = tasks_of(entries, CampaignSettings(), TaskLimits())
    list(engine.executor.map(run_synthetic, tasks))


def commits_of(git_directory: str, revisions: int) -> list[str]:
    """The newest commit, and others evenly spread over the history."""
    command = ["git", "--git-dir", git_directory, "rev-list", "--first-parent", "HEAD"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return [listed[at * len(listed) // revisions] for at in range(min(revisions, len(listed)))]


def real(arguments: argparse.Namespace) -> bool:
    """The executors against each other, on repositories."""
    entries = []
    for directory in arguments.directories:
        for commit in commits_of(directory, arguments.revisions):
            entries.append(RepositoryEntry(f"{Path(directory).parent.name} {commit[:9]}", directory, commit))
    tasks = tasks_of(entries[: arguments.limit], CampaignSettings(), TaskLimits())
    print(f"{len(tasks)} commits of {len(arguments.directories)} repositories, {arguments.jobs} at once")
    found: dict[str, list[Measured]] = {"process": [], "dask": []}
    for executor in ("process", "dask", "dask", "process")[: 4 if not arguments.once else 2]:
        found[executor].append(measure(tasks, executor, arguments.jobs, run_task))
        print(found[executor][-1].line(executor), flush=True)
    first = found["process"][0]
    print(f"{first.done} of {len(tasks)} done, {first.files} files looked at, {len(first.rows)} uses")
    same = all(one.rows == first.rows for runs in found.values() for one in runs)
    print(f"rows are {'the same' if same else 'NOT THE SAME'} in all runs")
    pool, cluster = (statistics.median(one.seconds for one in found[name]) for name in ("process", "dask"))
    overhead = statistics.median(one.overhead for one in found["dask"])
    print(f"the cluster does {pool / cluster:.1%} of what the pool does (target {RATIO:.0%}); engine {overhead:.1%}")
    return same and pool / cluster >= RATIO and overhead <= OVERHEAD


def synthetic(arguments: argparse.Namespace) -> bool:
    """How time and memory grow with the number of repositories."""
    points: list[tuple[int, float]] = []
    clients: list[float] = []
    for count in arguments.counts:
        runs: list[Measured] = []
        while len(runs) < min(MOST_RUNS, max(1, REPEATED // count)):
            # Each in its own process: what this one keeps of an earlier run isn't the next one's memory.
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
                runs.append(alone.submit(_measure_synthetic, count, arguments.jobs).result())
            print(f"{count:6} repositories, {runs[-1].files:8} files: {runs[-1].line('dask')}", flush=True)
        points.append((runs[0].files, statistics.median(one.task_cpu + one.engine_cpu for one in runs)))
        clients.append(statistics.median(one.client for one in runs))
    exponent = _exponent(points)
    growth = clients[-1] / clients[0]
    print(f"exponent {exponent:.3f} (target {EXPONENT}); client's memory x {growth:.2f} (target {GROWTH})")
    return exponent <= EXPONENT and growth <= GROWTH


def _measure_synthetic(count: int, jobs: int) -> Measured:
    entries = [RepositoryEntry(f"synthetic {number:05}", f"{SOURCE}{number}") for number in range(count)]
    one = measure(tasks_of(entries, CampaignSettings(), TaskLimits()), "dask", jobs, run_synthetic)
    return replace(one, rows=[])  # which the other process need not have


def _exponent(points: Sequence[tuple[int, float]]) -> float:
    """The slope of the line through the logarithms, by least squares."""
    xs, ys = zip(*((math.log(files), math.log(seconds)) for files, seconds in points), strict=True)
    return statistics.linear_regression(xs, ys).slope


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    of_real = kinds.add_parser("real")
    of_real.add_argument("directories", nargs="+")
    of_real.add_argument("--revisions", type=int, default=1)
    of_real.add_argument("--limit", type=int)
    of_real.add_argument("--once", action="store_true", help="one run each")
    of_synthetic = kinds.add_parser("synthetic")
    of_synthetic.add_argument("counts", nargs="+", type=int)
    for one in (of_real, of_synthetic):
        one.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    # Workers import this folder's modules as well.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")))
    )
    print(json.dumps({"python": sys.version.split()[0], "cores": os.cpu_count(), "load": os.getloadavg()[0]}))
    return 0 if (real if arguments.kind == "real" else synthetic)(arguments) else 1


if __name__ == "__main__":
    sys.exit(main())
