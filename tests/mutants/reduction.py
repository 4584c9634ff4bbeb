"""An input that fails -> a smaller one that fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence


def smaller(data: bytes, fails: Callable[[bytes], bool], seconds: float = 300) -> bytes:
    """The data without the lines, and then without the bytes, that the failure does not need.

    Ever smaller stretches are taken out while `fails` says that it still does. Single bytes are
    tried once 2,000 or fewer are left. Ends with what it has after so many seconds.
    """
    end = time.monotonic() + seconds
    data = b"".join(_needed(data.splitlines(keepends=True), fails, end))
    if len(data) <= 2000:
        data = b"".join(_needed([bytes([byte]) for byte in data], fails, end))
    return data


def _needed(parts: Sequence[bytes], fails: Callable[[bytes], bool], end: float) -> Sequence[bytes]:
    size = max(1, len(parts) // 2)
    while size:
        place = 0
        while place < len(parts):
            if time.monotonic() > end:
                return parts
            candidate = [*parts[:place], *parts[place + size :]]
            if fails(b"".join(candidate)):
                parts = candidate
            else:
                place += size
        size //= 2
    return parts
