"""Signals against inference: gradients are made or used under the guard."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator

from msgspec import Struct

import guardfix.torch_ops as torch_ops  # `from guardfix import …` would import the library

from ...analysis.call_graph import effects_below
from ...analysis.calls import computes_nothing, is_run, names_op
from ...analysis.function_outlines import CallEffect
from ...analysis.linkage import Link
from ...analysis.training_calls import learning_in, training_in
from ...answered_once import answered_once
from ...facts import Call, Facts, Function, Span
from ...facts.expressions import first_name, words_of
from ...facts.index import calls_where, index_of
from ...facts.statement_walk import all_statements, bodies_around, bodies_below, expressions_of
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


@signal(
    "result-meets-training",
    side=Side.AGAINST_INFERENCE,
    weight=Weight.STRONG,
    unless=[trains, reaches_training],
    asked=Asked.WHEN_INFERENCE,
    asks_project=True,
)
def result_meets_training(scene: Scene) -> Iterator[SignalMatch]:
    """what is made below the guard goes out of it, and its function, a caller or who reads the member learns from it"""
    function = scene.outermost
    if function is None or scene.use.macro is not None or scene.first_below(_may_run_a_model) is None:
        return
    names = _names_in(scene.facts, function.span)
    given = _given_out(scene, names)
    if scene.chain[0].is_lambda or any(names.last.get(name, 0) >= scene.use.live.end for name in given):
        yield from _learns(scene, scene.facts, scene.use.live.end, scene.use.function)
    for name in sorted(given - names.declared.keys()):
        yield from _learns_from_member(scene, function, name)
    if _OF_TENSORS.isdisjoint(words_of(function.returns)) and given <= names.declared.keys():
        return
    for where, call, _ in scene.project.callers_of(scene.facts, function, _MOST_CALLERS):
        yield from _learns(scene, where, call.span.end, call.function)


def _may_run_a_model(call: Call) -> bool:
    """Whether a call is more than an op: what ops alone make is followed by the abstract run, which knows whether it
    raises afterwards."""
    if is_run(call):
        return True
    is_op = torch_ops.method(call.name) if call.receiver is not None else names_op(call.path)
    return not is_op and not computes_nothing(call)


_OF_TENSORS = frozenset({"Tensor", "TensorList", "Variable", "variable_list", "tensor_list", "IValue", "auto"})
_ADDS = frozenset({"push_back", "emplace_back", "push", "emplace", "insert", "append", "add", "store", "copy_"})
_MOST_CALLERS = 50


class _Names(Struct, frozen=True):
    """Where a function speaks of variables: asked once for all the guards in it."""

    given: dict[str, list[int]]
    """The places in which one is assigned, or something is put into it."""
    declared: dict[str, int]
    last: dict[str, int]
    """The last statement that names it."""


@answered_once
def _names_in(facts: Facts, span: Span) -> _Names:
    index, names = index_of(facts), _Names({}, {}, {})
    for assigned in index.assignments.within(span):
        if assigned.declares:
            names.declared[assigned.variable] = assigned.span.start
        else:
            names.given.setdefault(first_name(assigned.target), []).append(assigned.span.start)
    for call in index.calls.within(span):
        if call.receiver and call.name in _ADDS:
            insort(names.given.setdefault(first_name(call.receiver), []), call.span.start)
    around = next(bodies_around(span, facts), None)
    for body in bodies_below((around,) if around is not None else ()):
        for statement in all_statements(body.statements):
            for name in set().union(*map(words_of, expressions_of(statement))):
                names.last[name] = max(statement.span.start, names.last.get(name, 0))
    return names


def _given_out(scene: Scene, names: _Names) -> set[str]:
    """The variables from outside of the guard's scope that are given something there."""
    live = scene.use.live
    return {
        name
        for name, places in names.given.items()
        if name
        and not live.start <= names.declared.get(name, -1) < live.end
        and bisect_left(places, live.start) < bisect_left(places, live.end)
    }


def _learns_from_member(scene: Scene, filling: Function, name: str) -> Iterator[SignalMatch]:
    """Where another method of the class reads what this one fills, and computes gradients afterwards."""
    if all(parameter.name != name for parameter in filling.parameters):
        for number, last in _readers(scene.facts).get((filling.qualified[:-1], name), [])[:_MOST_CALLERS]:
            if scene.facts.functions[number] is not filling:
                yield from _learns(scene, scene.facts, last, number)


@answered_once
def _readers(facts: Facts) -> dict[tuple[tuple[str, ...], str], list[tuple[int, int]]]:
    """By class and name, the methods that name what they don't give or declare: (number, last statement that does)."""
    found: dict[tuple[tuple[str, ...], str], list[tuple[int, int]]] = {}
    for number, function in enumerate(facts.functions):
        if len(function.qualified) > 1:
            names = _names_in(facts, function.span)
            own = {*names.declared, *names.given, *(parameter.name for parameter in function.parameters)}
            for name in names.last.keys() - own:
                found.setdefault((function.qualified[:-1], name), []).append((number, names.last[name]))
    return found


def _learns(scene: Scene, facts: Facts, start: int, function: int | None) -> Iterator[SignalMatch]:
    """Where gradients are computed after a place, in its function or in what that calls."""
    for around in facts.enclosing(function)[-1:]:
        learning = calls_where(facts, around.span, learning_in).within(around.span)
        call = next((one for one in learning if one.span.end > start), None)
        if call is not None:
            message = f"what is made under the guard may be trained on: {learning_in(call)}, `{shown(call.callee)}`"
            yield SignalMatch(message, call.span.start, facts)
            return
        found = effects_below(scene.project, facts, Span(start, around.span.end), function).get(CallEffect.TRAIN)
        if found is not None and found.link is Link.SHOWN:
            message = f"what is made under the guard may be trained on: `{shown(found.through)}` trains"
            yield SignalMatch(message, found.act.offset, found.act.facts, link=found.link)
