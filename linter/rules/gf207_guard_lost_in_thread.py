"""GF207 guard-lost-in-thread: a guard has no effect in the threads that its scope starts.

What it flags: a lambda passed to `std::thread`, `std::async`, a thread pool, `at::parallel_for`, `dispatch_async`,
`QtConcurrent::run`, an algorithm with `std::execution::par` and the like within the scope of a guard, queued as a
continuation (`then`, `addCallback`), or kept by a web server as a handler, if the lambda, or a function of the same
file that it calls, computes tensors and has no guard. Also a block below `#pragma omp parallel`, and a function of the
same file that is started by its name, such as `std::thread(&Server::run, this)` in a guarded constructor, or by
`pthread_create`. The guard may stand in a function of the file that calls the one that starts the thread.

In Python, a function given to `threading.Thread`, a `Timer`, a `ThreadPoolExecutor`, a `ThreadPool`,
`loop.run_in_executor`, `asyncio.to_thread` or `run_in_threadpool` while `no_grad`, `inference_mode` or
`set_grad_enabled(False)` is on, here or in a caller, if it runs a model, or computes with what requires a gradient,
without a guard of its own. A `Thread` counts where it is started.

Why it is bad: grad mode, inference mode and the dispatch keys are thread-local. A new thread starts in normal mode,
whatever the mode of its parent: it records gradients, or modifies an inference tensor in place and raises an error.
Which of these happens can depend on whether the work fits into the calling thread.

Example:

    c10::InferenceMode guard;
    std::thread worker([&] { output = model->forward(input); });

and in Python:

    with torch.no_grad(), ThreadPoolExecutor() as executor:
        outputs = list(executor.map(model, batches))

Use instead:

    std::thread worker([&] {
      c10::InferenceMode guard;
      output = model->forward(input);
    });

and in Python:

    @torch.no_grad()
    def predict(batch):
        return model(batch)

    with ThreadPoolExecutor() as executor:
        outputs = list(executor.map(predict, batches))

Fix: unsafe. The guard is repeated at the top of the lambda or function; in Python there is no fix. Under
`InferenceMode`, what it makes there are inference tensors, and an in-place operation on one raises an error once it is
used outside.

Not flagged: `at::launch` and `at::wrapPropagateTLSState`, which pass the state on; a lambda that contains a guard,
`at::ThreadLocalStateGuard`, `set_enabled`, or an object that may hold a guard; `std::launch::deferred`, which runs
where the result is requested; TorchScript's fork, which passes the state on; guards with a run-time flag; tensors that
are only made from data; work in a C++ function that is in another file, whose own guards aren't in sight; in Python,
pools whose `initializer` sets the mode, processes, and methods that have a guard of their own, such as
`model.generate`.

Limits: in C++, threads and the functions that they run are known by name, and three functions of the same file are
followed to where tensors are computed. Guards of callers in other files aren't seen.

When not to use it: code whose thread pool passes the state on by itself (`at::ThreadLocalState`), or whose
functions all have their own guards in other files.

Seen in public code: https://github.com/pytorch/pytorch/issues/28370 (a kernel of PyTorch itself, above a certain size),
https://github.com/pytorch/pytorch/issues/20528.

References: ATen/Parallel.h ("parallel_for does NOT copy thread local states"); ATen/ThreadLocalState.h.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache

from .. import guards
from ..analysis.calls import computes_tensors
from ..analysis.coverage import is_constantly_on
from ..analysis.declared_types import declared_type
from ..analysis.grad_switches import is_implied_by_inference_mode
from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..analysis.thread_starters import POOL, POOL_METHODS, THREADS, runs_in_thread, starter_name
from ..analysis.thread_targets import parallel_regions, places_of_calls, started_functions, threads_initialised
from ..facts import Assignment, Call, Facts, Function, GuardUse, Span
from ..facts.expressions import (
    Bracketed,
    CallExpression,
    Expression,
    MemberAccess,
    NamePath,
    last_name,
    nodes_of,
    simple_name,
    steps_of,
    words_of,
)
from ..facts.index import index_of
from ..facts.spans import Sorted
from ..findings import Applicability, Finding
from ..flow.events import Event, EventKind
from ..guards import Effect
from ..lazy_regex import lazy_regex
from ..named_tuples import NamedTuple
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF207",
    "guard-lost-in-thread",
    group=RuleGroup.NO_EFFECT,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    languages=("cpp", "python"),
    odd_uses_only=True,
)

_DEPTH = 3
"""How many functions of the file are followed from a lambda to where tensors are computed."""


@RULE.check_event(EventKind.THREAD)
def handed_over(event: Event, facts: Facts, project: Project) -> Iterator[Finding]:
    guard = event.guard
    assert guard is not None
    where = f"of line {facts.row(guard.span.start)}" if guard.path == facts.path else f"of {guard.path}"
    subject = f"`{event.variable}`" if event.variable else "that function"
    message = f"{event.what}, where {guard.name} {where} has no effect: guards are thread-local; set one in {subject}"
    yield RULE.at_event(event, facts, project, message)


@RULE.check_file
def lost_guards(facts: Facts, project: Project) -> Iterator[Finding]:
    if facts.language != "cpp" or not facts.guard_uses:
        return
    told: set[Span] = set()
    for lost in (*_in_lambdas(facts, project), *_in_started_functions(facts, project), *_in_parallel(facts, project)):
        if lost.work.span not in told:
            told.add(lost.work.span)
            message = (
                f"{lost.guard.guard} of line {facts.row(lost.guard.span.start)} has no effect here: guards are "
                f"thread-local, and {lost.why}"
            )
            yield RULE.at(facts, lost.work.span, message, use=lost.guard)


class _Lost(NamedTuple):
    """A guard, and what a thread does without it."""

    guard: GuardUse
    work: Call
    why: str


def _in_lambdas(facts: Facts, project: Project) -> Iterator[_Lost]:
    """Lambdas that are given to what runs them in another thread."""
    for index, function in enumerate(facts.functions):
        if not function.is_lambda or function.macro is not None:
            continue
        start = thread_start(function, facts)
        if start is None:
            continue
        guard = _guard_at(start.span, function.parent, facts, project)
        if guard is None or _sets_its_mode(function, facts):
            continue
        work = _first_work(index, facts)
        if work is not None:
            yield _Lost(guard, work, f"`{start.by}` runs this in another thread; repeat the guard in the lambda")


def _in_started_functions(facts: Facts, project: Project) -> Iterator[_Lost]:
    """Functions of the file that are started as threads by name: `std::thread(&Server::run, this)`."""
    reported: set[int] = set()
    for started in started_functions(facts):
        if started.index in reported:
            continue
        guard = _guard_at(started.span, started.starter, facts, project)
        if guard is None or _sets_its_mode(started.function, facts):
            continue
        work = _first_work(started.index, facts)
        if work is None:
            continue
        reported.add(started.index)
        name = "::".join(started.function.qualified[-2:])
        by = f"`{started.by}` of line {facts.row(started.span.start)}"
        yield _Lost(guard, work, f"{by} runs `{name}` in another thread; repeat the guard in it")


def _in_parallel(facts: Facts, project: Project) -> Iterator[_Lost]:
    """Blocks that OpenMP runs in several threads."""
    here = index_of(facts)
    for region in parallel_regions(facts):
        guard = _guard_at(region.span, region.function, facts, project)
        if guard is None or region.function is None or here.uses.first(region.span) is not None:
            continue
        if _sets_its_mode(facts.functions[region.function]._replace(span=region.span, body=region.span), facts):
            continue
        work = _first_work_in(region.span, region.function, facts, _DEPTH)
        if work is not None:
            yield _Lost(guard, work, "OpenMP runs this in other threads as well; repeat the guard in the block")


class ThreadStart(NamedTuple):
    """Where a lambda is given to another thread, and by what."""

    span: Span
    by: str


def thread_start(function: Function, facts: Facts) -> ThreadStart | None:
    """Where the lambda is started in another thread: at once, or through the variable that holds it."""
    variable = simple_name(function.assigned_to)
    if _is_template(function.passed_to, "packaged_task"):
        variable = _packaged_in(function, facts)
    elif function.passed_to is not None:
        if not (
            runs_in_thread(function.passed_to, _arguments_around(function, facts))
            or _is_given_to_pool(function, facts)
            or _is_put_among_threads(function, facts)
        ):
            return None
        if _is_deferred(function.span, facts):
            return None
        return ThreadStart(function.span, starter_name(function.passed_to))
    if not variable and function.passed_to is None:
        begun = (place.span for place, _ in threads_initialised(facts) if place.span.holds(function.span))
        return next((ThreadStart(span, "std::thread") for span in begun), None)
    if not variable or function.parent is None:
        return None
    return _starts_of_variables(function.parent, facts).get(variable)


@lru_cache(maxsize=64)
def _starts_of_variables(parent: int, facts: Facts) -> dict[str, ThreadStart]:
    """Where the variables of a function, lambdas among them, are started in another thread."""
    found: dict[str, ThreadStart] = {}
    around = facts.functions[parent].body
    calls = _calls_by_function(facts).get(parent, [])
    for call in calls:
        if runs_in_thread(call.called, call.arguments) and not _is_deferred(call.span, facts):
            for argument in call.arguments:
                found.setdefault(_handed_on(argument), ThreadStart(call.span, starter_name(call.called)))
    joined = {simple_name(call.receiver) for call in calls if call.name in ("join", "detach")} - {""}
    for made, given in _built_from_values(facts).within(around):
        # `std::thread worker(work, 0);` is a declaration; under an alias, that it is a thread shows where it is joined.
        if made.variable in joined or (made.type is not None and made.type.last in THREADS):
            found.setdefault(_handed_on(given), ThreadStart(made.span, "std::thread"))
    return found


@lru_cache(maxsize=16)
def _built_from_values(facts: Facts) -> Sorted[tuple[Assignment, Expression]]:
    """The declarations `T name(value, …)`, each with its first value."""
    built = [
        (a, a.value.items[0])
        for a in facts.assignments
        if a.declares and isinstance(a.value, Bracketed) and a.value.items
    ]
    return Sorted(built, lambda one: one[0].span)


@lru_cache(maxsize=16)
def _calls_by_function(facts: Facts) -> dict[int | None, list[Call]]:
    found: dict[int | None, list[Call]] = defaultdict(list)
    for call in facts.calls:
        found[call.function].append(call)
    return found


def _handed_on(argument: Expression) -> str:
    """The variable that is given, as it is or by `std::ref(…)`, `std::move(…)`."""
    if isinstance(argument, CallExpression) and len(argument.arguments) == 1:
        callee = argument.callee
        if isinstance(callee, NamePath) and callee.path in (("std", "ref"), ("std", "move")):
            argument = argument.arguments[0]
    return simple_name(argument)


def _arguments_around(function: Function, facts: Facts) -> tuple[Expression, ...]:
    """The arguments of the call that is given the lambda."""
    around = [
        call
        for call in _calls_by_function(facts).get(function.parent, [])
        if call.span.holds(function.span) and call.called == function.passed_to
    ]
    return around[-1].arguments if around else ()


def _is_template(type_: Expression | None, name: str) -> bool:
    return isinstance(type_, NamePath) and type_.name == name and type_.template_arguments is not None


def _is_given_to_pool(function: Function, facts: Facts) -> bool:
    """`later->add([&] { … })`, where `later` is declared as an executor or a pool."""
    takes = function.passed_to
    if not isinstance(takes, MemberAccess) or takes.name not in POOL_METHODS or function.parent is None:
        return False
    type_ = declared_type(last_name(takes.object), function.parent, function.span.start, facts)
    return type_ is not None and any(
        POOL.search(last_name(node)) for node in nodes_of(type_) if isinstance(node, NamePath)
    )


def _is_put_among_threads(function: Function, facts: Facts) -> bool:
    """`handles.emplace_back([&] { … })`, where `handles` is declared as a container of threads."""
    puts = function.passed_to
    if not isinstance(puts, MemberAccess) or puts.name not in ("emplace_back", "push_back") or function.parent is None:
        return False
    container = declared_type(simple_name(puts.object), function.parent, function.span.start, facts)
    return any(
        last_name(argument) in THREADS
        for node in nodes_of(container)
        if isinstance(node, NamePath)
        for argument in (node.template_arguments or ())[:1]
    )


def _packaged_in(function: Function, facts: Facts) -> str:
    """The variable that holds the lambda: `std::packaged_task<void()> task([&] { … });` runs nothing yet."""
    if function.parent is None:
        return ""
    around = index_of(facts).assignments.within(facts.functions[function.parent].body)
    return next(
        (
            made.variable
            for made in around
            if made.declares and made.function == function.parent and made.span.holds(function.span)
        ),
        "",
    )


def _is_deferred(span: Span, facts: Facts) -> bool:
    """`std::async(std::launch::deferred, …)` runs in the thread that asks for the result."""
    return any(call.span.holds(span) for call in _deferred_calls(facts))


@lru_cache(maxsize=64)
def _deferred_calls(facts: Facts) -> list[Call]:
    calls = (call for call in facts.calls if call.name == "async" and call.arguments)
    return [call for call in calls if "deferred" in words_of(call.arguments[0])]


def _guard_at(start: Span, function: int | None, facts: Facts, project: Project) -> GuardUse | None:
    """The guard that is on where a function hands work to a thread: its own, or that of a function that calls it."""
    own = _guard_around(start, function, facts, project)
    if own is not None or function is None:
        return own
    for place in places_of_calls(function, facts):
        guard = _guard_around(place.span, place.function, facts, project)
        if guard is not None:
            return guard
    return None


def _guard_around(start: Span, function: int | None, facts: Facts, project: Project) -> GuardUse | None:
    """The innermost guard that is on where a function hands work to a thread."""
    found = [
        use
        for use in index_of(facts).uses_around(start)
        if use.function == function
        and not use.under_error
        and _switches_off(use)
        and is_gradient_guard(use, facts, project)
    ]
    return max(found, key=lambda use: use.span.start) if found else None


def _switches_off(use: GuardUse) -> bool:
    if guards.CPP[use.guard].effect is Effect.GRAD_MODE if use.guard in guards.CPP else True:
        return is_implied_by_inference_mode(use)
    return is_constantly_on(use)


def _sets_its_mode(function: Function, facts: Facts) -> bool:
    """Whether a guard stands in the lambda, or what may be one: a setter, a macro, an unused object."""
    places = index_of(facts)
    if places.uses.first(function.span) is not None:
        return True
    macros = _macros_with_guards(facts)
    calls = list(places.calls.within(function.body))
    if any(
        call.name in _SETTERS or call.name in macros or (call.name.isupper() and _MODE_MACRO.search(call.name))
        for call in calls
    ):
        return True
    here = list(places.assignments.within(function.body))
    if any(given.declares and _is_given_by_function(given.value) for given in here):
        return True
    used = [words_of(part) for call in calls for part in (call.called, *call.arguments)]
    used += [words_of(returned.value) for returned in places.returns.within(function.body)]
    mentioned = set().union(*used)
    in_assignments = Counter(word for one in here for word in _words_assigned(one))
    for given in here:
        if given.builds and given.variable and not _NO_MODE.search(given.variable):
            elsewhere = in_assignments[given.variable] - (given.variable in _words_assigned(given))
            if given.variable not in mentioned and not elsewhere:
                return True
    return False


def _words_assigned(assignment: Assignment) -> set[str]:
    """The words of an assignment; none where a declaration gives no value."""
    return words_of(assignment.target) | words_of(assignment.value) if assignment.value is not None else set()


@lru_cache(maxsize=64)
def _macros_with_guards(facts: Facts) -> frozenset[str]:
    return frozenset(use.macro for use in facts.guard_uses if use.macro is not None)


@lru_cache(maxsize=64)
def _functions_with_guards(facts: Facts) -> frozenset[str]:
    return frozenset(facts.functions[use.function].name for use in facts.guard_uses if use.function is not None)


def _is_given_by_function(value: Expression | None) -> bool:
    """`auto scope = inference_scope();`"""
    if value is None:
        return False
    first, *steps = steps_of(value)
    is_called = bool(steps) and isinstance(steps[0], CallExpression)
    return is_called and isinstance(first, NamePath) and _names_mode(first)


def _names_mode(function: Expression | None) -> bool:
    return _MODE.search(last_name(function)) is not None


_MODE = lazy_regex(r"(?i:grad(?!i)|guard|mode(?!l)|scope|quiet)")
_SETTERS = frozenset({"set_enabled", "set_grad_enabled", "setThreadLocalState"})
_MODE_MACRO = lazy_regex(r"GRAD|GUARD|INFERENCE|EVAL|MODE")
# Objects that are held for their destructor and aren't guards of a mode.
_NO_MODE = lazy_regex(r"(?i)lock|lk$|^lk|^l$|mutex|timer|stopwatch|profil|trace|stream|device")


def _first_work(index: int, facts: Facts, depth: int = _DEPTH) -> Call | None:
    """The first call in the lambda that computes tensors and is not known to be guarded by itself.

    Or that calls a function of the file, without a guard of its own, of which the same is true.
    """
    return _first_work_in(facts.functions[index].body, index, facts, depth)


def _first_work_in(span: Span, index: int, facts: Facts, depth: int) -> Call | None:
    guarded = _functions_with_guards(facts)
    for call in index_of(facts).calls.within(span):
        if call.name in guarded or _makes_data(call):
            continue
        works = computes_tensors(call) or (depth > 0 and _leads_to_work(call, facts, depth))
        if works and _is_run_by(index, call.function, guarded, facts):
            return call
    return None


def _leads_to_work(call: Call, facts: Facts, depth: int) -> bool:
    if call.receiver is not None and simple_name(call.receiver) != "this":
        return False
    here = index_of(facts)
    found = [one for one in here.functions_named.get(call.name, ()) if not one.is_lambda] if call.name else []
    if len(found) != 1 or not found[0].is_read or _sets_its_mode(found[0], facts):
        return False
    return _first_work(here.function_numbers[id(found[0])], facts, depth - 1) is not None


# What makes tensors of data or asks about them records nothing, under a guard or without one.
_MAKES_DATA = lazy_regex(
    r"(?:empty|zeros|ones|full|rand|randn|randint)(?:_like)?|tensor|from_blob|from_file|arange"
    r"|linspace|logspace|eye|randperm|scalar_tensor|stack|cat|equal|allclose|is_\w+|get_\w+|set_\w+|has\w+|result_type|numel"
)


def _makes_data(call: Call) -> bool:
    return call.path[:-1] in (("torch",), ("at",)) and _MAKES_DATA.fullmatch(call.name) is not None


def _is_run_by(index: int, inner: int | None, guarded: frozenset[str], facts: Facts) -> bool:
    """Whether `inner` is the lambda or stands in it, and is not handed to a function that has a guard.

    `pool.submit([&] { return without_gradients([&] { return model->forward(x); }); })`
    """
    while inner is not None and inner != index:
        function = facts.functions[inner]
        if last_name(function.passed_to) in guarded - {""} or _names_mode(function.passed_to):
            return False
        inner = function.parent
    return inner == index
