"""How much processor time and memory one small input may take, measured input by input."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

SECONDS = 2.0
"""Of processor time."""
MEGABYTES = 512
"""Of resident memory, above what the process had before the input. Address space says too much: libcst is given a stack
of 512 MB, of which it touches a few pages."""

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def bounded(
    check: Callable[[bytes], str], seconds: float = SECONDS, megabytes: float = MEGABYTES
) -> Callable[[bytes], str]:
    """What `check` finds; if it finds nothing, whether it took too long or too much. Memory is measured on Linux only."""

    def failure(data: bytes) -> str:
        measured = _forget_peak()
        before, start = megabytes_of("VmRSS"), time.process_time()
        found = check(data)
        taken, peak = time.process_time() - start, megabytes_of("VmHWM")
        if found:
            return found
        if taken > seconds:
            return f"takes {taken:.1f} s"
        return f"takes {peak - before:.0f} MB" if measured and peak - before > megabytes else ""

    return failure


def _forget_peak() -> bool:
    """The highest resident size is counted from now on, unlike `ru_maxrss`, which never falls; whether that worked."""
    try:
        _RESET.write_text("5")
    except OSError:  # not Linux, or not allowed here
        return False
    return True


def megabytes_of(name: str) -> float:
    """What the system says of this process under a name, as `VmSize`; 0 where it says nothing."""
    try:
        found = re.search(rf"{name}:\s+(\d+) kB", _STATUS.read_text())
    except OSError:
        found = None
    return int(found[1]) / 1024 if found else 0.0
