"""Asks a helper's callers: it is what they are, when all of them are the same."""

from __future__ import annotations

from msgspec.structs import replace

from ..analysis.linkage import Link
from ..analysis.training_calls import learning_in
from ..facts import Call, Facts, Form, Function, GuardUse, Span
from ..findings import Confidence, Context, Side
from .policy import Policy
from .signal_kinds import KERNEL_SIDES, Asked, Signal, SignalMatch
from .signal_registry import direct_signals
from .signals.caller_signals import LIKELY, SURE
from .signals.training_signals import trains_around
from .use_context import Scene, scene_of
from .weighing import Weighed, is_left_open, is_settled, weigh

_ASKED_SIDES = (*KERNEL_SIDES, Side.INFERENCE)
"""What would be removed or trained in the caller's own place says nothing about whom it calls."""
_WHAT = {
    Context.KERNEL: "an autograd kernel",
    Context.BELOW_AUTOGRAD: "an autograd kernel of an in-place or view op",
    Context.INFERENCE: "an inference workload",
}


class AskedCallers(dict[tuple[str, Span, int, Policy], list[Signal]]):
    """What a function's callers say, by its file, its place, and how many calls up they are asked."""


def caller_signals(scene: Scene, calls_up: int, policy: Policy) -> list[Signal]:
    """What the callers of the function around the use say; nothing when one of them is unclear."""
    function = scene.outermost
    if function is None or not function.name or function.name == "main":
        return []
    asked = scene.project.memory(AskedCallers)
    key = (scene.facts.path, function.span, calls_up, policy)
    if key not in asked:
        asked[key] = _ask(scene, function, calls_up, policy)
    return asked[key]


def _ask(scene: Scene, function: Function, calls_up: int, policy: Policy) -> list[Signal]:
    if function.name in scene.project.common:
        return []
    callers = scene.project.callers_of(scene.facts, function, policy.most_callers + 1)
    if len(callers) > policy.most_callers:
        return []
    first: dict[Context, Signal] = {}
    for facts, call, link in callers:
        caller = _caller(scene, facts, call, link)
        signals = direct_signals(caller, _ASKED_SIDES)
        if calls_up > 1 and not is_settled(signals, policy):
            signals += caller_signals(caller, calls_up - 1, policy)
        if is_left_open(signals, policy):
            # What the project says of every place, which is asked last, says nothing new about this caller.
            signals += direct_signals(caller, _ASKED_SIDES, Asked.WHEN_OPEN, signals)
        weighed = weigh(signals, policy)
        if weighed.context not in _WHAT:
            return []
        if weighed.context is Context.INFERENCE and trains_around(caller, learning_in):
            return []  # what it runs it may train, also with what the helper gives it
        # A caller that is what it is by a name alone shows no more of whom it calls.
        shown = weigh([signal for signal in signals if signal.shown], policy).context is weighed.context
        said = replace(_said(scene, caller, weighed, function), shown=shown and caller.link is Link.SHOWN)
        if weighed.context not in first or (said.shown and not first[weighed.context].shown):
            first[weighed.context] = said
    if Context.INFERENCE in first and len(first) > 1:
        # One guard can't be both, however sure either of them is.
        return [replace(signal, kind=SURE[context]) for context, signal in first.items()]
    return list(first.values())


def _caller(scene: Scene, facts: Facts, call: Call, link: Link) -> Scene:
    """The call as if the guard was there."""
    wrapper = GuardUse(
        guard=scene.use.guard,
        form=Form.REFERENCE,
        span=call.span,
        type_span=call.span,
        named=call.called,
        scope=call.span,
        function=call.function,
    )
    return scene_of(scene.project, facts, wrapper, link)


def _said(scene: Scene, caller: Scene, weighed: Weighed, function: Function) -> Signal:
    name = caller.outermost.name if caller.outermost else "namespace scope"
    message = f"`{function.name}` is called from `{name}`, {_WHAT[weighed.context]}"
    kinds = LIKELY if weighed.confidence is Confidence.LOW else SURE
    return kinds[weighed.context].signal(scene, SignalMatch(message, caller.use.span.start, caller.facts))
