"""Signals that the guard stands in code which runs as an autograd kernel, or is one below autograd."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...analysis.autograd_bookkeeping import first_bookkeeping_in
from ...analysis.autograd_functions import Role, part_in_autograd_function
from ...analysis.calls import is_load, is_run
from ...analysis.known_names import CPP_AUTOGRAD_FUNCTION
from ...analysis.ops import is_factory
from ...analysis.parallel_regions import is_in_parallel_region
from ...analysis.registrations import dispatcher_registrations, is_under_autograd
from ...facts import Call, Facts, Function, Parameter, Registration
from ...facts.expressions import chain_words, simple_name, words_of
from ...facts.index import index_of
from ...findings import Side
from ..scene import Scene
from ..signal_kinds import Sighting, Weight, shown, signal

_DISPATCHER_CALL = re.compile(r"redispatch|callBoxed|redispatchBoxed|callOp|callUnboxed|findSchema|^typed$")


@signal("in-function-forward", side=Side.KERNEL, weight=Weight.DECISIVE)
def in_function_forward(scene: Scene) -> Iterator[Sighting]:
    """the guard is in `forward` of a `torch::autograd::Function`"""
    part = part_in_autograd_function(scene.chain, scene.facts, scene.project)
    if part is not None and part.role is Role.FORWARD:
        message = (
            f"is in `{_with_owner(scene, part.function)}` of a {scene.spelled(*CPP_AUTOGRAD_FUNCTION)}, "
            "which runs as an autograd kernel"
        )
        yield Sighting(message, part.function.span.start)


@signal("helps-function-forward", side=Side.KERNEL, weight=Weight.STRONG, unless=[in_function_forward])
def helps_function_forward(scene: Scene) -> Iterator[Sighting]:
    """its function is another method of such a class, or takes an `AutogradContext`, and `backward` does not call it"""
    part = part_in_autograd_function(scene.chain, scene.facts, scene.project)
    if part is not None and part.role is Role.HELPER:
        name, base = _with_owner(scene, part.function), scene.spelled(*CPP_AUTOGRAD_FUNCTION)
        message = f"`{name}` helps a {base}, whose `forward` runs as an autograd kernel"
        yield Sighting(message, part.function.span.start)


def _with_owner(scene: Scene, function: Function) -> str:
    """The function's name behind that of its class or namespace."""
    if function.class_ is not None:
        return scene.spelled(scene.facts.classes[function.class_].name, function.name)
    return scene.spelled(*function.qualified[-2:])


@signal("registered-under-autograd", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.DECISIVE)
def registered_under_autograd(scene: Scene) -> Iterator[Sighting]:
    """its function is registered under an Autograd key, in any file"""
    for name, where, registration in _registrations(scene):
        if is_under_autograd(registration):
            yield _registered(f"{name} is registered under {registration.key}", where, registration)


@signal("registered-under-adinplaceorview", side=Side.KERNEL, weight=Weight.DECISIVE)
def registered_under_adinplaceorview(scene: Scene) -> Iterator[Sighting]:
    """its function is registered under `ADInplaceOrView`, in any file"""
    for name, where, registration in _registrations(scene):
        if registration.key == "ADInplaceOrView":
            yield _registered(f"{name} is registered under ADInplaceOrView", where, registration)


@signal("builds-graph", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.DECISIVE)
def builds_graph_itself(scene: Scene) -> Iterator[Sighting]:
    """its function builds the graph itself (`collect_next_edges`, `set_history`, …)"""
    outermost = scene.outermost
    call = first_bookkeeping_in(scene.facts, outermost.span) if outermost is not None else None
    if outermost is not None and call is not None:
        message = f"`{outermost.name or 'the lambda'}` builds the autograd graph itself: it calls `{call.name}`"
        yield Sighting(message, call.span.start)


