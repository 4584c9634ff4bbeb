"""Executors by name: threads or processes of this machine, or a Dask cluster, made for the run or there already."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from guardfix.linter.frontends.extraction import cores
from guardfix.module_command import shadowed_modules

_Done = TypeVar("_Done")
KINDS = ("local", "process", "dask")
LOOK = 1.0
"""Seconds between two looks at whether an executor is lost."""
_PATIENCE = 5.0
"""Seconds for which a scheduler may be on its way up."""
_HELLO = "10s"
"""How long what listens at its address may take to answer as a scheduler does."""


class NoExecutor(Exception):
    """An executor that can't be had; the message says why."""


@dataclass(frozen=True)
class ExecutorHandle:
    """An executor, and what a run has to know of it."""

    executor: Executor
    workers: int
    """How many tasks are done at once, as far as known."""
    lost: tuple[type[BaseException], ...]
    """Errors of tasks whose worker was lost once too often."""
    dashboard: str = ""
    is_lost: Callable[[], bool] = lambda: False
    """Whether it is gone for good. A future whose result was on its way then never completes."""

    def submit(self, work: Callable[..., _Done], *args: Any, **kwargs: Any) -> Future[_Done]:
        """Give out a task. Raises `BrokenExecutor` when the executor takes no more."""
        try:
            return self.executor.submit(work, *args, **kwargs)
        except (OSError, RuntimeError) as error:
            raise BrokenExecutor(str(error)) from error
        except Exception as error:  # Dask's versions differ in what a closed client raises
            if not self.is_lost():
                raise
            raise BrokenExecutor(str(error)) from error


@contextmanager
def executor_named(name: str, jobs: int = 0) -> Iterator[ExecutorHandle]:
    """The executor of that name: `local`, `process`, `dask`, or `dask:` and the address of a scheduler.

    `jobs` are the tasks done at once, by default one a core; a cluster that is there already has its own. Tasks that
    have not begun are dropped at the end. Raises `NoExecutor`.
    """
    jobs = jobs or cores()
    kind, _, address = name.partition(":")
    if kind == "local" and not address:
        threads = ThreadPoolExecutor(jobs)
        try:
            yield ExecutorHandle(threads, jobs, ())
        finally:
            threads.shutdown(cancel_futures=True)
    elif kind == "process" and not address:
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import get_context

        _refuse_shadows()
        pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
        try:
            yield ExecutorHandle(pool, jobs, (BrokenProcessPool,))
        finally:
            pool.shutdown(cancel_futures=True)
    elif kind == "dask":
        with _dask(address, jobs) as handle:
            yield handle
    else:
        raise NoExecutor(f"`{name}` is not an executor; use local, process, dask, or dask:tcp://HOST:PORT")


def _refuse_shadows() -> None:
    """Raises `NoExecutor` where a new process would import a file of the current folder as a module of Python's."""
    shadowed = shadowed_modules(os.getcwd())
    if shadowed:
        raise NoExecutor(
            f"a new Python process would take its module `{shadowed[0]}` from the current folder; "
            "run guardfix from another folder, or with `--executor local`"
        )


@contextmanager
def _dask(address: str, jobs: int) -> Iterator[ExecutorHandle]:
    try:
        import distributed
        from distributed.comm.core import CommClosedError
    except ImportError:
        raise NoExecutor("Dask is not installed: pip install 'guardfix[campaign]'") from None
    import dask

    # The run reports once what happens to the cluster.
    for logger in ("distributed", "distributed.client"):  # which has its own level
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    # A task is a repository: memory is limited there, and a worker that waits for its server is not stuck.
    quiet = {
        "distributed.worker.memory.target": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.terminate": False,
        "distributed.worker.profile.enabled": False,  # it would watch threads that wait
        # Every 20 ms by default, in each of its event loops: most of what an engine that waits takes.
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.tick.limit": "60s",
        "distributed.admin.system-monitor.interval": "5s",
        # What the scheduler and its connections remember of tasks that are done grows with their number otherwise, up
        # to a third of what they take at the start.
        "distributed.admin.low-level-log-length": 50,
        "distributed.admin.system-monitor.log-length": 720,
        "distributed.diagnostics.computations.max-history": 5,
        "distributed.comm.timeouts.connect": "20s",
    }
    with dask.config.set(quiet):
        try:
            client = _client(distributed, address, jobs)
        except (OSError, TimeoutError, ValueError) as error:
            raise NoExecutor(f"{address or 'a Dask cluster'}: {error}") from None
        try:
            workers = sum(client.nthreads().values()) or jobs
            # Tasks run guardfix on what may have changed meanwhile: equal ones are not one.
            executor: Any = client.get_executor(pure=False, retries=2)
            lost = (distributed.scheduler.KilledWorker, CommClosedError)

            def is_lost() -> bool:
                # A client that connects again has lost its tasks all the same.
                return bool(client.status != "running")

            yield ExecutorHandle(executor, workers, lost, client.dashboard_link or "", is_lost)
        finally:
            client.close(timeout=10)
            if client.cluster is not None and not address:
                client.cluster.close(timeout=10)


def _await_scheduler(address: str) -> None:
    """Wait until something listens at the address. Raises `NoExecutor` when nothing does for a while.

    Dask's client would wait four times as long, and could not be interrupted without a traceback.
    """
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    try:
        place = parts.hostname, parts.port
    except ValueError:
        place = None, None
    if place[0] is None or place[1] is None:
        raise NoExecutor(f"{address}: the address of a scheduler has the form tcp://HOST:PORT")
    if parts.scheme not in ("tcp", "tls"):
        return
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            socket.create_connection(place, timeout=max(0.1, end - time.monotonic())).close()
            return
        except OSError as error:
            if time.monotonic() + LOOK / 4 > end or isinstance(error, socket.gaierror):
                raise NoExecutor(f"{address}: no scheduler listens there: {error.strerror or error}") from None
        time.sleep(LOOK / 4)


def _client(distributed: Any, address: str, jobs: int) -> Any:
    if address:
        _await_scheduler(address)

        class Client(distributed.Client):  # type: ignore[misc]
            def __del__(self) -> None:
                """Nothing: the run closes it. Dask would wait for a connection that was interrupted."""

        return Client(address, timeout=_HELLO, set_as_default=False)
    _refuse_shadows()
    cluster = distributed.LocalCluster(
        n_workers=min(jobs, 4 * (os.cpu_count() or 1)),
        threads_per_worker=1,
        processes=True,
        memory_limit=0,
        dashboard_address=os.environ.get("GUARDFIX_DASHBOARD", ":0"),
    )
    return distributed.Client(cluster, set_as_default=False)
