"""Signals of a person's word: a comment at the use, or the configuration, says what the guard is for."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.declared_purposes import declared_purpose
from ...facts.intents import Purpose
from ...findings import Side
from ..signal_kinds import SignalMatch, Weight, signal
from ..use_context import Scene


@signal("declared-kernel", side=Side.KERNEL, weight=Weight.DECLARED, asks_project=True)
def declared_kernel(scene: Scene) -> Iterator[SignalMatch]:
    """a comment (`guardfix: kernel`) or the configuration says so"""
    yield from _declared(scene, Purpose.KERNEL)


@signal("declared-below-autograd", side=Side.BELOW_AUTOGRAD, weight=Weight.DECLARED, asks_project=True)
def declared_below_autograd(scene: Scene) -> Iterator[SignalMatch]:
    """a comment (`guardfix: below_autograd`) or the configuration says so"""
    yield from _declared(scene, Purpose.BELOW_AUTOGRAD)


@signal("declared-preserve", side=Side.BELOW_AUTOGRAD, weight=Weight.DECLARED, asks_project=True)
def declared_preserve(scene: Scene) -> Iterator[SignalMatch]:
    """a comment (`guardfix: preserve`) or the configuration says to keep what the old guard does since torch 1.9"""
    yield from _declared(scene, Purpose.PRESERVE)


@signal("declared-inference", side=Side.INFERENCE, weight=Weight.DECLARED, asks_project=True)
def declared_inference(scene: Scene) -> Iterator[SignalMatch]:
    """a comment (`guardfix: inference`) or the configuration says so"""
    yield from _declared(scene, Purpose.INFERENCE)


@signal("declared-remove", side=Side.REMOVE, weight=Weight.DECLARED, asks_project=True)
def declared_remove(scene: Scene) -> Iterator[SignalMatch]:
    """a comment (`guardfix: remove`) or the configuration says so"""
    yield from _declared(scene, Purpose.REMOVE)


def _declared(scene: Scene, purpose: Purpose) -> Iterator[SignalMatch]:
    said = declared_purpose(scene.use, scene.facts, scene.project)
    if said is not None and said.purpose is purpose:
        yield SignalMatch(f"declared in {said.words}", said.offset, said.where)
