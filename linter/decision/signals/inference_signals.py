"""Signals that the guard surrounds an inference workload."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...analysis.call_graph import Reached, effects_below
from ...analysis.calls import computes_tensors, prepares_model_for_use
from ...analysis.coverage import is_in_test, takes_benchmark_state
from ...analysis.function_outlines import CallEffect
from ...analysis.grad_switches import switches_grad_off
from ...analysis.model_runs import first_construction_in, first_load, first_load_in, first_run_in, runs_model_in
from ...analysis.model_types import is_model_type
from ...analysis.ops import is_factory_by_name
from ...analysis.project import Project
from ...analysis.thread_starters import are_in_one_region
from ...analysis.training_calls import training_in, update_in
from ...answered_once import answered_once
from ...facts import Call, Facts, Form, Function, Member, Span
from ...facts.expressions import last_name, pointee, words_of
from ...facts.index import calls_where, index_of
from ...findings import Side
from ...lazy_regex import lazy_regex
from ..signal_kinds import Asked, SignalMatch, Weight, shown, signal
from ..use_context import Scene
from .training_signals import trains_around

_EXECUTOR = lazy_regex(r"Exec|Interpreter|Runtime|Evaluator|Graph|Session")
_NODE = lazy_regex(r"(?:^|_)(?:node|n|op|instruction|step|stage|pnode)_?$|[a-z]Node$")
_RUNS_NODE = frozenset({"run", "Run", "execute", "Execute", "forward", "evaluate", "eval"})
_ABOUT_DISPATCH = frozenset(
    """singleton findSchema findSchemaOrThrow callOp callUnboxed callBoxed redispatch typed key_set has
    unsafeGetTensorImpl DispatchKeySet tls_is_dispatch_key_excluded tls_local_dispatch_key_set is_inference _version
    grad_fn is_view is_leaf getOperatorForLiteral getAllOperatorsFor requires_grad set_requires_grad EXPECT_THROW
    ASSERT_THROW""".split()
)
"""Calls of tests that look at the dispatcher, or at what a guard does."""
_WORKLOAD_NAME = lazy_regex(
    r"^(?:\w*_)?(?:[pP]redict|[iI]nfer|[dD]etect|[cC]lassify|[rR]ecogni[sz]e|[rR]unModel|run_model|[eE]valuate)"
)


@signal("runs-model", side=Side.INFERENCE, weight=Weight.STRONG)
def runs_model(scene: Scene) -> Iterator[SignalMatch]:
    """a model is run below the guard (`forward`, `run_method`, …)"""
    call = scene.first_below(_model_runs(scene.facts, scene.around))
    if call is not None:
        yield SignalMatch(f"a model is run under the guard: `{shown(call.callee)}`", call.span.start)


@answered_once
def _model_runs(facts: Facts, around: Span) -> Callable[[Call], bool]:
    """Whether a call in a function runs a model; one object for each function, by which answers are remembered."""
    return lambda call: runs_model_in(call, facts, around)


@signal("runs-model-outside", side=Side.INFERENCE, weight=Weight.WEAK, unless=[runs_model], asks_project=True)
def runs_model_outside(scene: Scene) -> Iterator[SignalMatch]:
    """its function runs a model, but not below the guard, and trains none"""
    outside = first_run_in(scene.facts, scene.outermost.span) if scene.outermost is not None else None
    if outside is not None and not trains_around(scene):
        message = f"the same function runs a model, outside the guard's scope: `{shown(outside.callee)}`"
        yield SignalMatch(message, outside.span.start)


@signal("loads-model", side=Side.INFERENCE, weight=Weight.STRONG)
def loads_model(scene: Scene) -> Iterator[SignalMatch]:
    """its function loads a model"""
    if scene.outermost is None:
        return
    load = first_load_in(scene.facts, scene.outermost.span)
    built = first_construction_in(scene.facts, scene.outermost.span)
    if load is not None:
        yield SignalMatch(f"the same function loads a model: `{shown(load.callee)}`", load.span.start)
    elif built is not None:
        yield SignalMatch(f"the same function loads a model: `{shown(str(built.type))}`", built.span.start)


@signal(
    "reaches-model-run",
    side=Side.INFERENCE,
    weight=Weight.STRONG,
    unless=[runs_model],
    asked=Asked.WHEN_OPEN,
    asks_project=True,
)
def reaches_model_run(scene: Scene) -> Iterator[SignalMatch]:
    """a function of the project that is called below the guard runs a model, itself or through others"""
    if scene.use.macro is None and scene.chain:
        found = effects_below(scene.project, scene.facts, scene.use.live, scene.use.function).get(CallEffect.RUN)
        if found is not None:
            yield _behind(found)


@signal(
    "reaches-model-load",
    side=Side.INFERENCE,
    weight=Weight.STRONG,
    unless=[loads_model],
    asked=Asked.WHEN_OPEN,
    asks_project=True,
)
def reaches_model_load(scene: Scene) -> Iterator[SignalMatch]:
    """a function of the project that its function calls loads a model, itself or through others"""
    if scene.use.macro is None and scene.outermost is not None:
        found = effects_below(scene.project, scene.facts, scene.outermost.span, scene.use.function).get(CallEffect.LOAD)
        if found is not None:
            yield _behind(found)


def _behind(found: Reached) -> SignalMatch:
    """What is done below a call, at the place where it is done."""
    act = found.act
    if found.is_here:
        message = f"a model is run under the guard: `{shown(act.written)}` is a `{found.doer}`"
        return SignalMatch(message, act.offset, link=found.link)
    message = f"`{shown(found.through)}` {found.effect.value}: `{shown(act.written)}` in `{found.doer}`"
    return SignalMatch(message, act.offset, act.facts, link=found.link)


@signal("file-loads-model", side=Side.INFERENCE, weight=Weight.MODERATE, unless=[loads_model])
def file_loads_model(scene: Scene) -> Iterator[SignalMatch]:
    """a model is loaded in the same file"""
    load = first_load(scene.facts)
    if load is not None:
        yield SignalMatch(f"a model is loaded in the same file: `{shown(load.callee)}`", load.span.start)


@signal("prepares-model", side=Side.INFERENCE, weight=Weight.MODERATE, unless=[runs_model, loads_model])
def prepares_model(scene: Scene) -> Iterator[SignalMatch]:
    """a model is made ready below the guard (`eval()`, `freeze`, `load_state_dict`, …)"""
    call = scene.first_below(prepares_model_for_use)
    if call is not None:
        yield SignalMatch(f"a model is made ready under the guard: `{shown(call.callee)}`", call.span.start)


@signal("gradients-off", side=Side.INFERENCE, weight=Weight.STRONG)
def gradients_off(scene: Scene) -> Iterator[SignalMatch]:
    """`NoGradGuard`, `AutoGradMode(false)` or `InferenceMode` is in the same scope or struct, or around it"""
    around = index_of(scene.facts).neighbours_around(scene.use.span)
    for other in (*scene.neighbours(), *around):
        if are_in_one_region(scene.use, other, scene.facts):
            continue  # both were set again for threads, whatever they are for
        if switches_grad_off(other) and other.type_span != scene.use.type_span:
            where = "beside" if other.scope == scene.use.scope else "around"
            yield SignalMatch(f"gradients are turned off {where} it by {other.guard}", other.span.start)
            return


@signal("beside-graph-optimizer-guard", side=Side.INFERENCE, weight=Weight.STRONG)
def beside_graph_optimizer_guard(scene: Scene) -> Iterator[SignalMatch]:
    """a `GraphOptimizerEnabledGuard` is beside the guard"""
    for other in scene.neighbours():
        if other.guard == "GraphOptimizerEnabledGuard":
            message = "is next to a GraphOptimizerEnabledGuard, which only matters when a TorchScript model runs"
            yield SignalMatch(message, other.span.start)
            return


@signal("member-beside-model", side=Side.INFERENCE, weight=Weight.STRONG)
def member_beside_model(scene: Scene) -> Iterator[SignalMatch]:
    """the guard is a member or a base of a class that holds a model"""
    if scene.use.form in (Form.MEMBER, Form.BASE):
        yield from _models_held(scene)


@signal("class-holds-model", side=Side.INFERENCE, weight=Weight.WEAK, unless=[member_beside_model])
def class_holds_model(scene: Scene) -> Iterator[SignalMatch]:
    """its function's class holds a model"""
    yield from _models_held(scene)


