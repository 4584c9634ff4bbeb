"""Signals that the guard is in code which runs as an autograd kernel, or is one below autograd."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...analysis.autograd_bookkeeping import first_bookkeeping_in
from ...analysis.autograd_functions import Role, part_in_autograd_function
from ...analysis.calls import computes_tensors, is_run
from ...analysis.declared_types import is_declared_member
from ...analysis.linkage import Link
from ...analysis.model_runs import runs_or_loads
from ...analysis.names import CPP_AUTOGRAD_FUNCTION
from ...analysis.ops import is_factory
from ...analysis.registrations import dispatcher_registrations, is_under_autograd
from ...analysis.thread_starters import is_in_parallel_region
from ...answered_once import answered_once
from ...facts import Assignment, Call, Facts, Function, Parameter, Registration, Span
from ...facts.expressions import MemberAccess, chain_words, is_this, simple_name, words_of
from ...facts.index import all_calls_where, calls_where, index_of
from ...facts.spans import Sorted
from ...findings import Side
from ...lazy_regex import lazy_regex
from ..signal_kinds import SignalMatch, Weight, shown, signal
from ..use_context import Scene

_DISPATCHER_CALL = lazy_regex(r"redispatch|callBoxed|redispatchBoxed|callOp|callUnboxed|findSchema|^typed$")


@signal("in-function-forward", side=Side.KERNEL, weight=Weight.DECISIVE, asks_project=True)
def in_function_forward(scene: Scene) -> Iterator[SignalMatch]:
    """the guard is in `forward` of a `torch::autograd::Function`"""
    part = part_in_autograd_function(scene.chain, scene.facts, scene.project)
    if part is not None and part.role is Role.FORWARD:
        message = (
            f"is in `{_with_owner(scene, part.function)}` of a {scene.spelled(*CPP_AUTOGRAD_FUNCTION)}, "
            "which runs as an autograd kernel"
        )
        yield SignalMatch(message, part.function.span.start, link=part.link)


@signal(
    "helps-function-forward", side=Side.KERNEL, weight=Weight.STRONG, unless=[in_function_forward], asks_project=True
)
def helps_function_forward(scene: Scene) -> Iterator[SignalMatch]:
    """its function is another method of such a class, or takes an `AutogradContext`, and `backward` does not call it"""
    part = part_in_autograd_function(scene.chain, scene.facts, scene.project)
    if part is not None and part.role is Role.HELPER:
        name, base = _with_owner(scene, part.function), scene.spelled(*CPP_AUTOGRAD_FUNCTION)
        message = f"`{name}` helps a {base}, whose `forward` runs as an autograd kernel"
        yield SignalMatch(message, part.function.span.start, link=part.link)


def _with_owner(scene: Scene, function: Function) -> str:
    """The function's name, qualified by its class or namespace."""
    if function.class_ is not None:
        return scene.spelled(scene.facts.classes[function.class_].name, function.name)
    return scene.spelled(*function.qualified[-2:])


@signal(
    "registered-under-autograd",
    side=Side.KERNEL,
    in_place=Side.BELOW_AUTOGRAD,
    weight=Weight.DECISIVE,
    asks_project=True,
)
def registered_under_autograd(scene: Scene) -> Iterator[SignalMatch]:
    """its function is registered under an Autograd key, in any file"""
    for name, where, registration, link in _registrations(scene):
        if is_under_autograd(registration):
            yield _registered(f"{name} is registered under {registration.key}", where, registration, link)


@signal("registered-under-adinplaceorview", side=Side.KERNEL, weight=Weight.DECISIVE, asks_project=True)
def registered_under_adinplaceorview(scene: Scene) -> Iterator[SignalMatch]:
    """its function is registered under `ADInplaceOrView`, in any file"""
    for name, where, registration, link in _registrations(scene):
        if registration.key == "ADInplaceOrView":
            yield _registered(f"{name} is registered under ADInplaceOrView", where, registration, link)