@signal("registered-under-another-key", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def registered_under_another_key(scene: Scene) -> Iterator[Sighting]:
    """its function is registered under another key (`CPU`, `CUDA`, …), in any file"""
    for name, where, registration in _registrations(scene):
        if registration.key and registration.key != "ADInplaceOrView" and not is_under_autograd(registration):
            yield _registered(f"{name} is the {registration.key} kernel", where, registration)


@signal("registered-without-a-key", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def registered_without_a_key(scene: Scene) -> Iterator[Sighting]:
    """its function is given to the dispatcher under no key, in any file"""
    for name, where, registration in _registrations(scene):
        if not registration.key:
            yield _registered(f"{name} is registered with the dispatcher", where, registration)


def _registrations(scene: Scene) -> Iterator[tuple[str, Facts, Registration]]:
    """How each function around the use is registered, with the function's name for the message."""
    for function in scene.chain:
        for where, registration in dispatcher_registrations(function, scene.facts, scene.project):
            name = _with_owner(scene, function) if function.name == "operator()" else function.name
            yield f"`{name}`" if name else "the lambda", where, registration


def _registered(message: str, where: Facts, registration: Registration) -> Sighting:
    operator = f" for `{registration.operator}`" if registration.operator else ""
    return Sighting(message + operator, registration.span.start, where, registration.operator)


@signal("calls-dispatcher", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def calls_dispatcher(scene: Scene) -> Iterator[Sighting]:
    """the dispatcher is called again below the guard (`redispatch`, `callBoxed`, …)"""
    for call in scene.calls_below():
        if any(map(_DISPATCHER_CALL.search, chain_words(call.called))):
            yield Sighting(f"calls the dispatcher again below the guard: `{shown(call.callee)}`", call.span.start)
            return


@signal(
    "takes-dispatch-key-set",
    side=Side.KERNEL,
    in_place=Side.BELOW_AUTOGRAD,
    weight=Weight.STRONG,
    unless=[calls_dispatcher],
)
def takes_dispatch_key_set(scene: Scene) -> Iterator[Sighting]:
    """its function takes a `DispatchKeySet`"""
    for function in scene.chain:
        if any("DispatchKeySet" in parameter.type.path for parameter in function.parameters):
            message = f"`{function.name}` takes a DispatchKeySet, as kernels that redispatch do"
            yield Sighting(message, function.span.start)
            return


@signal("beside-exclude-key-guard", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def beside_exclude_key_guard(scene: Scene) -> Iterator[Sighting]:
    """an `ExcludeDispatchKeyGuard` stands beside the guard"""
    for other in scene.neighbours():
        if other.guard == "ExcludeDispatchKeyGuard":
            message = "is next to an ExcludeDispatchKeyGuard, which is for dispatcher code, not for workloads"
            yield Sighting(message, other.span.start)
            return


@signal("runs-on-stack", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def runs_on_stack(scene: Scene) -> Iterator[Sighting]:
    """its function takes its arguments from an interpreter's stack (`Stack&`, `pop`, `push`)"""
    for function in scene.chain:
        stack = next((parameter for parameter in function.parameters if _is_stack(parameter)), None)
        if stack is None:
            continue
        for call in scene.calls_in(function.body):
            if call.name in _OF_STACK and any(stack.name in words_of(argument) for argument in call.arguments):
                name = f"`{function.name}`" if function.name else "the lambda"
                message = f"{name} takes its arguments from an interpreter's stack (`{shown(call.callee)}`), as ops do"
                yield Sighting(message, call.span.start)
                return


_OF_STACK = frozenset({"pop", "push", "peek", "drop", "push_one", "last", "pack", "push_list_elements"})


def _is_stack(parameter: Parameter) -> bool:
    return parameter.type.last == "Stack" and bool(parameter.type.marks) and bool(parameter.name)


@signal("in-parallel-region", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.MODERATE)
def in_parallel_region(scene: Scene) -> Iterator[Sighting]:
    """the guard is set again for the threads of `at::parallel_for` or OpenMP, below which no model runs"""
    if is_in_parallel_region(scene.use, scene.facts) and not any(map(is_run, scene.calls_below())):
        message = "is set again for the threads of a parallel loop, as kernels that call ops there do"
        yield Sighting(message, scene.use.type_span.start)


@signal("invoked-lambda-makes-tensor", side=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def invoked_lambda_makes_tensor(scene: Scene) -> Iterator[Sighting]:
    """the guard stands in a lambda that is called at once and only makes tensors"""
    ops = _ops_of_invoked_lambda(scene)
    if ops and all(map(is_factory, ops)):
        yield _invoked(scene, ops)


@signal("invoked-lambda-runs-op", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def invoked_lambda_runs_op(scene: Scene) -> Iterator[Sighting]:
    """the guard stands in a lambda that is called at once and runs an op, but no model"""
    ops = _ops_of_invoked_lambda(scene)
    if ops and not all(map(is_factory, ops)):
        yield _invoked(scene, ops)


def _ops_of_invoked_lambda(scene: Scene) -> list[Call]:
    """The ops that the lambda around the use runs at once; none when it loads or runs a model."""
    if not scene.chain or not scene.chain[0].immediately_invoked:
        return []
    calls = scene.calls_in(scene.chain[0].body)
    if any(is_run(call) or is_load(call) for call in calls):
        return []
    outer = [c for c in calls if not any(o is not c and o.span.holds(c.span) for o in calls)]
    return [call for call in outer if call.path[:1] == ("at",) or call.receiver]


def _invoked(scene: Scene, ops: list[Call]) -> Sighting:
    message = f"a lambda that is called immediately runs one op below autograd: `{shown(ops[0].callee)}`"
    return Sighting(message, scene.chain[0].span.start)


@signal("below-tracer", side=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def below_tracer(scene: Scene) -> Iterator[Sighting]:
    """a `NoTracerDispatchMode` stands beside the guard"""
    for other in scene.neighbours():
        if other.guard == "NoTracerDispatchMode":
            message = "makes a tensor below the tracer and below autograd, as PyTorch's own factories do"
            yield Sighting(message, other.span.start)
            return


@signal("makes-variable", side=Side.BELOW_AUTOGRAD, weight=Weight.STRONG, unless=[below_tracer])
def makes_variable(scene: Scene) -> Iterator[Sighting]:
    """`make_variable` is called below the guard"""
    for call in scene.calls_below():
        if call.name == "make_variable":
            yield Sighting("wraps a tensor made below autograd into a variable (`make_variable`)", call.span.start)
            return


@signal("only-makes-tensor", side=Side.BELOW_AUTOGRAD, weight=Weight.MODERATE, unless=[below_tracer, makes_variable])
def only_makes_tensor(scene: Scene) -> Iterator[Sighting]:
    """below the guard only a new tensor is made and returned (`at::empty`, `at::from_blob`, …)"""
    below = scene.calls_below()
    if any(is_run(call) or is_load(call) for call in below):
        return  # what it makes is a model's input
    ops = [call for call in below if call.path[:1] in (("at",), ("torch",)) or is_factory(call)]
    if ops and all(map(is_factory, ops)) and any(_is_returned(call, scene) for call in ops):
        yield Sighting(f"only makes and returns a new tensor: `{shown(ops[0].callee)}`", ops[0].span.start)


def _is_returned(call: Call, scene: Scene) -> bool:
    """Whether the call stands in a `return`, or gives the variable that is returned."""
    outermost = scene.outermost
    if outermost is None:
        return False
    index = index_of(scene.facts)
    held = {a.variable for a in index.assignments.within(outermost.span) if a.variable and a.span.holds(call.span)}
    return any(
        returned.span.holds(call.span) or simple_name(returned.value) in held
        for returned in index.returns.within(outermost.span)
    )


@signal("in-variable-type", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def in_variable_type(scene: Scene) -> Iterator[Sighting]:
    """the guard is in namespace `VariableType`"""
    if "VariableType" in _namespaces(scene):
        message = "is in namespace VariableType, which contains autograd kernels"
        yield Sighting(message, scene.use.type_span.start)


@signal(
    "in-op-namespace",
    side=Side.KERNEL,
    in_place=Side.BELOW_AUTOGRAD,
    weight=Weight.MODERATE,
    unless=[in_variable_type],
)
def in_op_namespace(scene: Scene) -> Iterator[Sighting]:
    """the guard is in namespace `native` or `autograd`"""
    for space in ("native", "autograd"):
        if space in _namespaces(scene):
            message = f"is in namespace {space}, where ops are implemented"
            yield Sighting(message, scene.use.type_span.start)
            return


def _namespaces(scene: Scene) -> tuple[str, ...]:
    return scene.outermost.qualified if scene.outermost else scene.use.namespace
