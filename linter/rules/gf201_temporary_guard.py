"""GF201 temporary-guard: a guard without a name is gone at the semicolon.

What it flags: a gradient-mode guard that is constructed as a statement of its own: `torch::NoGradGuard();`,
`c10::InferenceMode{};`, `at::AutoDispatchBelowADInplaceOrView();`.

Why it is bad: the guard is a temporary. Its destructor runs at the end of the statement, so everything below it
runs as if it were not there: gradients are recorded, and nobody is told. `g++ -Wall -Wextra` says nothing, as the
constructor and the destructor have effects.

Example:

    torch::NoGradGuard();
    auto output = model->forward(input);

Use instead:

    torch::NoGradGuard guard;
    auto output = model->forward(input);

Fix: unsafe. The guard is given a name, which switches on what was meant to be on all along. The name is one that the
function does not use yet. In a branch without braces and behind a label there is no fix.

Not flagged: `auto guard = torch::NoGradGuard();` and a reference bound to the guard (both live to the end of the
block), a guard that is an argument or an operand (it lives as long as the whole expression), a constructor's
declaration in a class, macro bodies. `at::AutoNonVariableTypeMode(true);` is GF101's business, whose fix names the
guard too; `c10::InferenceMode(flag);`, which declares a variable `flag`, is GF203's.

When not to use it: where a temporary is meant, as in a test of the guard's own constructor; suppress the line.

Seen in public code: 6 of 10 statements of this form that were looked at stood for a guard that was meant to last. The
tutorial for iOS was once changed to it: https://github.com/pytorch/pytorch.github.io/pull/807.

References: [class.temporary] of the C++ standard; https://pytorch.org/cppdocs/notes/inference_mode.html.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..facts import Facts, Form, GuardUse
from ..findings import Finding
from ..guards import current_guards
from ..rule import Rule

RULE = Rule("GF201", "temporary-guard", guards=current_guards)


@RULE.check_use
def temporaries(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if use.form is not Form.TEMPORARY or use.shared or use.under_error or use.macro is not None:
        return
    if use.guard == guards.LEGACY or use.function is None or not is_gradient_guard(use, facts, project):
        return
    if use.declares_its_argument:
        return
    given = use.argument.text if use.argument is not None else ""
    yield RULE.at(
        facts,
        use.span,
        f"`{use.written}{given}` is destroyed at the semicolon and covers nothing; give it a name",
        use=use,
    )