@signal("builds-graph", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.DECISIVE)
def builds_graph_itself(scene: Scene) -> Iterator[SignalMatch]:
    """its function builds the graph itself (`collect_next_edges`, `set_history`, …)"""
    outermost = scene.outermost
    call = first_bookkeeping_in(scene.facts, outermost.span) if outermost is not None else None
    if outermost is not None and call is not None:
        message = f"`{outermost.name or 'the lambda'}` builds the autograd graph itself: it calls `{call.name}`"
        yield SignalMatch(message, call.span.start)


@signal(
    "registered-under-another-key",
    side=Side.KERNEL,
    in_place=Side.BELOW_AUTOGRAD,
    weight=Weight.STRONG,
    asks_project=True,
)
def registered_under_another_key(scene: Scene) -> Iterator[SignalMatch]:
    """its function is registered under another key (`CPU`, `CUDA`, …), in any file"""
    for name, where, registration, link in _registrations(scene):
        if registration.key and registration.key != "ADInplaceOrView" and not is_under_autograd(registration):
            yield _registered(f"{name} is the {registration.key} kernel", where, registration, link)


@signal(
    "registered-without-a-key", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.STRONG, asks_project=True
)
def registered_without_a_key(scene: Scene) -> Iterator[SignalMatch]:
    """its function is given to the dispatcher under no key, in any file"""
    for name, where, registration, link in _registrations(scene):
        if not registration.key:
            yield _registered(f"{name} is registered with the dispatcher", where, registration, link)


def _registrations(scene: Scene) -> Iterator[tuple[str, Facts, Registration, Link]]:
    """How each function around the use is registered, with the function's name for the message."""
    for function in scene.chain:
        for where, registration, link in dispatcher_registrations(function, scene.facts, scene.project):
            name = _with_owner(scene, function) if function.name == "operator()" else function.name
            yield f"`{name}`" if name else "the lambda", where, registration, link


def _registered(message: str, where: Facts, registration: Registration, link: Link) -> SignalMatch:
    operator = f" for `{registration.operator}`" if registration.operator else ""
    return SignalMatch(message + operator, registration.span.start, where, registration.operator, link=link)


