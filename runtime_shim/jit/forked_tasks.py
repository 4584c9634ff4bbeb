"""`torch.jit.fork` and `wait`: a task runs where it is forked, as PyTorch runs one outside of a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..futures import Future


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """A future of `func(*args, **kwargs)`, which is done; raises what the function raises."""
    made: Future[Any] = Future()
    made.set_result(func(*args, **kwargs))
    return made


def wait(future: Future[Any]) -> Any:
    """The result of a forked task. TypeError for anything else."""
    if not isinstance(future, Future):
        raise TypeError(f"wait(): incompatible function arguments: expected a Future, got {type(future).__name__}")
    return future.wait()


_fork, _wait = fork, wait
