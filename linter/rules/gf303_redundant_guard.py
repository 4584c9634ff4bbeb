"""GF303 redundant-guard: grad mode is turned off where `InferenceMode` has already turned it off.

What it flags: `NoGradGuard` or `AutoGradMode(false)` next to an `InferenceMode` that is always on (as a local
variable or as a member of the same struct), or in a block below it.

Why it is bad: it does nothing. `InferenceMode` implies it, and with two guards the reader has to wonder which one
matters.

Example:

    c10::InferenceMode guard;
    torch::NoGradGuard no_grad;
    auto output = model->forward(input);

Use instead:

    c10::InferenceMode guard;
    auto output = model->forward(input);

Fix: safe. The statement is removed; a comment goes with it only if it was about nothing else. Unsafe next to a comment
about guards.

Not flagged: an `InferenceMode` with `false` or a run-time flag; a struct of guards with a constructor, which may
pass a flag; a scope with an object that may turn grad mode on (`EnableGrad on;`); a guard above the `InferenceMode`
that covers anything in between; a guard inside `AutoGradMode(true)` or `InferenceMode(false)`; the other branch of
an `#if`; a guard whose name is used; lambdas, which may run elsewhere.

Limits: only guards in the same function or struct are compared: an `InferenceMode` that every caller has on isn't seen.

Level: info. The program does the same with and without the guard.

When not to use it: files that must also compile with torch 1.8 or older, which doesn't have InferenceMode.

Seen in public code: 22 of 36 migrations to InferenceMode dropped the other guard; PyTorch's own
binaries/compare_models_torch.cc kept it.

References: c10/core/InferenceMode.h of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.coverage import is_constantly_on, is_inference_scope
from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..analysis.redundancy import redundant_guards
from ..facts import Class, Facts, Form, GuardUse
from ..facts.index import index_of
from ..findings import Applicability, Finding, Severity
from ..guards import Effect, guards_with
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF303",
    "redundant-guard",
    group=RuleGroup.REDUNDANT,
    since="0.1.0",
    fix=RuleFix(Applicability.SAFE),
    severity=Severity.INFO,
    guards=guards_with(Effect.GRAD_MODE),
    keeps_results=True,
)


def _is_member(use: GuardUse, facts: Facts) -> bool:
    """An `InferenceMode` in a struct of guards: all of them begin and end together.

    A constructor can give it a flag, in another file too.
    """
    return (
        use.guard == guards.INFERENCE_MODE
        and use.form is Form.MEMBER
        and use.class_ is not None
        and not _has_constructors(facts.classes[use.class_], facts)
        and is_constantly_on(use)
        and not use.under_error
        and use.macro is None
    )


def _has_constructors(class_: Class, facts: Facts) -> bool:
    """Whether one is declared or defined in it; a defined one may be among the functions known by name only."""
    return class_.has_constructors or any(
        class_.span.holds(function.span) for function in index_of(facts).functions_named.get(class_.name, ())
    )


@RULE.check_file
def redundant(facts: Facts, project: Project) -> Iterator[Finding]:
    seen: set[GuardUse] = set()
    for use in facts.guard_uses:
        if not (is_inference_scope(use) or _is_member(use, facts)) or not is_gradient_guard(use, facts, project):
            continue
        row = facts.row(use.span.start)
        for other in redundant_guards(use, facts):
            if other in seen or not is_gradient_guard(other, facts, project):
                continue
            seen.add(other)
            message = f"{other.guard} has no effect here: InferenceMode at line {row} has already turned off gradients"
            yield RULE.at(facts, other.span, message, use=other)
