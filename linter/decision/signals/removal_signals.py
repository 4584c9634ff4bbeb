"""Signals that the guard does nothing, or harm, and should go."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.autograd_functions import is_method_of_node
from ...analysis.computations import first_computation_in
from ...analysis.coverage import is_in_test
from ...analysis.hidden_autograd import hidden_autograd
from ...analysis.project import Project
from ...analysis.registrations import dispatcher_registrations, is_kernel_of_backend, is_under_autograd
from ...analysis.thread_starters import is_in_parallel_region
from ...facts import Call, Facts, Form
from ...findings import Side
from ...frontends.frontend import frontend_named
from ..signal_kinds import Asked, SignalMatch, Weight, signal
from ..use_context import Scene


@signal("in-function-backward", side=Side.REMOVE, weight=Weight.DECISIVE, asks_project=True)
def in_function_backward(scene: Scene) -> Iterator[SignalMatch]:
    """the guard is in `backward` of a `torch::autograd::Function`"""
    if is_in_parallel_region(scene.use, scene.facts):
        return  # threads do not inherit the guard that autograd sets around `backward`
    for function in scene.chain:
        if scene.project.autograd_method(scene.facts, function) == "backward":
            message = "is in `backward`, where it keeps autograd from recording, so there are no higher-order gradients"
            yield SignalMatch(message, function.span.start)
            return


@signal("in-node-apply", side=Side.REMOVE, weight=Weight.STRONG, unless=[in_function_backward], asks_project=True)
def in_node_apply(scene: Scene) -> Iterator[SignalMatch]:
    """the guard is in `apply` of a backward node"""
    for function in scene.chain:
        if function.name == "apply" and is_method_of_node(function, scene.facts, scene.project):
            message = "is in `apply` of a backward node, where it keeps autograd from recording"
            yield SignalMatch(message, function.span.start)
            return


@signal(
    "covers-nothing-in-forward",
    side=Side.REMOVE,
    weight=Weight.DECISIVE,
    unless=[in_function_backward, in_node_apply],
    asks_project=True,
)
def covers_nothing_in_forward(scene: Scene) -> Iterator[SignalMatch]:
    """nothing is computed below the guard, in `forward` of a `torch::autograd::Function`"""
    if any(scene.project.autograd_method(scene.facts, function) == "forward" for function in scene.chain):
        yield from _covers_nothing(scene)


@signal(
    "covers-only-returns",
    side=Side.REMOVE,
    weight=Weight.DECISIVE,
    unless=[in_function_backward, in_node_apply, covers_nothing_in_forward],
)
def covers_only_returns(scene: Scene) -> Iterator[SignalMatch]:
    """below the guard there are only returns of names, jumps and logs, or nothing"""
    if scene.use.first_work is None and not scene.use.is_branch:  # which was to guard what follows it
        yield from _covers_nothing(scene)


@signal(
    "covers-nothing",
    side=Side.REMOVE,
    weight=Weight.STRONG,
    unless=[in_function_backward, in_node_apply, covers_nothing_in_forward, covers_only_returns],
)
def covers_nothing(scene: Scene) -> Iterator[SignalMatch]:
    """nothing is computed below the guard, as far as it is understood"""
    yield from _covers_nothing(scene)


@signal("hides-autograd-below-fallback", side=Side.REMOVE, weight=Weight.STRONG, asks_project=True)
def hides_autograd_below_fallback(scene: Scene) -> Iterator[SignalMatch]:
    """its function is a fallback for another key than Autograd, and calls the op below the guard"""
    if scene.first_below(_calls_op) is None:
        return
    for function in scene.chain:
        for where, registration, link in dispatcher_registrations(function, scene.facts, scene.project):
            if registration.namespace == _ALL_OPS and not is_under_autograd(registration):
                message = (
                    f"is the fallback for {registration.key or 'all keys'}, so the guard hides the autograd of custom "
                    "ops that it calls, as any guard in its place does"
                )
                yield SignalMatch(message, registration.span.start, where, link=link)
                return


_ALL_OPS = "_"
"""The namespace of `TORCH_LIBRARY_IMPL(_, …)`, in which fallbacks are registered."""


def _calls_op(call: Call) -> bool:
    return call.name == "callBoxed" and call.receiver is not None


@signal("hides-autograd-of-op", side=Side.REMOVE, weight=Weight.STRONG, asks_project=True)
def hides_autograd_of_op(scene: Scene) -> Iterator[SignalMatch]:
    """its function is a kernel for another key than Autograd, and calls an op below the guard that has one for it"""
    if scene.outermost is None or not is_kernel_of_backend(scene.chain, scene.facts, scene.project):
        return
    hidden = hidden_autograd(scene.outermost, scene.use.live, scene.facts, scene.project)
    if hidden is not None:
        message = f"hides the autograd kernel of `{hidden.operator}`, which is called below it, as any guard here does"
        yield SignalMatch(message, hidden.registration.span.start, hidden.facts)


@signal("called-from-backward", side=Side.REMOVE, weight=Weight.STRONG, asked=Asked.WHEN_OPEN, asks_project=True)
def called_from_backward(scene: Scene) -> Iterator[SignalMatch]:
    """its function is called from `backward` of autograd Functions alone"""
    function = scene.outermost
    if function is None or not function.name or is_in_parallel_region(scene.use, scene.facts):
        return
    callers = scene.project.callers_of(scene.facts, function, _MOST_CALLERS + 1)
    if 0 < len(callers) <= _MOST_CALLERS and all(
        _is_in_backward(where, call, scene.project) for where, call, _ in callers
    ):
        where, call, link = callers[0]
        message = f"`{function.name}` is called from `backward` alone, where it keeps autograd from recording"
        yield SignalMatch(message, call.span.start, where, link=link)


_MOST_CALLERS = 50
"""What more places call is a helper of other code as well."""


def _is_in_backward(facts: Facts, call: Call, project: Project) -> bool:
    return any(project.autograd_method(facts, around) == "backward" for around in facts.enclosing(call.function))


def _covers_nothing(scene: Scene) -> Iterator[SignalMatch]:
    if not scene.chain or scene.use.form not in (Form.DECLARATION, Form.AUTO) or _is_fragment(scene):
        return
    if is_in_test(scene.use.function, scene.facts):
        return  # it tests what the guard does by itself: that it warns, what it hides
    if first_computation_in(scene.use.live, scene.facts) is None:
        yield SignalMatch("nothing is computed between the guard and the end of its scope", scene.use.span.end)


def _is_fragment(scene: Scene) -> bool:
    """Whether the guard is among statements of a string or a code block that have no function around them.

    What it covers is in another string.
    """
    function = scene.chain[0]
    alone = frontend_named(scene.facts.language).is_fragment and not function.name and not function.is_lambda
    return alone and scene.use.scope == function.body
