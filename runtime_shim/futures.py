"""`torch.futures`: results that come later. Source: torch/futures/__init__.py of 2.13."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .core.error_texts import UnsupportedError

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A value, or an exception, that is set once; whoever waits for it waits until then."""

    def __init__(self, *, devices: object = None) -> None:
        if devices:
            raise UnsupportedError("the shim has no futures on devices; supported: devices=None")
        self._condition = threading.Condition()
        self._result: Any = None
        self._error: BaseException | None = None
        self._is_done = False
        self._callbacks: list[Callable[[], None]] = []

    def done(self) -> bool:
        return self._is_done

    def wait(self) -> T:
        """The value; raises the exception if that was set instead."""
        with self._condition:
            while not self._is_done:
                self._condition.wait()
        return self.value()

    def value(self) -> T:
        """The value of a future that is done, without waiting. RuntimeError if it isn't done."""
        if not self._is_done:
            raise RuntimeError("completed() INTERNAL ASSERT FAILED: this future isn't done; wait() for it")
        if self._error is not None:
            raise self._error
        return self._result

    def set_result(self, result: T) -> None:
        self._complete(result, None)

    def set_exception(self, result: object) -> None:
        assert isinstance(result, Exception), f"{result} is of type {type(result)}, not an Exception."
        self._complete(None, result)

    def _complete(self, result: object, error: BaseException | None) -> None:
        with self._condition:
            if self._is_done:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future can only be marked "
                    "completed once."
                )
            self._result, self._error, self._is_done = result, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._condition.notify_all()
        for callback in callbacks:
            callback()

    def _when_done(self, callback: Callable[[], None]) -> None:
        with self._condition:
            if not self._is_done:
                self._callbacks.append(callback)
                return
        callback()

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future of what the callback makes of this one when it is done; RuntimeError in its place if it raises."""
        made: Future[S] = Future()

        def run() -> None:
            try:
                found = callback(self)
            except Exception as error:
                made._complete(None, RuntimeError(_callback_failed(error)))
            else:
                made._complete(found, None)

        self._when_done(run)
        return made

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Have the callback called when this is done; what it raises is printed."""

        def run() -> None:
            try:
                callback(self)
            except Exception as error:
                print(_callback_failed(error), file=sys.stderr)

        self._when_done(run)


Future.__module__ = "torch.jit"


def _callback_failed(error: Exception) -> str:
    where = "".join(
        f"\n  {frame.filename}({frame.lineno}): {frame.name}" for frame in traceback.extract_tb(error.__traceback__)
    )
    return f"Got the following error when running the callback: {type(error).__name__}: {error}\n\nAt:{where}\n"


def collect_all(futures: list[Future[object]]) -> Future[list[Future[object]]]:
    """A future that is done when all are: their list, or the first exception among them."""
    made: Future[list[Future[object]]] = Future()
    left = [len(futures)]
    lock = threading.Lock()

    def one_is_done() -> None:
        with lock:
            left[0] -= 1
            if left[0]:
                return
        error = next((f._error for f in futures if f._error is not None), None)
        made._complete(None if error is not None else futures, error)

    for future in futures:
        future._when_done(one_is_done)
    if not futures:
        made.set_result([])
    return made


def wait_all(futures: list[Future[object]]) -> list[object]:
    """The values of all, when they are done."""
    return [future.wait() for future in collect_all(futures).wait()]
