"""Signals from programs that were run with each replacement: `guardfix verify --decide`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Context, Side
from ..observed_runs import kept_runs
from ..signal_kinds import SignalMatch, Weight, signal
from ..use_context import Scene


@signal("survives-as-kernel", side=Side.KERNEL, weight=Weight.TRIED, asks_project=True)
def survives_as_kernel(scene: Scene) -> Iterator[SignalMatch]:
    """of all replacements, only the kernel guard left the programs that were run as they should be"""
    yield from _shown(scene, Context.KERNEL)


@signal("survives-as-below-autograd", side=Side.BELOW_AUTOGRAD, weight=Weight.TRIED, asks_project=True)
def survives_as_below_autograd(scene: Scene) -> Iterator[SignalMatch]:
    """of all replacements, only the guard below autograd left the programs that were run as they should be"""
    yield from _shown(scene, Context.BELOW_AUTOGRAD)


@signal("survives-as-inference", side=Side.INFERENCE, weight=Weight.TRIED, asks_project=True)
def survives_as_inference(scene: Scene) -> Iterator[SignalMatch]:
    """of all replacements, only `InferenceMode` left the programs that were run as they should be"""
    yield from _shown(scene, Context.INFERENCE)


@signal("survives-removal", side=Side.REMOVE, weight=Weight.TRIED, asks_project=True)
def survives_removal(scene: Scene) -> Iterator[SignalMatch]:
    """of all replacements, only taking the guard out left the programs that were run as they should be"""
    yield from _shown(scene, Context.REMOVE)


def _shown(scene: Scene, context: Context) -> Iterator[SignalMatch]:
    start = scene.use.type_span.start
    for run in kept_runs(scene.facts.digest):
        if run.start == start and run.context is context:
            yield SignalMatch(f"by running {run.shown_by}: no other replacement left it as it should be", start)
