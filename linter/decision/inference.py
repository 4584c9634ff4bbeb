"""Signals that the guard surrounds an inference workload, and signals against it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ..facts import Call, Facts, Form, Function, GuardUse, Span
from ..findings import Context
from ..guards import INFERENCE_MODE, NO_GRAD, PYTHON_INFERENCE_MODE
from ..places import places_of
from .signals import Scene, Signal, Weight

_LOADS = re.compile(r"(?:^|::)(?:jit::)?(?:load|_load_for_mobile|_load_for_lite_interpreter|load_jit)$")
_LOAD_METHODS = frozenset(
    {
        "load_jit",
        "_load_for_mobile",
        "_load_for_lite_interpreter",
        "load_from_checkpoint",
        "from_pretrained",
    }
)
_RUNS = frozenset({"forward", "run_method", "runMethod", "get_method", "find_method", "run_async", "forward_async"})
_RUNS_A_MODEL = frozenset({"run", "predict", "infer", "operator()", "execute"})
_WORKLOAD_NAME = re.compile(
    r"^(?:\w*_)?(?:[pP]redict|[iI]nfer|[dD]etect|[cC]lassify|[rR]ecogni[sz]e|[rR]unModel|run_model|[eE]valuate)"
)
_MODEL = re.compile(
    r"(?:^|[._>*(])_?(?:\w*[mM]odule|\w*[mM]odel|\w*[nN]et(?:work)?|predictor|_impl|encoder|decoder)_?\W*$"
)
_MAKES_A_MODEL = re.compile(
    r"^(?:[A-Z]|(?:get|make|load|build|create|init|set|reset|save|store|read|write|open|close|free|delete|destroy|new|find"
    r"|register|define|parse|import|export|convert|compile|prepare|setup|copy|clone|test|check|is|has|use|update)"
    r"(?:_|(?=[A-Z])))"
)
"""Functions that are named after the model they make or handle, and classes: `buildModel()`, `Net()` run none."""
_MODULE_TYPE = re.compile(r"(?:jit|script|mobile|nn)::(?:\w+::)*\w*Module|\bModule\b|StaticRuntime|StaticModule")


def is_load(call: Call) -> bool:
    """`torch::jit::load`, `torch::load`, `_load_for_mobile`: a model comes from a file."""
    if call.name in _LOAD_METHODS:
        return True
    return not call.receiver and _LOADS.search(call.callee) is not None and call.callee not in ("load", "std::load")


def is_run(call: Call) -> bool:
    """A model is run: `model.forward(x)`, `module->run_method("f", x)`, `net(x)`, Python's `self.net(x)`."""
    if call.name in _RUNS and call.receiver:
        return not call.receiver.startswith(("std", "ctx"))
    if call.name in _RUNS_A_MODEL and call.receiver:
        return _MODEL.search(call.receiver) is not None
    return (
        call.receiver in ("", "self")
        and "::" not in call.callee
        and _MODEL.search(call.callee) is not None
        and not call.callee.isupper()
        and not _MAKES_A_MODEL.search(call.name)
    )


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
        for assignment in places_of(facts).assignments.within(span)
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
    return next(filter(is_run, places_of(facts).calls.within(span)), None)


@lru_cache(maxsize=64)
def _first_load_in(facts: Facts, span: Span) -> Call | None:
    return next(filter(is_load, places_of(facts).calls.within(span)), None)


@lru_cache(maxsize=64)
def _first_load(facts: Facts) -> Call | None:
    return next(filter(is_load, facts.calls), None)


def _neighbours(scene: Scene) -> Iterator[Signal]:
    around = places_of(scene.facts).neighbours_around(scene.use.span)
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


def switches_grad_off(use: GuardUse) -> bool:
    """Whether a guard says that no gradients are wanted: NoGradGuard, AutoGradMode(false), InferenceMode, no_grad."""
    if use.form not in (Form.DECLARATION, Form.AUTO, Form.MEMBER, Form.WITH, Form.DECORATOR):
        return False
    constant = use.argument is None or use.argument.empty or use.argument.value is not None
    if use.guard == "AutoGradMode":
        return use.argument is not None and use.argument.value is False
    if use.guard in (INFERENCE_MODE, PYTHON_INFERENCE_MODE):
        return constant and not (use.argument is not None and use.argument.value is False)
    return use.guard in ("NoGradGuard", NO_GRAD)


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
