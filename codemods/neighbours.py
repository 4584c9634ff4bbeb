"""Guards beside an `InferenceMode` that it makes redundant."""

from __future__ import annotations

from ..linter.facts import Facts, Form, GuardUse, Span


def switches_grad_off(use: GuardUse) -> bool:
    """`NoGradGuard`, or `AutoGradMode` with a literal false: implied by InferenceMode."""
    if use.guard == "NoGradGuard":
        return use.argument is None or use.argument.empty
    return use.guard == "AutoGradMode" and use.argument is not None and use.argument.value is False


def redundant_neighbours(use: GuardUse, facts: Facts) -> list[Span]:
    """The statements of the same scope that go when `use` becomes InferenceMode.

    A neighbour stays when something is computed between it and the guard (that would lose its cover), when
    grad mode is switched on again in the scope, when a preprocessor condition parts them, or when its
    name is used.
    """
    forms = (Form.MEMBER,) if use.form is Form.MEMBER else (Form.DECLARATION, Form.AUTO)
    if use.form not in forms:
        return []
    beside = [
        other
        for other in facts.guard_uses
        if other.scope == use.scope and other.form in forms and other.type_span != use.type_span
    ]
    if any(other.guard in ("AutoGradMode", "InferenceMode") and not switches_grad_off(other) for other in beside):
        return []
    return [
        other.span
        for other in beside
        if switches_grad_off(other)
        and not other.shared
        and not other.under_error
        and other.macro == use.macro
        and len(other.variable_spans) <= 1
        and _gates(other.span, facts) == _gates(use.span, facts)
        and (use.form is Form.MEMBER or not _computed_between(other, use, facts))
    ]


def _gates(span: Span, facts: Facts) -> list[Span]:
    return [
        branch.span for conditional in facts.conditionals for branch in conditional.branches if branch.span.holds(span)
    ]


def _computed_between(first: GuardUse, second: GuardUse, facts: Facts) -> bool:
    """Whether a call stands between a neighbour and the guard below it."""
    between = Span(first.span.end, second.span.start)
    return any(between.holds(call.span) for call in facts.calls)
