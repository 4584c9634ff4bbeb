"""Numbers that PyTorch doesn't settle: those that move when its rounding does.

The shim rounds in other places than PyTorch. Where a program amplifies that (the sine of a number of seven digits, the
bits of a result, a difference of near numbers), what PyTorch prints is an accident of its rounding as well. How far it
may move is measured: PyTorch runs the program again a few times, and each number that an op has rounded is replaced by
one of its neighbours. A number of the shim may differ by a multiple of what this moves.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from .compare import Disagreement
from .observe import FINE, Plain, Seen, close
from .runner import Step

RUNS = 6
#: A neighbour stands for one rounding; a result has several behind it.
ROUNDINGS = 16
#: Where this share of a number moves, no digit of it is settled, nor whether it is finite.
UNSETTLED = 0.1

_NUMBER = re.compile(r"-?(?:inf|nan|\d+(?:\.\d*)?(?:e[+-]?\d+)?)")

#: By the size of a floating-point number: its integer type, and the last bits of its mantissa. Where they are 0, the
#: number is one of few digits, which nothing had to round.
_LAST_BITS = {2: (np.uint16, 0x7), 4: (np.uint32, 0x1FF), 8: (np.uint64, 0x3F_FFFF_FFFF)}


def nudging_mode(torch: ModuleType, seed: int) -> Any:
    """A mode of PyTorch in which each op's results are neighbours of what it computed, where it had to round."""
    base: Any = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode
    draw = np.random.default_rng(seed)

    def nudge(tensor: Any) -> None:
        if not isinstance(tensor, torch.Tensor) or tensor.dtype not in (torch.float16, torch.float32, torch.float64):
            return
        try:
            array = tensor.detach().numpy()  # writes through it are counted nowhere
        except RuntimeError:
            return  # it has no memory
        integers, last_bits = _LAST_BITS[array.itemsize]
        bits = np.ascontiguousarray(array).view(integers).reshape(array.shape)
        towards = np.where(draw.random(array.shape) < 0.5, np.inf, -np.inf).astype(array.dtype)
        array[...] = np.where(bits & integers(last_bits) == 0, array, np.nextafter(array, towards))

    class NudgingMode(base):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = func(*args, **(kwargs or {}))
            views = any(r.alias_info is not None and not r.alias_info.is_write for r in func._schema.returns)
            if not views:
                for tensor in made if isinstance(made, (tuple, list)) else [made]:
                    nudge(tensor)
            return made

    return NudgingMode()


def unsettled(found: Disagreement, runs: Sequence[Sequence[Step]]) -> bool:
    """Whether a disagreement is about numbers alone, and no greater than what moves in `runs` of nudged numbers."""
    if found.aspect not in ("values", "grad.values", "value"):
        return False
    others = [_at(found, run[found.line]) for run in runs]
    return _within(found.expected, found.got, others)


def _at(found: Disagreement, step: Step) -> Plain:
    place = step.value if found.variable in (None, "(value)") else step.variables.get(found.variable)
    if isinstance(place, Seen) and found.aspect == "grad.values":
        place = place.grad
    return place.values if isinstance(place, Seen) and found.aspect.endswith("values") else place


def _within(want: Plain, got: Plain, others: Sequence[Plain]) -> bool:
    if isinstance(want, Seen) and isinstance(got, Seen):
        # Whatever else is seen of it was compared before, or differs and is no matter of numbers.
        return _same_but_numbers(want, got) and _within(want.values, got.values, [_values(o) for o in others])
    if isinstance(want, (list, tuple)) and isinstance(got, (list, tuple)):
        if len(want) != len(got):
            return False
        rows = [o for o in others if isinstance(o, (list, tuple)) and len(o) == len(want)]
        return all(_within(a, b, [row[i] for row in rows]) for i, (a, b) in enumerate(zip(want, got, strict=True)))
    if isinstance(want, str) and isinstance(got, str):
        if want == got:
            return True
        if _NUMBER.sub("#", want) != _NUMBER.sub("#", got):
            return False
        texts = [_floats(o) for o in others if isinstance(o, str)]
        return _within(_floats(want), _floats(got), texts)
    if isinstance(want, (bool, int, float)) and type(want) is type(got):
        numbers = [o for o in others if type(o) is type(want)]
        return _number_within(want, got, numbers)  # type: ignore[arg-type]
    return bool(want == got)


def _values(seen: Plain) -> Plain:
    return seen.values if isinstance(seen, Seen) else None


def _same_but_numbers(want: Seen, got: Seen) -> bool:
    return (want.dtype, want.shape, want.requires_grad, want.is_leaf, want.layout) == (
        got.dtype,
        got.shape,
        got.requires_grad,
        got.is_leaf,
        got.layout,
    )


def _floats(text: str) -> list[float]:
    return [float(number) for number in _NUMBER.findall(text)]


def _number_within(want: float, got: float, others: Sequence[float]) -> bool:
    if close(want, got, FINE):
        return True
    if isinstance(want, bool):
        return any(o != want for o in others)
    if math.isfinite(want) and any(not math.isfinite(o) for o in others):
        return True
    if not math.isfinite(want):
        return any(math.isfinite(o) or (math.isnan(o) != math.isnan(want)) for o in others)
    moved = max((abs(o - want) for o in others), default=0.0)
    if not math.isfinite(got):
        return moved > 0 and moved >= UNSETTLED * abs(want)
    return abs(got - want) <= ROUNDINGS * moved
