"""How much work something is, counted in calls: no clock, and no other process, disturbs that."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls_made(work: Callable[[], object]) -> int:
    """How many functions, of Python and of C, `work` calls."""
    count = 0

    def called(frame: FrameType, event: str, value: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
