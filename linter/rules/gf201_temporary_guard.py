"""GF201 temporary-guard: a guard without a name is destroyed at the semicolon.

What it flags: a gradient-mode guard constructed as a statement of its own: `torch::NoGradGuard();`,
`c10::InferenceMode{};`, `at::AutoDispatchBelowADInplaceOrView();`. Also one that a statement chooses:
`inference ? torch::AutoGradMode(false) : torch::AutoGradMode(true);`.

Why it is bad: the guard is a temporary. Its destructor runs at the end of the statement, so everything below runs
without the guard: gradients are recorded, silently. `g++ -Wall -Wextra` doesn't warn, because the constructor and
the destructor have side effects.

Example:

    torch::NoGradGuard();
    auto output = model->forward(input);

Use instead:

    torch::NoGradGuard guard;
    auto output = model->forward(input);

Fix: unsafe. The guard gets a name that the function doesn't use yet, which turns on what was meant to be on all
along. There is no fix in a branch without braces, after a label or in a conditional expression.

Not flagged: `auto guard = torch::NoGradGuard();` and a reference bound to the guard (both live until the end of the
block), a guard that is an argument or an operand (it lives as long as the full expression), the declaration of a
constructor in a class, macros of which no statement consists alone. `at::AutoNonVariableTypeMode(true);` is covered by
GF101, whose fix also names the guard, and `c10::InferenceMode(flag);`, which declares a variable `flag`, by GF203.

Limits: a macro is reported only if its body is the temporary and nothing else. A class of the project that wraps a
guard is known only if the configuration lists it.

When not to use it: where a temporary is intended, as in a test of the guard's constructor. Suppress the line.

Seen in public code: in 6 of 10 statements of this form that we looked at, the guard was meant to last. The iOS
tutorial was once changed to this form: https://github.com/pytorch/pytorch.github.io/pull/807.

References: [class.temporary] of the C++ standard; https://pytorch.org/cppdocs/notes/inference_mode.html.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.coverage import is_first_in_statement
from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..answered_once import answered_once
from ..facts import Facts, Form, GuardUse
from ..facts.bodies import Evaluate
from ..facts.statement_walk import all_statements, bodies_of
from ..findings import Applicability, Finding
from ..guards import current_guards
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF201",
    "temporary-guard",
    group=RuleGroup.NO_EFFECT,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    guards=current_guards,
)


@RULE.check_use
def temporaries(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if use.form is not Form.TEMPORARY or use.shared or use.under_error:
        return
    if use.guard == guards.LEGACY or not is_gradient_guard(use, facts, project):
        return
    if use.macro is not None:
        yield from _made_by_macro(use, facts, project)
        return
    if use.function is None:
        return
    if use.declares_its_argument or not is_first_in_statement(use, facts):
        return
    given = use.argument.expression if use.argument is not None else ""
    yield RULE.at(
        facts,
        use.span,
        f"`{use.written}{given}` is destroyed at the semicolon and covers nothing; give it a name",
        use=use,
    )


def _made_by_macro(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    """A macro that is nothing but the temporary, and a statement by itself somewhere."""
    macro = next((one for one in facts.macros if one.body.start == use.span.start), None)
    if macro is None or macro.body.end - use.span.end > len(";"):
        return
    for where, invocation in project.invocations_of(macro.name, facts):
        # A part of `MACRO, x.add_(1);` ends where the macro does: there, the guard lives to the semicolon.
        if _statements_alone(where).get(invocation.span.start, 0) > invocation.span.end:
            row = where.row(invocation.span.start)
            place = f"line {row}" if where is facts else f"{where.path}:{row}"
            message = f"`{macro.name}` makes a guard that is destroyed at the semicolon of {place}"
            yield RULE.at(facts, use.span, f"{message} and covers nothing; let the macro name it", use=use)
            return


@answered_once
def _statements_alone(facts: Facts) -> dict[int, int]:
    """The statements that are an expression whose value is unused: where they begin, and where they end."""
    return dict(
        statement.span
        for body in bodies_of(facts)
        for statement in all_statements(body.statements)
        if isinstance(statement, Evaluate)
    )
