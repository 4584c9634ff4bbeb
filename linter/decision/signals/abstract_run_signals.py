"""Signals from abstract runs: what a replacement would bring about."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Side
from ...flow.events import pytorch_says
from ...flow.what_if import events_instead
from ...guards import Effect
from ..signal_kinds import Asked, SignalMatch, Weight, signal
from ..use_context import Scene


@signal(
    "raises-in-inference",
    side=Side.AGAINST_INFERENCE,
    weight=Weight.WEAK,
    asked=Asked.WHEN_INFERENCE,
    asks_project=True,
)
def raises_in_inference(scene: Scene) -> Iterator[SignalMatch]:
    """with `InferenceMode` in its place, code that follows certainly raises: an abstract run of the program shows it"""
    for event in events_instead(scene.use, scene.facts, scene.project, Effect.INFERENCE):
        said = pytorch_says(event.kind)
        if event.certain and said is not None:
            subject = f"`{event.variable}`" if event.variable else "it"
            message = f'with `InferenceMode` here {subject} would be an inference tensor, and this would raise "{said}"'
            yield SignalMatch(message, event.span.start, scene.project.files[event.path])
            return