def _models_held(scene: Scene) -> Iterator[SignalMatch]:
    index = scene.use.class_
    if index is None and scene.outermost is not None:
        index = scene.outermost.class_
    member = _model_held(scene.facts, index) if index is not None else None
    if member is not None:
        yield SignalMatch(f"its class holds a model: `{member.type} {member.name}`", member.span.start)


@answered_once
def _model_held(facts: Facts, index: int) -> Member | None:
    """The first member of a class that is a model or holds one."""
    return next((member for member in facts.classes[index].members if is_model_type(member.type)), None)


@signal("in-objective-c", side=Side.INFERENCE, weight=Weight.MODERATE)
def in_objective_c(scene: Scene) -> Iterator[SignalMatch]:
    """the guard is in an Objective-C++ file"""
    if scene.facts.path.endswith((".mm", ".m")):
        message = "is in an Objective-C++ file, so in an application rather than a library of ops"
        yield SignalMatch(message, scene.use.type_span.start)


@signal("in-program", side=Side.INFERENCE, weight=Weight.MODERATE, asks_project=True)
def in_program(scene: Scene) -> Iterator[SignalMatch]:
    """its function is `main`, or one of Google Benchmark, and trains nothing"""
    function = scene.outermost
    # A program that only differentiates something trains nothing; one in which an optimizer steps does.
    if function is not None and _is_program(function) and not trains_around(scene, update_in):
        message = f"is in `{function.name}`, which is a program rather than an op"
        yield SignalMatch(message, function.span.start)


