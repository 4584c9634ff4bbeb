"""GF208 guard-after-work: `InferenceMode` is declared below the work that it should cover.

What it flags: a model that is loaded above the guard and run below it, in the same block (level info), and a model
that is run above the guard, with only the results being read below it (level warning).

Why it is bad: what is above the guard runs in normal mode. A model loaded there has ordinary parameters with
version counters; the migration guide puts the guard above the load. A model that is run there records the whole
graph.

Example:

    auto module = torch::jit::load(path);
    c10::InferenceMode guard;
    auto output = module.forward(inputs);

Use instead:

    c10::InferenceMode guard;
    auto module = torch::jit::load(path);
    auto output = module.forward(inputs);

Fix: unsafe. The guard moves above the load or the run, so more tensors become inference tensors.

Not flagged: a load that another guard covers; a load in another function or in the guard's own scope; a function
that trains; a model that is run both above and below the guard, as in a comparison; `at::AutoNonVariableTypeMode` in
such a place, which GF101 reports and offers to move.

Limits: only work in the same block is compared with the guard, and models are known by the calls that load and run
them.

When not to use it: a model that is trained or modified elsewhere after loading needs ordinary parameters.

Level: info for a load above the guard: the results are right, and one function doesn't show whether ordinary
parameters are needed. Warning for a run above the guard.

Seen in public code: 4 of 36 migrations to InferenceMode moved the guard above the load or above the creation of the
inputs.

References: https://pytorch.org/cppdocs/notes/inference_mode.html (migration guide from AutoNonVariableTypeMode).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .. import guards
from ..analysis.calls import QUERIES, computes_tensors, is_load, is_run
from ..analysis.coverage import covering, is_constantly_on
from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..facts import Call, Facts, Form, GuardUse, Span
from ..facts.expressions import Expression, first_name, variable_of, words_of
from ..facts.index import all_calls_where, index_of
from ..findings import Applicability, Finding, Severity
from ..guards import Effect, guards_with
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF208",
    "guard-after-work",
    group=RuleGroup.NO_EFFECT,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    guards=guards_with(Effect.INFERENCE),
)

_TRAINS = frozenset({"backward", "zero_grad", "step"})
_READS = QUERIES | frozenset(
    """argmax item max min sum mean softmax topk sort toTensor toTuple elements data_ptr accessor cpu to eq squeeze
    slice select view requires_grad is_inference grad_fn print""".split()
)
"""How programs read what a model gave. Whatever ops do, these say what the guard's scope was written for."""


@RULE.check_use
def late_guards(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if use.guard != guards.INFERENCE_MODE or use.form not in (Form.DECLARATION, Form.AUTO):
        return
    if use.function is None or use.macro is not None or use.under_error or use.shared:
        return
    if not is_constantly_on(use) or not is_gradient_guard(use, facts, project):
        return
    if all_calls_where(facts, _trains).first(facts.functions[use.function].body) is not None:
        return
    late = late_work(use, facts)
    if late is None:
        return
    row = facts.row(late.span.start)
    if is_load(late):
        message = (
            f"the model is loaded at line {row}, above the guard that covers its run; move the guard above the load"
        )
        yield RULE.at(facts, use.type_span, message, use=use, severity=Severity.INFO)
    else:
        message = (
            f"the model is run at line {row}, above the guard, which only covers reading the result; move the guard up"
        )
        yield RULE.at(facts, use.type_span, message, use=use)


def late_work(use: GuardUse, facts: Facts) -> Call | None:
    """The load or run above the guard that it should cover; None when there is none.

    Of several such guards in one block the first is the one to move: the others are under it.
    """
    first = next(one for one in _guards_of_block(use, facts) if one.guard == use.guard)
    if first.span != use.span:
        return None
    return _late_load(use, facts) or _late_run(use, facts)


def _guards_of_block(use: GuardUse, facts: Facts) -> Sequence[GuardUse]:
    return index_of(facts).local_by_scope.get(use.scope) or [use]


def _trains(call: Call) -> bool:
    return call.name in _TRAINS


def _above(use: GuardUse, facts: Facts, wanted: Callable[[Call], bool]) -> Iterator[Call]:
    """The calls of the same block and function above the guard that are wanted and that no other guard covers."""
    first = _guards_of_block(use, facts)[0]  # what is after it in the block, it covers
    for call in all_calls_where(facts, wanted).within(Span(use.scope.start, first.span.start)):
        if call.function == use.function and not any(covering(facts, call.span, call.function)):
            yield call


def _late_load(use: GuardUse, facts: Facts) -> Call | None:
    loads = list(_above(use, facts, is_load))
    if not loads:
        return None
    run = {_held(call.receiver or call.called) for call in all_calls_where(facts, is_run).within(use.live)}
    return next((call for call in loads if _loaded_into(call, facts) & run), None)


def _loaded_into(load: Call, facts: Facts) -> set[str]:
    """The names that hold the model: `m = torch::jit::load(path)`, `torch::load(m, path)`."""
    around = index_of(facts).assignments_around.around(load.span)
    names = {_held(assignment.target) for assignment in around if assignment.function == load.function}
    if len(load.arguments) > 1:
        names.add(_held(load.arguments[0]))
    return names - {""}


def _late_run(use: GuardUse, facts: Facts) -> Call | None:
    if not all(map(_only_reads, index_of(facts).calls.within(use.live))):
        return None
    below = list(index_of(facts).calls.within(use.live))
    if not any(call.name in _READS for call in below):
        return None
    read = set().union(*(words_of(part) for call in below for part in (call.called, *call.arguments)))
    return next((call for call in _above(use, facts, is_run) if _gives(call, facts) & read), None)


def _gives(run: Call, facts: Facts) -> set[str]:
    """The names that a run gives a value, `auto [mean, variance] = net->forward(x)` included."""
    if run.function is None:
        return set()
    held = (a for a in index_of(facts).assignments_around.around(run.span) if a.function == run.function)
    return {word for a in held for word in words_of(a.target)}


def _only_reads(call: Call) -> bool:
    if first_name(call.called) == "std" or call.name.isupper():
        return True
    return (
        call.name in _READS
        and not (is_run(call) or is_load(call))
        and not (computes_tensors(call) and call.name.endswith("_"))
    )


def _held(expression: Expression) -> str:
    """The variable or member that holds what is meant."""
    return variable_of(expression).removeprefix("this->")
