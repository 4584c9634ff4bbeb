"""Delta debugging over lines: the smallest program that still disagrees in the same way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .program import Program, without


def shrink(program: Program, still_fails: Callable[[Program], bool]) -> Program:
    """Removes runs of lines, long ones first, as long as `still_fails` says yes to what is left.

    The result is minimal in the sense that no single line can go. `still_fails(program)` must hold.
    """
    size = len(program.lines)
    while size:
        start = len(program.lines) - size
        removed = False
        while start >= 0:
            lines = without(program.lines, start, start + size)
            candidate = replace(program, lines=lines)
            if lines and still_fails(candidate):
                program, removed = candidate, True
                start = min(start, len(lines)) - size
            else:
                start -= max(1, size // 2)
        if size > 1 or not removed:
            size //= 2
    return program