def _is_program(function: Function) -> bool:
    return function.name == "main" or takes_benchmark_state(function)


@signal("runs-graph-nodes", side=Side.INFERENCE, weight=Weight.MODERATE, unless=[runs_model])
def runs_graph_nodes(scene: Scene) -> Iterator[SignalMatch]:
    """its class executes a graph, and runs the nodes below the guard"""
    function = next((function for function in reversed(scene.chain) if not function.is_lambda), None)
    if function is None or not any(map(_EXECUTOR.search, function.qualified[-2:])):
        return
    call = scene.first_below(_runs_node)
    if call is not None:
        yield SignalMatch(f"runs the nodes of a graph: `{shown(call.callee)}`", call.span.start)


def _runs_node(call: Call) -> bool:
    if call.name not in _RUNS_NODE or call.receiver is None:
        return False
    return _NODE.search(last_name(pointee(call.receiver))) is not None


@signal("in-test", side=Side.INFERENCE, weight=Weight.MODERATE, asks_project=True)
def in_test(scene: Scene) -> Iterator[SignalMatch]:
    """it is in a test that only makes tensors, runs ops and compares, in a file without ops of its own"""
    function = scene.outermost
    if function is None or not is_in_test(scene.use.function, scene.facts) or takes_benchmark_state(function):
        return
    if _tests_ops(scene.facts, scene.project):
        return
    if calls_where(scene.facts, function.body, _is_about_dispatch).first(function.body) is not None:
        return
    if calls_where(scene.facts, function.body, _makes_tensors).first(function.body) is not None:
        yield SignalMatch("is in a test that runs ops and compares what they give", function.span.start)


def _is_about_dispatch(call: Call) -> bool:
    return call.name in _ABOUT_DISPATCH or "ops" in call.path or bool(training_in(call))


def _makes_tensors(call: Call) -> bool:
    return computes_tensors(call) or is_factory_by_name(call)


def _tests_ops(facts: Facts, project: Project) -> bool:
    return bool(facts.registrations) or any(project.is_autograd_function(facts, class_) for class_ in facts.classes)


@signal("handles-requests", side=Side.INFERENCE, weight=Weight.MODERATE, unless=[runs_model, loads_model])
def handles_requests(scene: Scene) -> Iterator[SignalMatch]:
    """its file handles requests for predictions: types such as `PredictionRequest`, `InferenceResponse`"""
    found = _request_handled(scene.facts) if scene.outermost is not None else None
    if found is not None:
        name, offset = found
        yield SignalMatch(f"its file handles requests for predictions: `{name}`", offset)


@answered_once
def _request_handled(facts: Facts) -> tuple[str, int] | None:
    """The first type of a parameter or member that is a request for a prediction, or its answer, and where."""
    typed = [(parameter.type, function.span) for function in facts.functions for parameter in function.parameters]
    typed += [(member.type, member.span) for class_ in facts.classes for member in class_.members]
    for type_, span in sorted(typed, key=lambda one: one[1].start):
        for word in words_of(type_):
            if _REQUEST.search(word):
                return word, span.start
    return None


_REQUEST = lazy_regex(r"(?:^|[a-z])(?:Predict(?:ion)?|Infer(?:ence)?)(?:Request|Response|Reply|Task|Job)s?(?:[A-Z]|$)")


@signal("named-like-workload", side=Side.INFERENCE, weight=Weight.WEAK, unless=[in_program])
def named_like_workload(scene: Scene) -> Iterator[SignalMatch]:
    """its function has a name like `predict`, `detect` or `runModel`"""
    function = scene.outermost
    if function is not None and _WORKLOAD_NAME.search(function.name):
        yield SignalMatch(f"is in `{function.name}`, whose name suggests an inference workload", function.span.start)
