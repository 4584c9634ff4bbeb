"""GF403 uncalled-guard: a guard class is used where a guard is needed.

What it flags: `with torch.no_grad:`, and `torch.no_grad` as a statement of its own. The same for the other guards,
and under other names that the file gives them (`off = torch.no_grad`, then `with off:`).

Why it is bad: the class isn't a context manager, so `with` raises `TypeError: 'type' object does not support the
context manager protocol` (an `AttributeError` before Python 3.11), perhaps in a branch that no test runs. As a
statement, the name has no effect at all.

Example:

    with torch.no_grad:
        output = model(batch)

Use instead: `with torch.no_grad():`.

Fix: safe for `with`: the parentheses are added. Unsafe for a statement above a `def`: an `@` and parentheses are
added. None for `set_grad_enabled`, which needs an argument that isn't in the code, and for `async with`, which doesn't
accept a guard.

Not flagged: names inside `try:`, which test whether the guard exists; `@torch.no_grad` (GF505); giving a guard another
name (`off = torch.no_grad`); names with several meanings; tests that expect the error (`with pytest.raises(…):`).

Limits: a class that is kept in an attribute, passed as an argument or returned by a function isn't followed to where it
is entered.

References: torch/autograd/grad_mode.py of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.project import Project
from ..facts import Facts, Form
from ..facts.python_uses import C_GUARDS, MODES, uses_of
from ..findings import Applicability, Finding, Severity
from ..guards import current_guards
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF403",
    "uncalled-guard",
    group=RuleGroup.RAISES,
    since="0.1.0",
    fix=RuleFix(Applicability.SAFE),
    severity=Severity.ERROR,
    languages=("python",),
    odd_uses_only=True,
    guards=current_guards,
)


@RULE.check_file
def uncalled(facts: Facts, project: Project) -> Iterator[Finding]:
    for found in uses_of(facts, MODES | C_GUARDS, Form.WITH, Form.REFERENCE):
        if found.called or found.expected:
            continue
        use = found.use
        if use.form is Form.WITH:
            message = f"`with {use.written}:` raises TypeError: the guard must be called"
        else:
            message = f"`{use.written}` as a statement has no effect: the guard is neither called nor entered"
        yield RULE.at(facts, use.type_span, message, use=use)
