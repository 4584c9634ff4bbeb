"""Signals against inference: gradients are made or used under the guard."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...analysis.call_graph import effects_below
from ...analysis.function_outlines import CallEffect
from ...analysis.training_calls import training_in
from ...facts import Call
from ...facts.index import calls_where
from ...findings import Side
from ..signal_kinds import Asked, SignalMatch, Weight, shown, signal
from ..use_context import Scene


def trains_around(scene: Scene, training: Callable[[Call], str] = training_in) -> bool:
    """Whether the function around the use trains, below the guard or not, itself or through functions that it calls.

    A model that runs there may be running in order to be trained, so it isn't evidence of an inference workload.
    `training` says which of the function's own calls count.
    """
    function = scene.outermost
    if function is None:
        return False
    if calls_where(scene.facts, function.span, training).first(function.span) is not None:
        return True
    reached = effects_below(scene.project, scene.facts, function.span, scene.use.function).get(CallEffect.TRAIN)
    # What has the name of a function that is called, in another file, need not be that function.
    return scene.use.macro is None and reached is not None and reached.act.facts.path == scene.facts.path


@signal("trains", side=Side.AGAINST_INFERENCE, weight=Weight.STRONG)
def trains(scene: Scene) -> Iterator[SignalMatch]:
    """`backward()`, `autograd::grad`, `requires_grad_` or an optimizer's step is called below the guard"""
    call = scene.first_below(training_in)
    if call is not None:
        yield SignalMatch(f"{training_in(call)} under the guard: `{shown(call.callee)}`", call.span.start)


@signal(
    "reaches-training",
    side=Side.AGAINST_INFERENCE,
    weight=Weight.STRONG,
    unless=[trains],
    asked=Asked.WHEN_OPEN,
    asks_project=True,
)
def reaches_training(scene: Scene) -> Iterator[SignalMatch]:
    """a function that is called below the guard computes gradients or steps an optimizer, itself or through others"""
    if scene.use.macro is None and scene.chain:
        found = effects_below(scene.project, scene.facts, scene.use.live, scene.use.function).get(CallEffect.TRAIN)
        if found is not None:
            act = found.act
            message = f"`{shown(found.through)}` trains: `{shown(act.written)}` in `{found.doer}`"
            yield SignalMatch(message, act.offset, act.facts, link=found.link)
