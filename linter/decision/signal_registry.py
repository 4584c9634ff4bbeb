"""Finds the kinds of signals by where they are, in `signals/`, and looks for all of them around a use."""

from __future__ import annotations

import importlib
import os
from collections.abc import Collection, Iterable
from functools import cache
from types import ModuleType

from ..findings import Side
from . import signals
from .signal_kinds import Asked, Signal, SignalKind
from .use_context import Scene

_ORDER = {Side.KERNEL: 0, Side.BELOW_AUTOGRAD: 0, Side.INFERENCE: 1, Side.REMOVE: 2, Side.AGAINST_INFERENCE: 3}


@cache
def signal_kinds() -> tuple[SignalKind, ...]:
    """Every registered kind: kernels, inference, remove, against inference; within each as the files define them.

    What callers say comes last of its side: of signals that weigh the same, a place's own goes first.

    Raises `ValueError` when two kinds have one name.
    """
    found: dict[str, SignalKind] = {}
    modules = {name.removesuffix(".py") for folder in signals.__path__ for name in os.listdir(folder)}
    for module in sorted(name for name in modules if name.isidentifier() and not name.startswith("__")):
        for kind in _kinds_of(importlib.import_module(f"{signals.__name__}.{module}")):
            if found.setdefault(kind.name, kind) is not kind:
                raise ValueError(f"two kinds of signals are called {kind.name!r}; the second is in {module}.py")
    return tuple(sorted(found.values(), key=lambda kind: (_ORDER[kind.side], kind.find is None)))


def _kinds_of(module: ModuleType) -> list[SignalKind]:
    return [value for value in vars(module).values() if isinstance(value, SignalKind)]


class FoundSignals(dict[tuple[object, ...], tuple[Signal, ...]]):
    """The signals of places that were asked before."""


def direct_signals(
    scene: Scene, sides: Collection[Side] = tuple(Side), asked: Asked = Asked.ALWAYS, known: Iterable[Signal] = ()
) -> list[Signal]:
    """The signals of those sides that the place of the use itself gives, of the kinds that are looked for then.

    `known` are signals that were found before: kinds that say no more than one of them are not looked for. A place is
    asked once for the same.
    """
    kinds = frozenset(signal.kind for signal in known)
    key = (scene.facts.path, _place(scene), tuple(sides), asked, kinds)
    remembered = scene.project.memory(FoundSignals)
    if key not in remembered:
        remembered[key] = tuple(signals_at(scene, sides, asked, kinds))
    return list(remembered[key])


def signals_at(
    scene: Scene,
    sides: Collection[Side] = tuple(Side),
    asked: Asked = Asked.ALWAYS,
    known: Collection[SignalKind] = frozenset(),
) -> list[Signal]:
    """What `direct_signals` gives, looked for again: for a place that is asked while another waits for the answer."""
    found: list[Signal] = []
    seen = set(known)
    place = _place(scene)
    memory = scene.facts.answers
    for kind in signal_kinds():
        if kind.find is None or kind.asked is not asked or kind.side not in sides or not seen.isdisjoint(kind.unless):
            continue
        if kind.asks_project:
            signals = _found(kind, scene)
        else:
            key = (kind, place)
            if key not in memory:
                memory[key] = _found(kind, scene)
            signals = memory[key]
        if signals:
            seen.add(kind)
            found += signals
    return found


def _place(scene: Scene) -> tuple[object, ...]:
    """What tells the use of a scene from the others of its file."""
    use = scene.use
    names = tuple(function.qualified for function in scene.chain)  # a macro's functions have others at each place
    return use.guard, use.type_span, use.form, use.macro, names


def _found(kind: SignalKind, scene: Scene) -> list[Signal]:
    return (
        [kind.signal(scene, signal_match) for signal_match in kind.find(scene, signals_at)]
        if kind.find is not None
        else []
    )
