"""Signals that the guard stands in code which runs as an autograd kernel, or is one below autograd."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ..analysis.calls import is_load, is_run
from ..analysis.project import takes_context
from ..facts import Call, Facts, Function, Registration, Span
from ..facts.index import index_of
from ..findings import Context
from .signals import Scene, Signal, Weight

_BOOKKEEPING = frozenset(
    {
        "collect_next_edges",
        "set_history",
        "rebase_history",
        "compute_requires_grad",
        "check_inplace",
        "increment_version",
        "as_view",
        "make_variable_differentiable_view",
        "create_gradient_edge",
        "set_next_edges",
        "_set_fw_grad",
        "throw_error_for_complex_autograd",
        "throw_error_out_requires_grad",
        "isFwGradDefined",
    }
)
_BOOKKEEPING_METHODS = frozenset({"set_next_edges", "_set_fw_grad"})
_BOOKKEEPING_SPACE = re.compile(
    r"^(?:::)?(?:(?:torch|at|c10|autograd|impl|jit|generated|details|VariableTypeUtils|graph)::)*$"
)
_DISPATCHER_CALL = re.compile(r"redispatch|callBoxed|redispatchBoxed|callOp|callUnboxed|findSchema|\.typed<")
_AUTOGRAD_KEY = re.compile(r"^(?:Pre)?Autograd|^Variable(?:Type|Tensor)Id$|^AUTOGRAD")

# Ops whose autograd kernels must leave view tracking and version bumps on below them
# (torch/csrc/autograd/VariableTypeManual.cpp; the view ops of ATen/native/native_functions.yaml).
_VIEW_OPS = frozenset(
    """_fw_primal _make_dual alias as_strided detach diagonal expand expand_as movedim narrow permute real imag
    reshape_alias select slice split split_with_sizes squeeze swapaxes swapdims t transpose unbind unfold unsqueeze
    values view view_as view_as_real view_as_complex chunk tensor_split indices crow_indices col_indices""".split()
)


_FACTORIES = frozenset(
    """arange empty empty_like empty_strided eye from_blob full full_like linspace logspace ones ones_like rand
    rand_like randint randn randn_like randperm scalar_tensor tensor zeros zeros_like""".split()
)


def is_in_place_or_view(function: Function, operator: str = "") -> bool:
    """Whether the function implements an in-place or a view op, by its op's name and its signature."""
    name = operator.rsplit("::", 1)[-1].split(".")[0] or function.name
    if name in _VIEW_OPS:
        return True
    if not name.endswith("_") or name.endswith("__"):
        return False
    return any("Tensor" in parameter.type and "&" in parameter.type for parameter in function.parameters[:3])


def kernel_signals(scene: Scene) -> Iterator[Signal]:
    yield from _autograd_function(scene)
    yield from _registered(scene)
    yield from _bookkeeping(scene)
    yield from _dispatcher_calls(scene)
    yield from _neighbours(scene)
    yield from _invoked_lambda(scene)
    yield from _factory(scene)
    yield from _surroundings(scene)


def _family(scene: Scene, operator: str = "") -> Context:
    """Kernel, or below_autograd where the op around the guard is in-place or a view op."""
    outermost = scene.outermost
    if outermost is not None and is_in_place_or_view(outermost, operator):
        return Context.BELOW_AUTOGRAD
    return Context.KERNEL


def _autograd_function(scene: Scene) -> Iterator[Signal]:
    for function in scene.chain:
        method = scene.project.autograd_method(scene.facts, function)
        if method == "backward":
            return  # what a guard in backward does is said by the signals for removal
        if method == "forward":
            yield scene.signal(
                Context.KERNEL,
                Weight.DECISIVE,
                f"stands in `{_owner(scene.facts, function)}forward` of a torch::autograd::Function, "
                "which runs as an autograd kernel",
                function.span.start,
            )
            return
        if method is None and not takes_context(function):
            continue
        if not serves_backward(scene, function):
            name = _owner(scene.facts, function) + function.name
            message = f"`{name}` helps a torch::autograd::Function, whose `forward` runs as an autograd kernel"
            yield scene.signal(Context.KERNEL, Weight.STRONG, message, function.span.start)
        return


