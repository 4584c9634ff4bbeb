"""`torch.multiprocessing`: Python's, with tensors that are copied from process to process, never shared."""

from __future__ import annotations

import multiprocessing as _python
from multiprocessing import *  # noqa: F403

from .core.error_texts import UnsupportedError


def get_sharing_strategy() -> str:
    return "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    return {"file_descriptor", "file_system"}


def set_sharing_strategy(new_strategy: str) -> None:
    """Accepts PyTorch's strategies; tensors are copied with each."""
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(f"Unsupported sharing strategy: {new_strategy}")


def spawn(fn: object, args: object = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
          start_method: str = "spawn") -> object:  # fmt: skip
    """Not supported: a new interpreter would import another torch."""
    raise UnsupportedError("the shim has no torch.multiprocessing.spawn; supported: Process, Pool")


__all__ = [*_python.__all__, "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn"]
