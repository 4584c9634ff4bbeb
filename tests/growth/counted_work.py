"""How much work a check and its fixes are, counted in calls: no clock, and no other process, disturbs that."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import FrameType

from growth_shapes import Shape

from guardfix.codemods.apply.settling import settle
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check


def calls_of(make: Shape, size: int, folder: Path) -> int:
    """How many functions, of Python and of C, a check with all its fixes calls."""
    for name, text in make(size).items():
        path = folder / str(size) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    count = 0

    def called(frame: FrameType, event: str, value: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        settle(fixes_for(check([str(folder / str(size))], Options(workers=1)), FixChoice(unsafe=True)))
    finally:
        sys.setprofile(before)
    return count


def exponent_of(make: Shape, size: int, folder: Path) -> float:
    """The exponent of the growth from `size` to four times as much: 1 is linear, 2 quadratic.

    It is that of what the second half of each costs: what every run costs whatever its size is gone.
    """
    calls_of(make, 2, folder)  # what is loaded and compiled once
    one, two, four = (calls_of(make, times * size, folder) for times in (1, 2, 4))
    return math.log2(max(four - two, 1) / max(two - one, 1))
