"""Signals of the old guards beside and around a use: what they will be is evidence, as what is there already is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ...analysis.project import Project
from ...answered_once import answered_once
from ...facts import NOWHERE, Facts, GuardUse, Span
from ...facts.index import index_of
from ...facts.model import MOST_AROUND
from ...findings import Confidence, Context, Side
from ...guards import INFERENCE_MODE, LEGACY
from ..policy import POLICY
from ..signal_kinds import SignalMatch, SignalsOf, Weight, signal_of_others
from ..use_context import Scene, scene_of
from ..weighing import weigh
from .inference_signals import gradients_off


class _BeingAsked(set[tuple[str, Span]]):
    """Uses whose own signals are looked for right now: they aren't asked what their neighbours are."""


@signal_of_others("beside-inference-workload", side=Side.INFERENCE, weight=Weight.STRONG, unless=[gradients_off])
def beside_inference_workload(scene: Scene, signals_of: SignalsOf) -> Iterator[SignalMatch]:
    """another old guard beside it or around it becomes an `InferenceMode`, with high confidence"""
    use = scene.use
    if use.scope == NOWHERE or (scene.facts.path, use.type_span) in scene.project.memory(_BeingAsked):
        return
    around = islice(index_of(scene.facts).scopes.around(use.span), MOST_AROUND)
    for scope in dict.fromkeys((use.scope, *around)):
        for other in _first_in(scene.project, scene.facts, scope, signals_of):
            covers = other.scope == use.scope or other.live.holds(use.span)
            if covers and other.type_span != use.type_span and other.function == use.function:
                where = "beside" if other.scope == use.scope else "around"
                yield SignalMatch(f"the {LEGACY} {where} it becomes an {INFERENCE_MODE}", other.span.start)
                return


@answered_once
def _first_in(project: Project, facts: Facts, scope: Span, signals_of: SignalsOf) -> tuple[GuardUse, ...]:
    """The first two old guards that are declared in a scope and become an `InferenceMode`: one may be asking.

    Of those that cover a place, the first one begins first. Each guard is looked at once, however many ask.
    """
    declared = index_of(facts).local_by_scope.get(scope, ())
    old = (use for use in declared if use.guard == LEGACY)
    return tuple(islice((use for use in old if _becomes_inference(project, facts, use, signals_of)), 2))


def _becomes_inference(project: Project, facts: Facts, use: GuardUse, signals_of: SignalsOf) -> bool:
    asked = project.memory(_BeingAsked)
    key = (facts.path, use.type_span)
    asked.add(key)
    try:
        weighed = weigh(signals_of(scene_of(project, facts, use)), POLICY)
    finally:
        asked.discard(key)
    return weighed.context is Context.INFERENCE and weighed.confidence is Confidence.HIGH
