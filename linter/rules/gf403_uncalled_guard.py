"""GF403 uncalled-guard: a guard's class stands where a guard is needed.

What it flags: `with torch.no_grad:`, and `torch.no_grad` as a statement of its own; the same for the other guards and
for names that stand for them.

Why it is bad: the class is no context manager, so `with` raises `TypeError: 'type' object does not support the
context manager protocol`, perhaps only in the branch that no test runs. As a statement the name does nothing at all.

Example:

    with torch.no_grad:
        output = model(batch)

Use instead: `with torch.no_grad():`.

Fix: safe for `with`: the brackets are added. Unsafe for a statement before a `def` (an `@` and brackets are). None
for `set_grad_enabled`, which needs an argument that is not in the code, and for `async with`, which takes no guard.

Not flagged: names inside `try:`, which ask whether the guard exists; `@torch.no_grad` (GF505); aliases
(`guard = torch.no_grad`); names with several meanings; tests that expect the error (`with pytest.raises(…):`).

References: torch/autograd/grad_mode.py of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.project import Project
from ..facts import Facts, Form, Span
from ..facts.python_model import C_GUARDS, MODES, uses_of
from ..findings import Applicability, Edit, Finding, Severity
from ..guards import current_guards
from ..rule import Rule

RULE = Rule(
    "GF403",
    "uncalled-guard",
    severity=Severity.ERROR,
    fix=Applicability.SAFE,
    languages=("python",),
    odd_uses_only=True,
    guards=current_guards,
)

_NEED_ARGUMENT = (guards.SET_GRAD_ENABLED, guards.C_INFERENCE_MODE)


@RULE.check_file
def uncalled(facts: Facts, project: Project) -> Iterator[Finding]:
    for found in uses_of(facts, MODES | C_GUARDS, Form.WITH, Form.REFERENCE):
        if found.called or found.expected:
            continue
        use, end = found.use, found.call_span.end
        if use.form is Form.WITH:
            message = f"`with {use.written}:` raises TypeError: the guard is not called"
            # Brackets do not help `async with`, which no guard can stand in.
            cured = use.guard not in _NEED_ARGUMENT and not found.async_with
            edits = [Edit(Span(end, end), "()")] if cured else []
            yield RULE.at(facts, use.type_span, message, use=use, edits=edits, fix_message=f"call `{use.written}()`")
        else:
            message = f"`{use.written}` as a statement does nothing: the guard is neither called nor entered"
            yield RULE.at(facts, use.type_span, message, use=use)
