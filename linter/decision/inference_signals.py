"""Signals that the guard surrounds an inference workload, and signals against it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ..analysis.calls import is_load, is_run
from ..analysis.grad_switches import switches_grad_off
from ..facts import Call, Facts, Form, Function, Span
from ..facts.index import index_of
from ..findings import Context
from .signals import Scene, Signal, Weight

_WORKLOAD_NAME = re.compile(
    r"^(?:\w*_)?(?:[pP]redict|[iI]nfer|[dD]etect|[cC]lassify|[rR]ecogni[sz]e|[rR]unModel|run_model|[eE]valuate)"
)
_MODULE_TYPE = re.compile(r"(?:jit|script|mobile|nn)::(?:\w+::)*\w*Module|\bModule\b|StaticRuntime|StaticModule")
_METHOD_OF_A_MODULE = re.compile(r"(?:\.|->)(?:get_method|find_method)\(")


def _runs_method(scene: Scene, call: Call) -> bool:
    """`auto decode = module.get_method("decode"); … decode(inputs)`: a model's method that a variable holds."""
    name = call.receiver if call.name in ("operator()", "run") else call.callee
    around = scene.outermost.span if scene.outermost is not None else scene.use.scope
    return name in _held_methods(scene.facts, around)


@lru_cache(maxsize=64)
def _held_methods(facts: Facts, span: Span) -> frozenset[str]:
    """The variables that are given a model's method there."""
    return frozenset(
        assignment.target
        for assignment in index_of(facts).assignments.within(span)
        if _METHOD_OF_A_MODULE.search(assignment.value) is not None
    )


def inference_signals(scene: Scene) -> Iterator[Signal]:
    yield from _runs(scene)
    yield from _loads(scene)
    yield from _neighbours(scene)
    yield from _holds_model(scene)
    yield from _surroundings(scene)


def _runs(scene: Scene) -> Iterator[Signal]:
    function = scene.outermost
    for call in scene.calls_below():
        if is_run(call) or _runs_method(scene, call):
            message = f"a model is run under the guard: `{_shown(call)}`"
            yield scene.signal(Context.INFERENCE, Weight.STRONG, message, call.span.start)
            return
    if function is None:
        return
    outside = _first_run_in(scene.facts, function.span)
    if outside is not None:
        message = f"the same function runs a model, outside the guard's scope: `{_shown(outside)}`"
        yield scene.signal(Context.INFERENCE, Weight.WEAK, message, outside.span.start)


def _loads(scene: Scene) -> Iterator[Signal]:
    function = scene.outermost
    here = _first_load_in(scene.facts, function.span) if function is not None else None
    if here is not None:
        message = f"the same function loads a model: `{_shown(here)}`"
        yield scene.signal(Context.INFERENCE, Weight.STRONG, message, here.span.start)
        return
    load = _first_load(scene.facts)
    if load is not None:
        message = f"a model is loaded in the same file: `{_shown(load)}`"
        yield scene.signal(Context.INFERENCE, Weight.WEAK, message, load.span.start)


# A function may hold many guards: what it says is found once.


@lru_cache(maxsize=64)
def _first_run_in(facts: Facts, span: Span) -> Call | None:
    return next(filter(is_run, index_of(facts).calls.within(span)), None)


@lru_cache(maxsize=64)
def _first_load_in(facts: Facts, span: Span) -> Call | None:
    return next(filter(is_load, index_of(facts).calls.within(span)), None)


@lru_cache(maxsize=64)
def _first_load(facts: Facts) -> Call | None:
    return next(filter(is_load, facts.calls), None)


def _neighbours(scene: Scene) -> Iterator[Signal]:
    around = index_of(scene.facts).neighbours_around(scene.use.span)
    for other in (*scene.neighbours(), *around):
        if switches_grad_off(other) and other.type_span != scene.use.type_span:
            where = "beside" if other.scope == scene.use.scope else "around"
            message = f"gradients are switched off {where} it, by {other.guard}"
            yield scene.signal(Context.INFERENCE, Weight.STRONG, message, other.span.start)
            break
    for other in scene.neighbours():
        if other.guard == "GraphOptimizerEnabledGuard":
            message = "stands beside a GraphOptimizerEnabledGuard, which matters only when a TorchScript model runs"
            yield scene.signal(Context.INFERENCE, Weight.STRONG, message, other.span.start)
            return


def _holds_model(scene: Scene) -> Iterator[Signal]:
    index = scene.use.class_
    if index is None and scene.outermost is not None:
        index = scene.outermost.class_
    if index is None:
        return
    for member in scene.facts.classes[index].members:
        if _MODULE_TYPE.search(member.type):
            message = f"its class holds a model: `{member.type} {member.name}`"
            weight = Weight.STRONG if scene.use.form in (Form.MEMBER, Form.BASE) else Weight.WEAK
            yield scene.signal(Context.INFERENCE, weight, message, member.span.start)
            return


def _surroundings(scene: Scene) -> Iterator[Signal]:
    if scene.facts.path.endswith((".mm", ".m")):
        message = "stands in an Objective-C++ file: an application, not a library of ops"
        yield scene.signal(Context.INFERENCE, Weight.MODERATE, message, scene.use.type_span.start)
    function = scene.outermost
    if function is None:
        return
    if _is_program(function):
        message = f"stands in `{function.name}`, a program of its own rather than an op"
        yield scene.signal(Context.INFERENCE, Weight.MODERATE, message, function.span.start)
    elif _WORKLOAD_NAME.search(function.name):
        message = f"stands in `{function.name}`, named like a workload"
        yield scene.signal(Context.INFERENCE, Weight.WEAK, message, function.span.start)


def _is_program(function: Function) -> bool:
    return function.name == "main" or any("benchmark::State" in parameter.type for parameter in function.parameters)


_REQUIRES_GRAD = frozenset({"requires_grad_", "set_requires_grad", "requires_grad"})


def training_signals(scene: Scene) -> Iterator[Signal]:
    """What speaks against inference: gradients are made or used under the guard."""
    for call in scene.calls_below():
        if (
            call.name == "backward" and (call.receiver or call.callee.endswith("autograd::backward"))
        ) or call.callee.endswith("autograd::grad"):
            what = "gradients are computed under the guard"
        elif call.name in _REQUIRES_GRAD and not _turns_off(call):
            what = "a tensor is made to require gradients under the guard"
        elif call.name in ("step", "zero_grad") and call.receiver:
            what = "an optimizer steps under the guard"
        else:
            continue
        yield scene.signal(Context.UNKNOWN, Weight.STRONG, f"{what}: `{_shown(call)}`", call.span.start)
        return


def _turns_off(call: Call) -> bool:
    # `tensor.requires_grad()` asks; `torch::requires_grad()` and `options.requires_grad(true)` set.
    asks = call.name == "requires_grad" and bool(call.receiver) and not call.arguments
    return asks or (bool(call.arguments) and call.arguments[0] in ("false", "c10::nullopt", "std::nullopt"))


def _shown(call: Call) -> str:
    text = call.callee
    return text if len(text) <= 60 else text[:28] + " … " + text[-28:]
