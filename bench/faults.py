#!/usr/bin/env python3
"""Kills workers, the scheduler and the client of campaigns, in turn, and compares what is found after a restart.

    bench/faults.py [--trials N] [--repositories N] [--seed N]

A campaign over small synthetic repositories runs on a cluster of one scheduler and two workers, each a process of its
own. In each trial one of them is killed with SIGKILL at a random moment: a worker is replaced by its nanny; after the
scheduler the cluster is started again; after the client, or when it gave up, the same command is run again. Then all
rows, but for times, and all patches must be those of a run that no one disturbed, byte for byte, and no process and no
file of the killed ones may be left. Exit status 1 when anything differs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

from guardfix.campaign.result_store import ResultStore
from guardfix.campaign.result_tables import TABLE_NAMES, TIME_COLUMNS, query
from synthetic_repositories import write_repository

BIN = Path(sys.executable).parent
VICTIMS = ("worker", "scheduler", "client")
LONGEST = 300.0


class Cluster:
    """A scheduler and two workers with their nannies."""

    def __init__(self, log: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self._log = log
        port = self.address.rpartition(":")[2]
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", port)
        self.nannies = self._start("worker", self.address, "--nworkers", "2", "--nthreads", "1")

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with open(self._log, "ab") as log:
            return subprocess.Popen(
                [str(BIN / "dask"), *arguments, "--no-dashboard"], stdout=log, stderr=log, start_new_session=True
            )

    def worker(self) -> psutil.Process | None:
        """One of the processes that do tasks: it has started a server."""
        for process in psutil.Process(self.nannies.pid).children(recursive=True):
            try:
                if any("task_server" in " ".join(child.cmdline()) for child in process.children()):
                    return process
            except psutil.Error:
                continue
        return None

    def close(self) -> None:
        """End all of it."""
        for process in (self.nannies, self.scheduler):
            for child in [*_descendants(process.pid), process]:
                try:
                    child.send_signal(signal.SIGKILL)
                except (psutil.Error, ProcessLookupError):
                    continue
            process.wait()


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.Error:
        return []


def client(manifest: Path, out: Path, address: str, log: Path) -> subprocess.Popen[bytes]:
    """Start the campaign."""
    command = [str(BIN / "guardfix"), "campaign", "run", str(manifest), "-o", str(out), "--executor", f"dask:{address}"]
    with open(log, "ab") as file:
        return subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True)


def digest(out: Path) -> str:
    """All that was found, but for times."""
    store, found = ResultStore(out), hashlib.sha256()
    for table in TABLE_NAMES:
        columns = [name for name, *_ in query(store, f"DESCRIBE {table}")[1] if name not in TIME_COLUMNS]
        rows = query(store, f"SELECT {', '.join(chr(34) + name + chr(34) for name in columns)} FROM {table}")
        found.update(repr(rows).encode())
    for task in store.tasks():
        assert task.result is not None, f"{task.repository} was not looked at"
        for path in sorted([*task.result.rglob("*.patch"), *task.result.rglob("*.sarif")]):
            found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def servers() -> list[psutil.Process]:
    """The task servers that belong to this measurement."""
    found = []
    for process in psutil.process_iter():
        try:
            if "task_server" in " ".join(process.cmdline()) and process.environ().get("GUARDFIX_CACHE_DIR") == CACHE:
                found.append(process)
        except psutil.Error:
            continue
    return found


CACHE = ""


def trial(victim: str, moment: float, manifest: Path, folder: Path, cluster: Cluster) -> tuple[Cluster, str]:
    """Kill one process after so many seconds, start again what has to be, and finish.

    (The cluster as it is then, what happened.)
    """
    out, log = folder / "out", folder / "log"
    run = client(manifest, out, cluster.address, log)
    deadline = time.monotonic() + LONGEST
    journal = out / "journal.ndjson"
    while not journal.exists() and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)  # the moment is one of the run, not of its start
    time.sleep(moment)
    if run.poll() is not None:
        happened = "done before"
    elif victim == "client":
        os.killpg(run.pid, signal.SIGKILL)
        happened = "client killed"
    elif victim == "scheduler":
        cluster.scheduler.kill()
        happened = "scheduler killed"
    else:
        worker = cluster.worker()
        if worker is not None:
            worker.kill()
        happened = "worker killed" if worker is not None else "no worker was at work"
    try:
        status = run.wait(timeout=max(1.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        return cluster, "the client never ended"
    if happened == "scheduler killed":
        cluster.close()
        cluster = Cluster(folder / "cluster")
    if status != 0:
        again = client(manifest, out, cluster.address, log).wait(timeout=LONGEST)
        happened += f", client ended with {status}, then {again}"
    return cluster, happened


def main() -> int:
    global CACHE
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--repositories", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    dice = random.Random(arguments.seed)
    bad = 0
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="guardfix-faults-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        CACHE = os.environ["GUARDFIX_CACHE_DIR"] = str(folder / "cache")
        for number in range(arguments.repositories):
            write_repository(folder / f"r{number:02}", number, 20 + 5 * (number % 4))
        manifest = folder / "list.txt"
        manifest.write_text("".join(f"r{number:02}\n" for number in range(arguments.repositories)))
        undisturbed = folder / "undisturbed"
        run = [str(BIN / "guardfix"), "campaign", "run", str(manifest), "-o", str(undisturbed), "-q"]
        started = time.monotonic()
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - started
        expected = digest(undisturbed)
        cluster = Cluster(folder / "cluster")
        try:
            for number in range(arguments.trials):
                victim = VICTIMS[number % len(VICTIMS)]
                place = folder / f"trial{number}"
                place.mkdir()
                started = time.monotonic()
                cluster, happened = trial(victim, dice.uniform(0, seconds / 4), manifest, place, cluster)
                same = "never ended" not in happened and digest(place / "out") == expected
                if not same:
                    shutil.copytree(place / "out", Path(tempfile.gettempdir()) / f"faults-trial-{number + 1}")
                bad += not same
                counts[happened.split(",")[0]] += 1
                what = "same rows" if same else "DIFFERENT ROWS"
                print(f"{number + 1:3} {victim:<9} {what}  {time.monotonic() - started:5.1f} s  {happened}", flush=True)
        finally:
            cluster.close()
        time.sleep(3)
        left = len(servers())
        scratch = list((folder / "cache").glob("campaign/*"))
        told = f"{arguments.trials - bad} of {arguments.trials} the same: {dict(counts)}"
        print(f"{told}; left: {left} processes, {len(scratch)} folders")
    return 1 if bad or left or scratch else 0


if __name__ == "__main__":
    sys.exit(main())
