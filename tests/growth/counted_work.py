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


def exponent_of(make: Shape, size: int, folder: Path) -> float:
    """The exponent of the growth from `size` to four times as much: 1 is linear, 2 quadratic.

    It is that of what the second half of each costs: what every run costs whatever its size is gone.
    """
    calls_of(make, 2, folder)  # what is loaded and compiled once
    one, two, four = (calls_of(make, times * size, folder) for times in (1, 2, 4))
    return math.log2(max(four - two, 1) / max(two - one, 1))