def serves_backward(scene: Scene, function: Function) -> bool:
    """Whether `backward` of an autograd Function calls the function: it is a helper of the gradient's formula."""
    return any(
        scene.project.autograd_method(where, around) == "backward"
        for where, call in scene.project.callers_of(scene.facts, function)
        for around in where.enclosing(call.function)
    )


def _owner(facts: Facts, function: Function) -> str:
    if function.class_ is not None:
        return facts.classes[function.class_].name + "::"
    owner = function.qualified.rsplit("::", 2)[-2:-1]
    return owner[0] + "::" if owner else ""


def registered_under_autograd(registration: Registration) -> bool:
    return _AUTOGRAD_KEY.match(registration.key) is not None


def _registered(scene: Scene) -> Iterator[Signal]:
    for function in scene.chain:
        for where, registration in _registrations_of(scene, function):
            shown = _owner(scene.facts, function) + function.name if function.name == "operator()" else function.name
            name = f"`{shown}`" if shown else "the lambda"
            operator = f" for `{registration.operator}`" if registration.operator else ""
            context = _family(scene, registration.operator)
            if registered_under_autograd(registration):
                weight, message = (
                    Weight.DECISIVE,
                    f"{name} is registered under {registration.key}{operator}",
                )
            elif registration.key == "ADInplaceOrView":
                weight, context = Weight.DECISIVE, Context.KERNEL
                message = f"{name} is registered under ADInplaceOrView{operator}"
            elif registration.key:
                weight, message = (
                    Weight.STRONG,
                    f"{name} is the {registration.key} kernel{operator}",
                )
            else:
                weight, message = (
                    Weight.STRONG,
                    f"{name} is registered with the dispatcher{operator}",
                )
            yield scene.signal(context, weight, message, registration.span.start, where)


def _registrations_of(scene: Scene, function: Function) -> list[tuple[Facts, Registration]]:
    if not function.is_lambda:
        return scene.project.registrations_of(scene.facts, function)
    return [
        (scene.facts, registration)
        for registration in scene.facts.registrations
        if _registers_lambda(registration, function, scene.facts)
    ]


def _registers_lambda(registration: Registration, function: Function, facts: Facts) -> bool:
    """`m.impl("op", [](const at::Tensor& self) { … });`, or by the name of the variable that holds the lambda."""
    if not registration.function:
        return registration.span.holds(function.span)
    in_sight = function.parent is None or facts.functions[function.parent].span.holds(registration.span)
    return bool(function.assigned_to) and registration.function == function.assigned_to and in_sight


def builds_graph(call: Call, facts: Facts) -> bool:
    """Whether the call is one of autograd's own bookkeeping functions, not another library's of that name."""
    if call.name not in _BOOKKEEPING:
        return False
    if call.receiver:
        return call.name in _BOOKKEEPING_METHODS
    space = call.callee[: call.callee.rfind(call.name)]
    if not _BOOKKEEPING_SPACE.match(space):
        return False
    if call.name == "as_view" and len(call.arguments) < 2:
        return False  # autograd's takes the base and the view
    own = index_of(facts).functions_named.get(call.name, [])
    return not own or any(function.qualified.split("::")[0] in ("at", "torch", "c10") for function in own)


def _bookkeeping(scene: Scene) -> Iterator[Signal]:
    outermost = scene.outermost
    if outermost is None:
        return
    call = _first_bookkeeping_in(scene.facts, outermost.span)
    if call is not None:
        message = f"`{outermost.name or 'the lambda'}` builds the autograd graph itself: it calls `{call.name}`"
        yield scene.signal(_family(scene), Weight.DECISIVE, message, call.span.start)


@lru_cache(maxsize=64)
def _first_bookkeeping_in(facts: Facts, span: Span) -> Call | None:
    return next((call for call in index_of(facts).calls.within(span) if builds_graph(call, facts)), None)


