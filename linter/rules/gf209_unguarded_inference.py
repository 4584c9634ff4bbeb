"""GF209 unguarded-inference: a program that never trains runs a model, or computes in a thread, with recording on.

What it flags: where no file that is read trains, a function that runs a model outside every guard, those of its callers
included, if its file loads or prepares the model (`torch::jit::load`, `eval()`) or other functions of the program have
guards. Also what a thread, a pool or `std::async` runs, if it computes tensors without a guard while other functions of
the program have one. Files are read for this that hold a guard, `jit::load`, `AOTIModel`, `backward(`, `std::thread` or
`std::async`.

Level: info, since the result is right: it costs memory and time.

Off by default: many programs run well enough so.

Why it is bad: autograd records each op with an input that requires grad, and TorchScript modules are loaded with
parameters that do. What they return keeps the graph in memory, and ops take longer. Guards are thread-local: that of
`main` doesn't reach a thread.

Example:

    auto model = torch::jit::load(path);
    auto output = model.forward({image}).toTensor();

Use instead: an InferenceMode where the model is run, in each thread that runs it.

    auto model = torch::jit::load(path);
    c10::InferenceMode guard;
    auto output = model.forward({image}).toTensor();

Fix: none. How far the guard should reach is for the author to say.

Not flagged: tests and benchmarks; programs in which a file that is read has `backward()`, an optimizer or
`requires_grad(true)`; functions that are called under a guard, set a mode by a call, a macro or an object, or are
called `forward…`, which whoever runs the model covers. Whether a tensor requires grad isn't looked at, and classes are
known as models by their names and `forward` only.

Limits: guards are looked for in three callers above one another, in the files that are read.

When not to use it: programs that run models rarely and have memory to spare.

Seen in public code: a basecaller ran its decoder in threads without the guard of the function that started them;
"Add some InferenceMode guards on threads we spawn" repaired it (nanoporetech/dorado, commit 918ffeb).

References: https://docs.pytorch.org/cppdocs/notes/inference_mode.html.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.calls import computes_tensors, prepares_model_for_use
from ..analysis.coverage import covering, is_in_test
from ..analysis.grad_switches import switches_grad_off
from ..analysis.model_runs import first_construction_in, first_load_in, first_run_in
from ..analysis.project import Project
from ..analysis.project_summary import is_test_path
from ..analysis.thread_starters import runs_in_thread, starter_name
from ..analysis.thread_targets import started_functions
from ..analysis.training_calls import training_in
from ..answered_once import answered_once
from ..facts import Call, Facts, Function, Span
from ..facts.expressions import last_name
from ..facts.index import index_of
from ..findings import Finding, Severity
from ..lazy_regex import lazy_regex
from ..rule import Rule
from ..rule_names import RuleGroup

RULE = Rule(
    "GF209",
    "unguarded-inference",
    group=RuleGroup.NO_EFFECT,
    since="0.1.0",
    severity=Severity.INFO,
    needles=(b"jit::load", b"AOTIModel", b"backward(", b"std::thread", b"std::async"),
    default=False,
)

_SETS_MODE = lazy_regex(r"(?i)set_enabled|(?:no|disable)_?grad|inference_?(?:mode|guard|scope)|guard")
_CALLERS = 3
"""How many callers above one another are asked for a guard."""
_LEAST_GUARDED = 2
"""Guards elsewhere in the program from which on its threads should have one."""


@RULE.check_file
def unguarded(facts: Facts, project: Project) -> Iterator[Finding]:
    if facts.language != "cpp" or not facts.linked or is_test_path(facts.path) or _trains(project):
        return
    guarded = _guarded(project)
    in_threads = _run_by_threads(facts, project)
    for index, function in enumerate(facts.functions):
        by = in_threads.get(index, "")
        if function.name.startswith("forward"):
            continue  # a model's own: who runs it decides
        if (
            (function.is_lambda and not by)
            or function.macro is not None
            or _sets_its_mode(function.body, facts, project)
        ):
            continue
        if is_in_test(index, facts) or (not by and _is_called_under_guard(facts, index, project, _CALLERS)):
            continue
        run = _outside_guards(first_run_in(facts, function.body), facts)
        if by and len(guarded) >= _LEAST_GUARDED:
            work = run or _outside_guards(_first_tensors(function.body, facts), facts)
            if work is not None and _is_own(work, index, facts, in_threads):
                why = f"`{by}` runs this in another thread, and no guard is on in it"
                yield RULE.at(facts, work.span, f"`{work.callee}` is recorded: {why}; {_elsewhere(guarded)}")
        elif run is not None and _is_own(run, index, facts, in_threads):
            prepared = _prepared(facts)
            if prepared is not None or guarded:
                why = f"{prepared}, and nothing here trains" if prepared is not None else _elsewhere(guarded)
                yield RULE.at(facts, run.span, f"`{run.callee}` runs a model outside every guard: {why}")


@answered_once
def _trains(project: Project) -> bool:
    """Whether anything in the files that were read has to do with gradients."""
    return any(training_in(call) for facts in project.files.values() for call in facts.calls)


@answered_once
def _guarded(project: Project) -> tuple[str, ...]:
    """Where functions of the program switch recording off: FILE:LINE."""
    return tuple(
        f"{facts.path}:{facts.row(use.span.start)}"
        for facts in project.files.values()
        if facts.language == "cpp" and not is_test_path(facts.path)
        for use in facts.guard_uses
        if use.function is not None and switches_grad_off(use)
    )


def _elsewhere(guarded: tuple[str, ...]) -> str:
    return f"other functions of the program have a guard ({guarded[0]})"


@answered_once
def _prepared(facts: Facts) -> str | None:
    """Where the file loads a model, or gets one ready to be run, in words."""
    whole = Span(0, max((function.span.end for function in facts.functions), default=0))
    load = first_load_in(facts, whole) or first_construction_in(facts, whole)
    if load is not None:
        return f"line {facts.row(load.span.start)} loads a model"
    ready = next(filter(prepares_model_for_use, facts.calls), None)
    return f"line {facts.row(ready.span.start)} gets a model ready to be run" if ready is not None else None


@answered_once
def _run_by_threads(facts: Facts, project: Project) -> dict[int, str]:
    """The functions and lambdas that run in other threads, each with what starts it."""
    found = {started.function: started.by for started in started_functions(facts)}
    for index, function in enumerate(facts.functions):
        if function.is_lambda and function.passed_to is not None and runs_in_thread(function.passed_to):
            found[index] = starter_name(function.passed_to)
            found |= dict.fromkeys(_called_alone(function, facts, project), found[index])
    return found


def _called_alone(function: Function, facts: Facts, project: Project) -> Iterator[int]:
    """What a lambda of one call runs, `[this] { work(); }`, if no guard is in it."""
    calls = list(index_of(facts).calls.within(function.body))
    if len(calls) == 1 and not _sets_its_mode(function.body, facts, project):
        named = (last_name(calls[0].called),) if calls[0].receiver is None else ()
        same = [one for name in named for one in index_of(facts).functions_named.get(name, ()) if not one.is_lambda]
        if len(same) == 1:
            yield index_of(facts).function_numbers[id(same[0])]


def _first_tensors(span: Span, facts: Facts) -> Call | None:
    return next(filter(computes_tensors, index_of(facts).calls.within(span)), None)


def _is_own(call: Call, function: int, facts: Facts, in_threads: dict[int, str]) -> bool:
    """Whether the function itself runs the call, or a lambda in it that no other thread runs."""
    inner = call.function
    while inner is not None and inner != function:
        if inner in in_threads:
            return False
        inner = facts.functions[inner].parent
    return inner == function


def _outside_guards(call: Call | None, facts: Facts) -> Call | None:
    return None if call is None or any(index_of(facts).uses_around(call.span)) else call


def _sets_its_mode(body: Span, facts: Facts, project: Project) -> bool:
    """Whether a function has a guard, or a call or an object that may be one."""
    places = index_of(facts)
    if places.uses.first(body) is not None or _calls_a_switch(body, facts):
        return True
    made = {assignment.type.last for assignment in places.assignments.within(body) if assignment.type is not None}
    return any(_SETS_MODE.search(name) for name in made - {"lock_guard"}) or not made.isdisjoint(_mode_objects(project))


def _calls_a_switch(body: Span, facts: Facts) -> bool:
    return any(_SETS_MODE.search(call.name) for call in index_of(facts).calls.within(body))


@answered_once
def _mode_objects(project: Project) -> frozenset[str]:
    """Classes that have a guard, or whose constructors switch a mode: an object of one guards the rest of its block."""
    return frozenset(
        name
        for facts in project.files.values()
        if facts.language == "cpp"
        for name in (
            *(facts.classes[use.class_].name for use in facts.guard_uses if use.class_ is not None),
            *(
                one.name
                for one in facts.functions
                if one.qualified[-2:-1] == (one.name,) and _calls_a_switch(one.body, facts)
            ),
        )
    )


def _is_called_under_guard(facts: Facts, index: int, project: Project, depth: int) -> bool:
    """Whether some caller in sight has a guard on where it calls the function, or around itself."""
    function: Function = facts.functions[index]
    if depth == 0 or not function.name:
        return False
    for where, call, _ in project.callers_of(facts, function, 20):
        if any(covering(where, call.span, call.function)):
            return True
        if call.function is not None and (
            _sets_its_mode(where.functions[call.function].body, where, project)
            or _is_called_under_guard(where, call.function, project, depth - 1)
        ):
            return True
    return False
