"""GF207 guard-lost-in-thread: a guard does not reach the threads that its scope starts.

What it flags: a lambda that is given to `std::thread`, `std::async`, a thread pool or `at::parallel_for` inside a
guard's scope, computes tensors, and holds no guard.

Why it is bad: grad mode, inference mode and the dispatch keys are thread local. A new thread starts in the normal
mode, whatever its parent has: it records gradients, or changes an inference tensor in place and raises. Which of the
two happens can depend on whether the work fits into the calling thread.

Example:

    c10::InferenceMode guard;
    std::thread worker([&] { output = model->forward(input); });

Use instead:

    std::thread worker([&] {
      c10::InferenceMode guard;
      output = model->forward(input);
    });

Fix: unsafe. The guard is repeated at the top of the lambda.

Not flagged: `at::launch` and `at::wrapPropagateTLSState`, which carry the state over; a lambda with any guard or
`at::ThreadLocalStateGuard` in it; guards with a run-time flag; work in a function that is called by name, whose own
guards are not in sight.

References: ATen/Parallel.h ("parallel_for does NOT copy thread local states"); ATen/ThreadLocalState.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import guards
from ..facts import Call, Facts, Form, Function, GuardUse
from ..findings import Applicability, Finding
from ..guards import Effect
from ..ownership import is_gradient_guard
from ..places import places_of
from ..prefilter import CPP_NEEDLES
from ..project import Project
from ..redundancy import switches_grad_off
from ..rule import Rule
from ..scopes import is_constantly_on
from ..tensor_work import computes_tensors

RULE = Rule("GF207", "guard-lost-in-thread", fix=Applicability.UNSAFE, needles=CPP_NEEDLES)

_STARTS = re.compile(
    r"(?:^|::)(?:thread|jthread|async|packaged_task)$"
    r"|^(?:::)?(?:at|tbb|oneapi::tbb)::parallel_(?:for|for_each|reduce|do|invoke)$|^at::intraop_launch$"
)
_POOL = re.compile(
    r"(?:^|[\w)\]>]*?)(?i:pool|executor|workers?|threads?)\w*(?:\(\))?(?:\.|->)"
    r"(?:submit|submit_task|enqueue|post|execute|run|schedule|push|push_task|detach_task|add|addTask|emplace_back"
    r"|push_back|emplace)$"
)


@RULE.check_file
def lost_guards(facts: Facts, project: Project) -> Iterator[Finding]:
    for index, function in enumerate(facts.functions):
        if not function.is_lambda or not runs_in_thread(function) or function.macro is not None:
            continue
        guard = _guard_around(function, facts, project)
        if guard is None or _has_guard(function, facts):
            continue
        work = _first_work(index, facts)
        if work is None:
            continue
        where = re.sub(r"<.*", "", function.passed_to)
        message = (
            f"{guard.guard} of line {facts.row(guard.span.start)} does not reach this thread: guards are thread "
            f"local, and `{where}` starts in the normal mode"
        )
        yield RULE.at(facts, work.span, message, use=guard)


def runs_in_thread(function: Function) -> bool:
    callee = re.sub(r"<[^<>]*>$", "", function.passed_to)
    return _STARTS.search(callee) is not None or _POOL.search(callee) is not None


def _guard_around(function: Function, facts: Facts, project: Project) -> GuardUse | None:
    """The innermost guard that is on where the lambda is made."""
    found = [
        use
        for use in facts.guard_uses
        if use.form in (Form.DECLARATION, Form.AUTO)
        and use.live.holds(function.span)
        and use.function == function.parent
        and not use.under_error
        and _switches_off(use)
        and is_gradient_guard(use, facts, project)
    ]
    return max(found, key=lambda use: use.span.start) if found else None


def _switches_off(use: GuardUse) -> bool:
    if guards.CPP[use.guard].effect is Effect.GRAD_MODE if use.guard in guards.CPP else True:
        return switches_grad_off(use)
    return is_constantly_on(use)


def _has_guard(function: Function, facts: Facts) -> bool:
    return any(function.span.holds(use.type_span) for use in facts.guard_uses)


def _first_work(index: int, facts: Facts) -> Call | None:
    """The first call in the lambda that computes tensors and is not known to be guarded by itself."""
    guarded = {facts.functions[use.function].name for use in facts.guard_uses if use.function is not None}
    for call in places_of(facts).calls.within(facts.functions[index].body):
        if computes_tensors(call) and call.name not in guarded and _is_inside(call.function, index, facts):
            return call
    return None


def _is_inside(inner: int | None, index: int, facts: Facts) -> bool:
    return any(facts.functions[index] is function for function in facts.enclosing(inner))
