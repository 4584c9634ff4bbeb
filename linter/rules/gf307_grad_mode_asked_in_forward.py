"""GF307 grad-mode-asked-in-forward: `forward` of an autograd Function asks for grad mode, which is always off there.

What it flags: `torch::GradMode::is_enabled()` and `torch.is_grad_enabled()` in `forward` of an autograd Function, and
in Python's `setup_context`, outside of any block that turns grad mode on.

Why it is bad: `Function::apply` turns grad mode off before it calls `forward` and `setup_context`, whatever the caller
has set, so the answer is always false: what depends on it (tensors saved for backward, a mask that is kept) is never
done, and gradients are missing or wrong without an error. So it is also under `torch.func` and in checkpoints.

Example:

    static torch::Tensor forward(AutogradContext* ctx, const torch::Tensor& x) {
      if (torch::GradMode::is_enabled()) {
        ctx->save_for_backward({x});
      }
      return x * x;
    }

Use instead: what `forward` does know, `ctx->needs_input_grad(0)` (in Python `ctx.needs_input_grad[0]`), or ask before
the call and pass the answer on.

    static torch::Tensor forward(AutogradContext* ctx, const torch::Tensor& x) {
      if (ctx->needs_input_grad(0)) {
        ctx->save_for_backward({x});
      }
      return x * x;
    }

Fix: none. The answer has to come from the caller, as a further argument.

Not flagged: calls below `enable_grad()` or `set_grad_enabled(…)`, `AutoGradMode` or `GradMode::set_enabled`; the mode
that is kept to be set again; assertions and checks that raise an error; messages; `backward`, where the mode says
whether `create_graph` was given; a `forward` that something else calls besides autograd (`Square.forward(ctx, x)`).

Limits: functions that `forward` calls are not looked into. Files are read for it if they contain `GradMode::is_enabled`
or `is_grad_enabled`.

When not to use it: where the call documents that the mode is off.

Seen in public code: `CheckpointFunction.forward` of fairseq's checkpoint_activations.py guards a warning with it, which
is therefore never given.

References: torch/csrc/autograd/custom_function.h and torch/csrc/autograd/python_function.cpp of torch 2.13
(`AutoGradMode grad_mode(false)`).
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.project import Project
from ..facts import Call, Facts, Function
from ..facts.bodies import If, Raise
from ..facts.expressions import last_name, simple_name, words_of
from ..facts.index import index_of
from ..facts.statement_walk import all_statements, bodies_named
from ..findings import Finding
from ..guards import no_guards
from ..lazy_regex import lazy_regex
from ..rule import Rule
from ..rule_names import RuleGroup

RULE = Rule(
    "GF307",
    "grad-mode-asked-in-forward",
    group=RuleGroup.SILENTLY_WRONG,
    since="0.1.0",
    languages=("cpp", "python"),
    guards=no_guards,
    needles_in={"cpp": (b"GradMode::is_enabled",), "python": (b"is_grad_enabled",)},
    shape=rb"\bdef\s+(?:forward|setup_context)\s*\(\s*(?!self\b)\w",
)

_ASKING = {"cpp": ("GradMode", "is_enabled"), "python": ("torch", "is_grad_enabled")}
_UNDER_APPLY = {"cpp": frozenset({"forward"}), "python": frozenset({"forward", "setup_context"})}
_SETS_MODE = frozenset({"set_enabled", "set_grad_enabled", "_set_grad_enabled", "enable_grad", "AutoGradMode"})
_ONLY_TELLS = lazy_regex(r"(?i)assert|check|expect|require|print|log|warn|debug|info|raise|throw")


@RULE.check_file
def asked(facts: Facts, project: Project) -> Iterator[Finding]:
    asking = _ASKING.get(facts.language)
    if asking is None:
        return
    for call in facts.calls:
        if call.path[-2:] != asking or call.function is None:
            continue
        function = facts.functions[call.function]
        if function.name not in _UNDER_APPLY[facts.language] or not project.autograd_method(facts, function):
            continue
        if _is_on(call, function, facts) or _is_harmless(call, function, facts):
            continue
        if _is_called_otherwise(function, facts, project):
            continue
        message = f"`{call.callee}()` is always false in `{function.name}` of a Function: `apply` turns grad mode off"
        yield RULE.at(facts, call.span, message)


def _is_on(call: Call, function: Function, facts: Facts) -> bool:
    """Whether something in the function may have turned grad mode on in front of the call."""
    index = index_of(facts)
    uses = (use for use in index.uses.within(function.body) if use.scope.holds(call.span))
    on = ("AutoGradMode", guards.ENABLE_GRAD, guards.SET_GRAD_ENABLED)
    if any(use.guard in on and use.type_span.start < call.span.start for use in uses):
        return True
    calls = (one for one in index.calls.within(function.body) if one.span.start < call.span.start)
    return any(one.name in ("set_enabled", "set_grad_enabled", "_set_grad_enabled") for one in calls)


def _is_harmless(call: Call, function: Function, facts: Facts) -> bool:
    """Whether the answer is only printed or asserted, or kept to be restored."""
    index = index_of(facts)
    around = [one for one in index.calls.within(function.body) if one is not call and one.span.holds(call.span)]
    if any(_ONLY_TELLS.search(one.name) or one.name in _SETS_MODE for one in around):
        return True
    kept = {simple_name(one.target) for one in index.assignments.within(function.body) if one.span.holds(call.span)}
    for one in index.calls.within(function.body):
        if one.name in _SETS_MODE and not kept.isdisjoint(name for given in one.arguments for name in words_of(given)):
            return True
    for body in bodies_named(function.name, facts):
        for statement in all_statements(body.statements):
            if isinstance(statement, If) and statement.span.holds(call.span):
                return any(len(arm) == 1 and isinstance(arm[0], Raise) for arm in (statement.then, statement.otherwise))
    return False


def _is_called_otherwise(function: Function, facts: Facts, project: Project) -> bool:
    """Whether the method is called by its class's name outside of other Functions: then grad mode is the caller's."""
    owner = "".join(function.qualified[-2:-1])
    return any(
        owner in (*where_call.path[-2:-1], last_name(where_call.receiver))
        and not any(project.autograd_method(where, around) for around in where.enclosing(where_call.function))
        for where, where_call, _ in project.callers_of(facts, function)
    )
