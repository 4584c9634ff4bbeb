"""Signals of the old guards beside and around a use: what they will be is evidence, as what stands there already is."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts import Facts, GuardUse, Span
from ...facts.index import index_of
from ...findings import Confidence, Context, Side
from ...guards import INFERENCE_MODE, LEGACY
from ..policy import POLICY
from ..scene import Scene, scene_of
from ..signal_kinds import Sighting, Weight, signal
from ..weighing import weigh
from .inference_signals import gradients_off


class _BeingAsked(set[tuple[str, Span]]):
    """Uses whose own signals are looked for right now: they aren't asked what their neighbours are."""


@signal("beside-inference-workload", side=Side.INFERENCE, weight=Weight.STRONG, unless=[gradients_off])
def beside_inference_workload(scene: Scene) -> Iterator[Sighting]:
    """another old guard beside it or around it becomes an `InferenceMode`, with high confidence"""
    asked = scene.project.memory(_BeingAsked)
    if (scene.facts.path, scene.use.type_span) in asked:
        return
    for other in _old_guards_around(scene):
        key = (scene.facts.path, other.type_span)
        asked.add(key)
        try:
            becomes_inference = _becomes_inference(scene, scene.facts, other)
        finally:
            asked.discard(key)
        if becomes_inference:
            where = "beside" if other.scope == scene.use.scope else "around"
            yield Sighting(f"the {LEGACY} {where} it becomes an {INFERENCE_MODE}", other.span.start)
            return


def _old_guards_around(scene: Scene) -> list[GuardUse]:
    here = index_of(scene.facts)
    found = [*here.uses_by_scope.get(scene.use.scope, ()), *here.uses_around(scene.use.span)]
    return [
        other
        for other in dict.fromkeys(found)
        if other.guard == LEGACY and other.type_span != scene.use.type_span and other.function == scene.use.function
    ]


def _becomes_inference(scene: Scene, facts: Facts, use: GuardUse) -> bool:
    from ..signal_registry import direct_signals

    weighed = weigh(direct_signals(scene_of(scene.project, facts, use)), POLICY)
    return weighed.context is Context.INFERENCE and weighed.confidence is Confidence.HIGH
