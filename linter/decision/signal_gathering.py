"""Gathers the signals for a use: of its own place, and of the places that reach it."""

from __future__ import annotations

from msgspec.structs import replace

from ..analysis.linkage import Link
from ..findings import Context, Side
from .callers import caller_signals
from .guard_wrappers import scenes_of_wrapper, wrapper_of
from .policy import Policy
from .signal_kinds import Asked, Signal
from .signal_registry import direct_signals
from .use_context import Scene
from .weighing import is_declared, is_left_open, is_settled, weigh


def signals_of(scene: Scene, calls_up: int, policy: Policy, *, runs: bool = True) -> list[Signal]:
    """All signals for a use, each once. Other places are asked when its own leaves a doubt.

    An abstract run asks the whole project: without `runs` for as long as files are still being read.
    """
    found = direct_signals(scene)
    if is_declared(found):
        return found
    name = wrapper_of(scene) if calls_up else None
    if name is not None:
        for place in scenes_of_wrapper(scene, name):
            # A class that only passes the struct on (as member or base) is asked in turn.
            signals = signals_of(place, calls_up - 1, policy, runs=runs)
            found += signals if place.link is Link.SHOWN else [replace(one, shown=False) for one in signals]
    elif calls_up and not is_settled(found, policy):
        found += caller_signals(scene, calls_up, policy)
    # What is called below the guard may do more in files that weren't looked at: it can only speak against inference.
    sides = (Side.AGAINST_INFERENCE,) if scene.project.unseen else tuple(Side)
    for asked in (Asked.WHEN_OPEN, Asked.LAST):
        if is_left_open(found, policy):
            found += direct_signals(scene, sides, asked, known=found)
    if runs and weigh(found, policy).context is Context.INFERENCE:
        found += direct_signals(scene, asked=Asked.WHEN_INFERENCE, known=found)
    return list(dict.fromkeys(found))
