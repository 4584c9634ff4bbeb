"""GF203 vexing-parse-guard: the statement doesn't declare a guard with these arguments but something else.

What it flags: `torch::NoGradGuard guard();` in a function body, which declares a function, and
`c10::InferenceMode(flag);`, which declares a guard *named* `flag` and never reads the flag.

Why it is bad: the first has no effect at all. The second is always on, no matter what the flag says, and shadows
it. Both compile; newer compilers warn about the first, but not about the second.

Example:

    void run(Model& model) {
      torch::NoGradGuard guard();

Use instead:

    void run(Model& model) {
      torch::NoGradGuard guard;

Fix: unsafe. The parentheses are dropped, or the guard gets a name of its own, so that what was meant takes effect.
There is no fix for `AutoGradMode`, which needs a value that the statement doesn't have.

Not flagged: `NoGradGuard make_guard();` at namespace scope or in a class, which declares a function on purpose; a
function that is called below its declaration; `guard{}`; `at::AutoNonVariableTypeMode guard();`, which GF101 fixes
as well.

Limits: only statements in functions are looked at, and none that a macro makes.

When not to use it: always use it. A function that returns a guard is declared in a header, not in a function body.

Seen in public code: rarely, because newer compilers warn (`-Wvexing-parse`).

References: [dcl.ambig.res] of the C++ standard.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..facts import Facts, Form, GuardUse
from ..facts.index import index_of
from ..findings import Applicability, Finding
from ..guards import current_guards
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF203",
    "vexing-parse-guard",
    group=RuleGroup.NO_EFFECT,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    guards=current_guards,
)


@RULE.check_use
def vexing_parses(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if use.function is None or use.macro is not None or use.under_error or use.guard == guards.LEGACY:
        return
    argument = use.argument
    if argument is None or not is_gradient_guard(use, facts, project):
        return
    if use.form is Form.VEXING_PARSE and not _is_called(use, facts):
        needs_a_value = guards.CPP[use.guard].takes is guards.Takes.BOOL
        yield RULE.at(
            facts,
            use.span,
            f"this declares a function `{use.variable}` that returns {use.guard}, not a guard; "
            + ("pass it a value" if needs_a_value else "drop the parentheses"),
            use=use,
        )
    elif use.form is Form.TEMPORARY and not use.shared and use.declares_its_argument:
        yield RULE.at(
            facts,
            use.span,
            f"this declares a guard named `{argument.name}`, which is always on, and never reads the flag "
            f"`{argument.name}`; "
            "give the guard a name of its own",
            use=use,
        )


def _is_called(use: GuardUse, facts: Facts) -> bool:
    """`torch::NoGradGuard quiet(); auto guard = quiet();`: a function, and meant to be one."""
    calls = index_of(facts).calls.within(use.live)
    return any(call.name == use.variable and not call.receiver for call in calls)
