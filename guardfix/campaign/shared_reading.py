"""`guardfix check --executor`: the files of one large tree, read by another pool's processes or by a cluster."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, InvalidStateError
from contextlib import contextmanager
from typing import Any, TypeVar

from guardfix.package_version import VERSION

from .campaign_executors import LOOK, ExecutorHandle, executor_named

_Done = TypeVar("_Done")
_folder_lock = threading.Lock()
"""Held while the working folder of this process is another's."""


class UnfitWorker(Exception):
    """A worker that can't read the files as this process would; the message says why."""


@contextmanager
def reading_executor(name: str, jobs: int = 0) -> Iterator[Executor]:
    """An executor for `check(…, executor=)`, by its name as in `executor_named`.

    Its workers read relative paths from this process's working folder. When one of them is lost for good, its future
    raises `BrokenExecutor`; when it has no such folder, or another version of guardfix, `UnfitWorker`.
    Raises `NoExecutor`.
    """
    with executor_named(name, jobs) as engine, _ReadingExecutor(engine) as executor:
        yield executor


class _ReadingExecutor(Executor):
    """Gives out work to another executor, together with what workers elsewhere have to know."""

    def __init__(self, engine: ExecutorHandle) -> None:
        self._engine = engine
        self._folder, self._version = os.getcwd(), VERSION
        self._waiting: set[Future[Any]] = set()
        self._at_end = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def submit(self, work: Callable[..., _Done], /, *args: Any, **kwargs: Any) -> Future[_Done]:
        given = self._engine.submit(_done_in, self._folder, self._version, work, *args, **kwargs)
        promised: Future[_Done] = Future()
        self._waiting.add(promised)
        given.add_done_callback(lambda done: self._tell(done, promised))
        return promised

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Watch it no longer."""
        self._at_end.set()

    def _tell(self, given: Future[_Done], promised: Future[_Done]) -> None:
        self._waiting.discard(promised)
        with contextlib.suppress(InvalidStateError):  # the executor was given up before
            try:
                promised.set_result(given.result())
            except CancelledError:
                promised.set_exception(BrokenExecutor("the scheduler is gone"))
            except self._engine.lost:
                promised.set_exception(BrokenExecutor("its workers were killed"))
            except Exception as error:
                promised.set_exception(error)

    def _watch(self) -> None:
        while not self._at_end.wait(LOOK):
            if self._engine.is_lost():
                for promised in tuple(self._waiting):
                    with contextlib.suppress(InvalidStateError):
                        promised.set_exception(BrokenExecutor("the scheduler is gone"))


def _done_in(folder: str, version: str, work: Callable[..., _Done], *args: Any, **kwargs: Any) -> _Done:
    """What `work` comes to in a folder. Raises `UnfitWorker`."""
    if version != VERSION:
        raise UnfitWorker(f"a worker has guardfix {VERSION}, and this is {version}")
    with _folder_lock:
        before = os.getcwd()
        try:
            os.chdir(folder)
        except OSError as error:
            raise UnfitWorker(f"a worker can't read {folder}: {error.strerror or error}") from None
        try:
            return work(*args, **kwargs)
        finally:
            os.chdir(before)