@signal("calls-dispatcher", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def calls_dispatcher(scene: Scene) -> Iterator[SignalMatch]:
    """the dispatcher is called again below the guard (`redispatch`, `callBoxed`, …)"""
    call = scene.first_below(_is_to_dispatcher)
    if call is not None:
        yield SignalMatch(f"calls the dispatcher again below the guard: `{shown(call.callee)}`", call.span.start)


def _is_to_dispatcher(call: Call) -> bool:
    return any(map(_DISPATCHER_CALL.search, chain_words(call.called)))


@signal(
    "takes-dispatch-key-set",
    side=Side.KERNEL,
    in_place=Side.BELOW_AUTOGRAD,
    weight=Weight.STRONG,
    unless=[calls_dispatcher],
)
def takes_dispatch_key_set(scene: Scene) -> Iterator[SignalMatch]:
    """its function takes a `DispatchKeySet`"""
    for function in scene.chain:
        if any("DispatchKeySet" in parameter.type.path for parameter in function.parameters):
            message = f"`{function.name}` takes a DispatchKeySet, as kernels that redispatch do"
            yield SignalMatch(message, function.span.start)
            return


@signal("beside-exclude-key-guard", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def beside_exclude_key_guard(scene: Scene) -> Iterator[SignalMatch]:
    """an `ExcludeDispatchKeyGuard` is beside the guard"""
    for other in scene.neighbours():
        if other.guard == "ExcludeDispatchKeyGuard":
            message = "is next to an ExcludeDispatchKeyGuard, which is for dispatcher code, not for workloads"
            yield SignalMatch(message, other.span.start)
            return


@signal("runs-on-stack", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def runs_on_stack(scene: Scene) -> Iterator[SignalMatch]:
    """its function takes its arguments from an interpreter's stack (`Stack&`, `pop`, `push`)"""
    for function in scene.chain:
        stack = next((parameter for parameter in function.parameters if _is_stack(parameter)), None)
        if stack is None:
            continue
        call = _first_of_stack(scene.facts, function.body, stack.name)
        if call is not None:
            name = f"`{function.name}`" if function.name else "the lambda"
            message = f"{name} takes its arguments from an interpreter's stack (`{shown(call.callee)}`), as ops do"
            yield SignalMatch(message, call.span.start)
            return


@answered_once
def _first_of_stack(facts: Facts, body: Span, stack: str) -> Call | None:
    for call in index_of(facts).calls.within(body):
        if call.name in _OF_STACK and any(stack in words_of(argument) for argument in call.arguments):
            return call
    return None


_OF_STACK = frozenset({"pop", "push", "peek", "drop", "push_one", "last", "pack", "push_list_elements"})


def _is_stack(parameter: Parameter) -> bool:
    return parameter.type.last == "Stack" and bool(parameter.type.marks) and bool(parameter.name)


@signal("in-parallel-region", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.MODERATE)
def in_parallel_region(scene: Scene) -> Iterator[SignalMatch]:
    """the guard is set again for the threads of `at::parallel_for` or OpenMP, below which no model runs"""
    if is_in_parallel_region(scene.use, scene.facts) and scene.first_below(is_run) is None:
        message = "is set again for the threads of a parallel loop, as kernels that call ops there do"
        yield SignalMatch(message, scene.use.type_span.start)


@signal("invoked-lambda-makes-tensor", side=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def invoked_lambda_makes_tensor(scene: Scene) -> Iterator[SignalMatch]:
    """the guard is in a lambda that is called at once and only makes tensors"""
    ops = _ops_of_invoked_lambda(scene)
    if ops and all(map(is_factory, ops)):
        yield _invoked(scene, ops)


@signal("invoked-lambda-runs-op", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def invoked_lambda_runs_op(scene: Scene) -> Iterator[SignalMatch]:
    """the guard is in a lambda that is called at once and runs an op, but no model"""
    ops = _ops_of_invoked_lambda(scene)
    if ops and not all(map(is_factory, ops)):
        yield _invoked(scene, ops)


def _ops_of_invoked_lambda(scene: Scene) -> list[Call]:
    """The ops that the lambda around the use runs at once; none when it loads or runs a model."""
    if not scene.chain or not scene.chain[0].immediately_invoked:
        return []
    return _ops_of_lambda(scene.facts, scene.chain[0].body)


@answered_once
def _ops_of_lambda(facts: Facts, body: Span) -> list[Call]:
    """The ops that are not run for another call in it; none when a model is loaded or run."""
    if all_calls_where(facts, runs_or_loads).first(body) is not None:
        return []
    return [call for call in index_of(facts).calls.outermost(body) if call.path[:1] == ("at",) or call.receiver]


def _invoked(scene: Scene, ops: list[Call]) -> SignalMatch:
    message = f"a lambda that is called immediately runs one op below autograd: `{shown(ops[0].callee)}`"
    return SignalMatch(message, scene.chain[0].span.start)


@signal("below-tracer", side=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def below_tracer(scene: Scene) -> Iterator[SignalMatch]:
    """a `NoTracerDispatchMode` is beside the guard"""
    for other in scene.neighbours():
        if other.guard == "NoTracerDispatchMode":
            message = "makes a tensor below the tracer and below autograd, as PyTorch's own factories do"
            yield SignalMatch(message, other.span.start)
            return


@signal("makes-variable", side=Side.BELOW_AUTOGRAD, weight=Weight.STRONG, unless=[below_tracer])
def makes_variable(scene: Scene) -> Iterator[SignalMatch]:
    """`make_variable` is called under the guard, or after it in a function that only makes a tensor under it"""
    call = scene.first_below(_is_make_variable)
    if call is None and scene.outermost is not None and _only_makes(scene):
        call = calls_where(scene.facts, scene.outermost.body, _is_make_variable).first(scene.outermost.body)
    if call is not None:
        yield SignalMatch("wraps a tensor made below autograd into a variable (`make_variable`)", call.span.start)


def _is_make_variable(call: Call) -> bool:
    return call.name == "make_variable"


@signal("only-makes-tensor", side=Side.BELOW_AUTOGRAD, weight=Weight.MODERATE, unless=[below_tracer, makes_variable])
def only_makes_tensor(scene: Scene) -> Iterator[SignalMatch]:
    """below the guard only a new tensor is made, and returned or kept in a member (`at::empty`, `at::from_blob`, …)"""
    made = scene.first_below(is_factory)
    if made is None or not _only_makes(scene):
        return
    if scene.outermost is None and scene.use.macro is not None:  # what it makes goes where the macro is used
        yield SignalMatch(f"only makes a new tensor: `{shown(made.callee)}`", made.span.start)
        return
    if scene.outermost is None:
        return
    for does, found in (("returns", _returned_factories), ("keeps", _kept_factories)):
        if found(scene.facts, scene.outermost.span).first(scene.use.live) is not None:
            yield SignalMatch(f"only makes and {does} a new tensor: `{shown(made.callee)}`", made.span.start)
            return


def _only_makes(scene: Scene) -> bool:
    """Whether a tensor is made below the guard, and nothing else done; where a model runs, it is the model's input."""
    others = (runs_or_loads, _is_other_op)
    return scene.first_below(is_factory) is not None and not any(map(scene.first_below, others))


def _is_other_op(call: Call) -> bool:
    if is_factory(call) or call.name in _OPTIONS:
        return False
    return call.path[:1] in (("at",), ("torch",)) or computes_tensors(call)


_OPTIONS = frozenset({"TensorOptions", "dtype", "device", "layout", "pinned_memory", "memory_format"})
"""The options of a tensor to be made: `at::TensorOptions(at::kFloat).device(device)`."""


@answered_once
def _returned_factories(facts: Facts, function: Span) -> Sorted[Call]:
    """The calls in a function that make a tensor and are in a `return`, or give the variable that is returned."""
    index = index_of(facts)
    returned = list(index.returns.within(function))
    names = {simple_name(one.value) for one in returned} - {""}
    given = (one.span for one in index.assignments.within(function) if one.variable in names)
    return _factories_in((*(one.span for one in returned), *given), facts)


@answered_once
def _kept_factories(facts: Facts, function: Span) -> Sorted[Call]:
    """The calls in a function that make a tensor and give it to a member of its class."""
    given = (one for one in index_of(facts).assignments.within(function) if not one.declares)
    return _factories_in((one.span for one in given if _is_member(one, facts)), facts)


def _is_member(given: Assignment, facts: Facts) -> bool:
    """Whether what is given a value is a member: `this->x`, `x_`, or `x` if its class declares it."""
    if isinstance(given.target, MemberAccess):
        return is_this(given.target.object)
    name = given.variable
    return name.endswith("_") or is_declared_member(name, given.function, facts)


def _factories_in(places: Iterable[Span], facts: Facts) -> Sorted[Call]:
    made = all_calls_where(facts, is_factory)
    found = dict.fromkeys(call for place in places for call in made.within(place))
    return Sorted(found, lambda call: call.span)


@signal("in-variable-type", side=Side.KERNEL, in_place=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def in_variable_type(scene: Scene) -> Iterator[SignalMatch]:
    """the guard is in namespace `VariableType`"""
    if "VariableType" in _namespaces(scene):
        message = "is in namespace VariableType, which contains autograd kernels"
        yield SignalMatch(message, scene.use.type_span.start)


@signal(
    "in-op-namespace",
    side=Side.KERNEL,
    in_place=Side.BELOW_AUTOGRAD,
    weight=Weight.MODERATE,
    unless=[in_variable_type],
)
def in_op_namespace(scene: Scene) -> Iterator[SignalMatch]:
    """the guard is in namespace `native` or `autograd`"""
    for space in ("native", "autograd"):
        if space in _namespaces(scene):
            message = f"is in namespace {space}, where ops are implemented"
            yield SignalMatch(message, scene.use.type_span.start)
            return


def _namespaces(scene: Scene) -> tuple[str, ...]:
    return scene.outermost.qualified if scene.outermost else scene.use.namespace
