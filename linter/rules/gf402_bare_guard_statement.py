"""GF402 bare-guard-statement: a guard that is created and discarded has no effect.

What it flags: `torch.no_grad()`, `torch.inference_mode()` or `torch.enable_grad()` as a statement of its own.

Why it is bad: these guards take effect when they are entered. A guard that is never entered changes nothing, and
the code below records gradients as before. Directly above a `def`, an `@` is missing.

Example:

    model.eval()
    torch.no_grad()
    for batch in loader:
        predictions.append(model(batch))

Use instead:

    with torch.no_grad():
        for batch in loader:
            predictions.append(model(batch))

Fix: unsafe directly above a `def`: the `@` is added, and the guard, which had no effect, takes effect. Elsewhere
the fix is only described, because the code doesn't say where the guard should end.

Not flagged: `torch.set_grad_enabled(False)`, which takes effect when it is constructed;
`torch.no_grad().__enter__()`; `torch.no_grad()(function)`; a guard that is assigned, returned or passed on; tests
that expect an error or a warning (`with pytest.raises(…):`).

Limits: only guards that are named are looked at: a call of a function that returns a guard isn't.

References: torch/autograd/grad_mode.py of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.project import Project
from ..facts import Facts, Form
from ..facts.python_model import Kind
from ..facts.python_uses import uses_of
from ..findings import Applicability, Finding
from ..guards import public_guards
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF402",
    "bare-guard-statement",
    group=RuleGroup.NO_EFFECT,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    languages=("python",),
    odd_uses_only=True,
    guards=public_guards,
)

_INACTIVE = (guards.NO_GRAD, guards.ENABLE_GRAD, guards.PYTHON_INFERENCE_MODE)


@RULE.check_file
def bare_statements(facts: Facts, project: Project) -> Iterator[Finding]:
    for found in uses_of(facts, _INACTIVE, Form.TEMPORARY):
        if found.expected:
            continue
        message = f"`{found.use.written}()` as a statement has no effect: a guard must be entered"
        if found.following is not None and found.following.kind is not Kind.CLASS:
            message = f"`{found.use.written}()` above a `def` has no effect; did you mean `@{found.use.written}()`?"
        yield RULE.at(facts, found.use.span, message, use=found.use)
