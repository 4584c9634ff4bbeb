"""GF407 redundant-context-manager: `no_grad` next to or inside `inference_mode` is redundant.

What it flags: `torch.no_grad()` in the same `with` as `torch.inference_mode()`, in its block, directly around it,
or as a second decorator of the same function.

Why it is bad: inference mode already turns off gradients. The second guard costs a little at every entry, and
readers look for the reason why it is there.

Example:

    with torch.no_grad(), torch.inference_mode():
        output = model(batch)

Use instead:

    with torch.inference_mode():
        output = model(batch)

Fix: safe: the guard is removed. Unsafe where that reindents more than 10 lines (`reindent-limit` in the
configuration): the program means the same, but the diff is long. Unsafe next to a comment about guards.

Not flagged: `inference_mode(flag)` and `inference_mode(False)`, with which `no_grad` matters; `no_grad` inside an
`enable_grad` or `set_grad_enabled` block inside the inference mode, or where `set_grad_enabled(True)` is called in
it.

Limits: only guards of the same function are compared: inference mode that every caller has on isn't seen.

References: c10/core/InferenceMode.h of torch 2.13 (inference mode sets grad mode to false).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from .. import guards
from ..analysis.project import Project
from ..facts import Facts, Form, Span
from ..facts.python_model import Kind, PythonFacts, PythonUse
from ..facts.spans import Sorted
from ..findings import Applicability, Finding, Severity
from ..guards import Effect, guards_with
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF407",
    "redundant-context-manager",
    group=RuleGroup.REDUNDANT,
    since="0.1.0",
    fix=RuleFix(Applicability.SAFE),
    severity=Severity.INFO,
    languages=("python",),
    odd_uses_only=True,
    guards=guards_with(Effect.INFERENCE),
    keeps_results=True,
)


@RULE.check_file
def redundant(facts: Facts, project: Project) -> Iterator[Finding]:
    python = facts.python
    if python is None:
        return
    inside: dict[int, list[PythonUse]] = defaultdict(list)
    beside: dict[Span, list[PythonUse]] = defaultdict(list)
    for use in filter(_is_on, python.uses):
        if use.use.form is Form.WITH and use.around:
            inside[use.around[-1]].append(use)
        if use.decorated is not None:
            beside[use.decorated.span].append(use)
    switched_on = Sorted(filter(_switches_on, python.uses), lambda use: use.use.span)
    for own, found in enumerate(python.uses):
        if found.use.guard != guards.NO_GRAD or found.use.form not in (Form.WITH, Form.DECORATOR):
            continue
        if found.use.form is Form.DECORATOR:
            inference = _on_same_function(found, beside)
        else:
            inference = _around(found, python, switched_on) or _directly_inside(found, inside[own])
        if inference is not None and found.called:
            where = (
                "the same function"
                if found.use.form is Form.DECORATOR
                else f"line {facts.row(inference.use.span.start)}"
            )
            message = (
                f"`{found.use.written}()` is redundant: `{inference.use.written}` of {where} already "
                "turns off gradients"
            )
            yield RULE.at(facts, found.call_span, message, use=found.use)


def _is_on(use: PythonUse) -> bool:
    if use.use.guard != guards.PYTHON_INFERENCE_MODE:
        return False
    if use.use.form is Form.DECORATOR and not use.called:
        return True
    return use.called and use.mode is True


def _on_same_function(found: PythonUse, beside: Mapping[Span, Sequence[PythonUse]]) -> PythonUse | None:
    if found.decorated is None or found.decorated.kind not in (Kind.FUNCTION, Kind.GENERATOR):
        return None
    return next(iter(beside.get(found.decorated.span, ())), None)


def _switches_on(use: PythonUse) -> bool:
    """Whether it switches gradients on without a block of its own."""
    return (
        use.use.guard in (guards.ENABLE_GRAD, guards.SET_GRAD_ENABLED)
        and use.use.form not in (Form.WITH, Form.DECORATOR)
        and use.mode is not False
    )


def _around(found: PythonUse, python: PythonFacts, switched_on: Sorted[PythonUse]) -> PythonUse | None:
    covering: PythonUse | None = None
    for index in found.around:
        use = python.uses[index]
        acts = use.decorated is None or use.decorated.kind in (Kind.FUNCTION, Kind.GENERATOR)
        if _is_on(use) and acts:
            # Of items of one `with` the block comes later.
            in_block = use.use.span != found.use.span and switched_on.first(use.use.scope) is not None
            covering = None if in_block else use
        elif use.use.guard in (guards.ENABLE_GRAD, guards.SET_GRAD_ENABLED, guards.PYTHON_INFERENCE_MODE):
            covering = None
    return covering


def _directly_inside(found: PythonUse, inside: Sequence[PythonUse]) -> PythonUse | None:
    """Of `with no_grad():` its only statement, or a later item."""
    return next((use for use in inside if use.use.span == found.use.span or use.sole), None)
