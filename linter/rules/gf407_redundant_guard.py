"""GF407 redundant-guard: `no_grad` beside or inside `inference_mode` adds nothing.

What it flags: `torch.no_grad()` in the same `with` as `torch.inference_mode()`, in its block, directly around it, or
as a second decorator of the same function.

Why it is bad: inference mode switches gradients off already. The second guard costs a little at every entry, and a
reader looks for the reason why it is there.

Example:

    with torch.no_grad(), torch.inference_mode():
        output = model(batch)

Use instead:

    with torch.inference_mode():
        output = model(batch)

Fix: safe: the guard is taken out.

Not flagged: `inference_mode(flag)` and `inference_mode(False)`, after which `no_grad` matters; `no_grad` inside an
`enable_grad` or `set_grad_enabled` block inside the inference mode.

References: c10/core/InferenceMode.h of torch 2.13 (inference mode sets grad mode to false).
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..facts import Facts, Form
from ..findings import Applicability, Finding, Severity
from ..project import Project
from ..python.facts import Kind, PythonFacts, PythonUse, uses_of
from ..rule import Rule

RULE = Rule(
    "GF407",
    "redundant-guard",
    severity=Severity.INFO,
    fix=Applicability.SAFE,
    languages=("python",),
    needles=(b"inference_mode",),
)


@RULE.check_file
def redundant(facts: Facts, project: Project) -> Iterator[Finding]:
    python = facts.python
    if python is None:
        return
    for found in uses_of(facts, (guards.NO_GRAD,), Form.WITH, Form.DECORATOR):
        inference = _covered_by(found, python)
        if inference is not None and found.called:
            where = (
                "the same function"
                if found.use.form is Form.DECORATOR
                else f"line {facts.row(inference.use.span.start)}"
            )
            message = (
                f"`{found.use.written}()` is redundant: `{inference.use.written}` of {where} switches gradients off"
            )
            yield RULE.at(facts, found.call_span, message, use=found.use)


def _is_on(use: PythonUse) -> bool:
    if use.use.guard != guards.PYTHON_INFERENCE_MODE:
        return False
    if use.use.form is Form.DECORATOR and not use.called:
        return True
    return use.called and use.mode is True


def _covered_by(found: PythonUse, python: PythonFacts) -> PythonUse | None:
    """The inference mode that makes this `no_grad` redundant."""
    if found.use.form is Form.DECORATOR:
        if found.decorated is None or found.decorated.kind not in (Kind.FUNCTION, Kind.GENERATOR):
            return None
        beside = (use for use in python.uses if use is not found and use.decorated is not None)
        return next((use for use in beside if use.decorated.span == found.decorated.span and _is_on(use)), None)  # type: ignore[union-attr]
    covering: PythonUse | None = None
    for index in found.around:
        use = python.uses[index]
        acts = use.decorated is None or use.decorated.kind in (Kind.FUNCTION, Kind.GENERATOR)
        if _is_on(use) and acts:
            covering = use
        elif use.use.guard in (guards.ENABLE_GRAD, guards.SET_GRAD_ENABLED, guards.PYTHON_INFERENCE_MODE):
            covering = None
    if covering is not None:
        return covering
    # Directly around it: `with no_grad():` whose only statement, or a later item of which, is the inference mode.
    own = next(index for index, use in enumerate(python.uses) if use is found)
    for use in python.uses:
        inner = use.use.form is Form.WITH and use.around[-1:] == (own,) and _is_on(use)
        if inner and (use.use.span == found.use.span or use.sole):
            return use
    return None
