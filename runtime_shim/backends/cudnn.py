"""`torch.backends.cudnn`, which isn't there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

enabled = benchmark = deterministic = allow_tf32 = False


@contextlib.contextmanager
def flags(*_: object, **__: object) -> Iterator[None]:
    """Settings of a library that isn't there change nothing."""
    yield


def is_available() -> bool:
    return False


def version() -> int | None:
    return None