def _dispatcher_calls(scene: Scene) -> Iterator[Signal]:
    for call in scene.calls_below():
        if _DISPATCHER_CALL.search(call.callee):
            message = f"calls the dispatcher again below the guard: `{_shown(call.callee)}`"
            yield scene.signal(_family(scene), Weight.STRONG, message, call.span.start)
            return
    for function in scene.chain:
        if any("DispatchKeySet" in parameter.type for parameter in function.parameters):
            message = f"`{function.name}` takes a DispatchKeySet, as kernels that redispatch do"
            yield scene.signal(_family(scene), Weight.STRONG, message, function.span.start)
            return


def _neighbours(scene: Scene) -> Iterator[Signal]:
    for other in scene.neighbours():
        if other.guard == "ExcludeDispatchKeyGuard":
            message = "stands beside an ExcludeDispatchKeyGuard: dispatcher work, not a workload"
            yield scene.signal(_family(scene), Weight.STRONG, message, other.span.start)
            return


def _invoked_lambda(scene: Scene) -> Iterator[Signal]:
    if not scene.chain or not scene.chain[0].immediately_invoked:
        return
    inner = scene.chain[0]
    calls = scene.calls_in(inner.body)
    outer = [c for c in calls if not any(o is not c and o.span.holds(c.span) for o in calls)]
    ops = [call for call in outer if call.callee.startswith(("at::", "op.")) or call.receiver]
    if ops and not any(is_run(call) or is_load(call) for call in calls):
        message = f"a lambda that is called where it stands runs one op below autograd: `{_shown(ops[0].callee)}`"
        context = Context.BELOW_AUTOGRAD if all(map(_is_factory, ops)) else _family(scene)
        yield scene.signal(context, Weight.STRONG, message, inner.span.start)


def _factory(scene: Scene) -> Iterator[Signal]:
    for other in scene.neighbours():
        if other.guard == "NoTracerDispatchMode":
            message = "makes a tensor below the tracer and below autograd, as PyTorch's own factories do"
            yield scene.signal(Context.BELOW_AUTOGRAD, Weight.STRONG, message, other.span.start)
            return
    for call in scene.calls_below():
        if call.name == "make_variable":
            message = "wraps a tensor made below autograd into a variable (`make_variable`)"
            yield scene.signal(Context.BELOW_AUTOGRAD, Weight.STRONG, message, call.span.start)
            return
    if any(is_run(call) or is_load(call) for call in scene.calls_below()):
        return  # what it makes is a model's input
    ops = [call for call in scene.calls_below() if call.callee.startswith(("at::", "torch::"))]
    if ops and all(map(_is_factory, ops)) and any(_returns(scene, call) for call in ops):
        message = f"only makes and returns a new tensor: `{_shown(ops[0].callee)}`"
        yield scene.signal(Context.BELOW_AUTOGRAD, Weight.MODERATE, message, ops[0].span.start)


def _is_factory(call: Call) -> bool:
    return call.name in _FACTORIES and not call.receiver and call.callee.startswith(("at::", "torch::"))


def _returns(scene: Scene, call: Call) -> bool:
    outermost = scene.outermost
    if outermost is None:
        return False
    returns = index_of(scene.facts).returns.within(outermost.span)
    return any(returned.span.holds(call.span) for returned in returns)


def _surroundings(scene: Scene) -> Iterator[Signal]:
    outermost = scene.outermost
    spaces = set(re.split(r"::", outermost.qualified if outermost else scene.use.namespace))
    if "VariableType" in spaces:
        message = "stands in namespace VariableType, where autograd kernels are"
        yield scene.signal(_family(scene), Weight.STRONG, message, scene.use.type_span.start)
    elif "native" in spaces or "autograd" in spaces:
        space = "native" if "native" in spaces else "autograd"
        message = f"stands in namespace {space}, where ops are implemented"
        yield scene.signal(_family(scene), Weight.MODERATE, message, scene.use.type_span.start)


def _shown(callee: str) -> str:
    return callee if len(callee) <= 60 else callee[:28] + " … " + callee[-28:]
