"""Signals that the guard surrounds an inference workload."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...analysis.calls import is_run
from ...analysis.coverage import takes_benchmark_state
from ...analysis.grad_switches import switches_grad_off
from ...analysis.model_runs import first_load, first_load_in, first_run_in, runs_held_method
from ...facts import Form, Function, Member
from ...facts.expressions import NamePath, TypeName, nodes_of
from ...facts.index import index_of
from ...findings import Side
from ..scene import Scene
from ..signal_kinds import Sighting, Weight, shown, signal

_WORKLOAD_NAME = re.compile(
    r"^(?:\w*_)?(?:[pP]redict|[iI]nfer|[dD]etect|[cC]lassify|[rR]ecogni[sz]e|[rR]unModel|run_model|[eE]valuate)"
)
_MODULE_SPACES = frozenset({"jit", "script", "mobile", "nn"})
_MODULE_WORD = re.compile(r"^Module$|StaticRuntime|StaticModule")


@signal("runs-model", side=Side.INFERENCE, weight=Weight.STRONG)
def runs_model(scene: Scene) -> Iterator[Sighting]:
    """a model is run below the guard (`forward`, `run_method`, …)"""
    around = scene.outermost.span if scene.outermost is not None else scene.use.scope
    for call in scene.calls_below():
        if is_run(call) or runs_held_method(call, scene.facts, around):
            yield Sighting(f"a model is run under the guard: `{shown(call.callee)}`", call.span.start)
            return


@signal("runs-model-outside", side=Side.INFERENCE, weight=Weight.WEAK, unless=[runs_model])
def runs_model_outside(scene: Scene) -> Iterator[Sighting]:
    """its function runs a model, but not below the guard"""
    outside = first_run_in(scene.facts, scene.outermost.span) if scene.outermost is not None else None
    if outside is not None:
        message = f"the same function runs a model, outside the guard's scope: `{shown(outside.callee)}`"
        yield Sighting(message, outside.span.start)


@signal("loads-model", side=Side.INFERENCE, weight=Weight.STRONG)
def loads_model(scene: Scene) -> Iterator[Sighting]:
    """its function loads a model"""
    load = first_load_in(scene.facts, scene.outermost.span) if scene.outermost is not None else None
    if load is not None:
        yield Sighting(f"the same function loads a model: `{shown(load.callee)}`", load.span.start)


@signal("file-loads-model", side=Side.INFERENCE, weight=Weight.MODERATE, unless=[loads_model])
def file_loads_model(scene: Scene) -> Iterator[Sighting]:
    """a model is loaded in the same file"""
    load = first_load(scene.facts)
    if load is not None:
        yield Sighting(f"a model is loaded in the same file: `{shown(load.callee)}`", load.span.start)


@signal("gradients-off", side=Side.INFERENCE, weight=Weight.STRONG)
def gradients_off(scene: Scene) -> Iterator[Sighting]:
    """`NoGradGuard`, `AutoGradMode(false)` or `InferenceMode` stands in the same scope or struct, or around it"""
    around = index_of(scene.facts).neighbours_around(scene.use.span)
    for other in (*scene.neighbours(), *around):
        if switches_grad_off(other) and other.type_span != scene.use.type_span:
            where = "beside" if other.scope == scene.use.scope else "around"
            yield Sighting(f"gradients are turned off {where} it by {other.guard}", other.span.start)
            return


@signal("beside-graph-optimizer-guard", side=Side.INFERENCE, weight=Weight.STRONG)
def beside_graph_optimizer_guard(scene: Scene) -> Iterator[Sighting]:
    """a `GraphOptimizerEnabledGuard` stands beside the guard"""
    for other in scene.neighbours():
        if other.guard == "GraphOptimizerEnabledGuard":
            message = "is next to a GraphOptimizerEnabledGuard, which only matters when a TorchScript model runs"
            yield Sighting(message, other.span.start)
            return


@signal("member-beside-model", side=Side.INFERENCE, weight=Weight.STRONG)
def member_beside_model(scene: Scene) -> Iterator[Sighting]:
    """the guard is a member or a base of a class that holds a model"""
    if scene.use.form in (Form.MEMBER, Form.BASE):
        yield from _models_held(scene)


@signal("class-holds-model", side=Side.INFERENCE, weight=Weight.WEAK, unless=[member_beside_model])
def class_holds_model(scene: Scene) -> Iterator[Sighting]:
    """its function's class holds a model"""
    yield from _models_held(scene)


def _models_held(scene: Scene) -> Iterator[Sighting]:
    index = scene.use.class_
    if index is None and scene.outermost is not None:
        index = scene.outermost.class_
    members: tuple[Member, ...] = scene.facts.classes[index].members if index is not None else ()
    for member in members:
        if _is_module(member.type):
            yield Sighting(f"its class holds a model: `{member.type} {member.name}`", member.span.start)
            return


def _is_module(type_: TypeName) -> bool:
    """Whether it is a model, or holds one: `torch::jit::Module`, `std::shared_ptr<torch::nn::Module>`."""
    return any(
        any(map(_MODULE_WORD.search, node.path))
        or (node.name.endswith("Module") and not _MODULE_SPACES.isdisjoint(node.path[:-1]))
        for node in nodes_of(type_)
        if isinstance(node, NamePath)
    )


@signal("in-objective-c", side=Side.INFERENCE, weight=Weight.MODERATE)
def in_objective_c(scene: Scene) -> Iterator[Sighting]:
    """the guard stands in an Objective-C++ file"""
    if scene.facts.path.endswith((".mm", ".m")):
        message = "is in an Objective-C++ file, so in an application rather than a library of ops"
        yield Sighting(message, scene.use.type_span.start)


@signal("in-program", side=Side.INFERENCE, weight=Weight.MODERATE)
def in_program(scene: Scene) -> Iterator[Sighting]:
    """its function is `main`, or one of Google Benchmark"""
    function = scene.outermost
    if function is not None and _is_program(function):
        message = f"is in `{function.name}`, which is a program rather than an op"
        yield Sighting(message, function.span.start)


def _is_program(function: Function) -> bool:
    return function.name == "main" or takes_benchmark_state(function)


@signal("named-like-workload", side=Side.INFERENCE, weight=Weight.WEAK, unless=[in_program])
def named_like_workload(scene: Scene) -> Iterator[Sighting]:
    """its function has a name like `predict`, `detect` or `runModel`"""
    function = scene.outermost
    if function is not None and _WORKLOAD_NAME.search(function.name):
        yield Sighting(f"is in `{function.name}`, whose name suggests an inference workload", function.span.start)
