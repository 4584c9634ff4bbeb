"""How much work a check and its fixes are, counted in calls: no clock, and no other process, disturbs that."""

from __future__ import annotations

import math
from pathlib import Path

from growth_shapes import Shape

from call_counting import calls_made
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
    return calls_made(
        lambda: settle(fixes_for(check([str(folder / str(size))], Options(workers=1)), FixChoice(unsafe=True)))
    )


def exponent_of(make: Shape, size: int, folder: Path, doublings: int = 2) -> float:
    """The exponent of the growth from `size` to its last doubling: 1 is linear, 2 quadratic, 0 what size doesn't change.

    It is that of what the first and the last doubling add: what every run costs whatever its size is gone.
    """
    calls_of(make, 2, folder)  # what is loaded and compiled once
    counts = [calls_of(make, size << doubling, folder) for doubling in (0, 1, doublings - 1, doublings)]
    least = counts[0] * _NOTHING
    return math.log2(max(counts[3] - counts[2], least) / max(counts[1] - counts[0], least)) / (doublings - 1)


_NOTHING = 0.02
"""The part of a run below which what a doubling adds isn't growth: the work is then in C, or bounded."""
