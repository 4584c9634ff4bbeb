"""Guards that an `InferenceMode` makes redundant: it switches grad mode off itself (c10/core/InferenceMode.h)."""

from __future__ import annotations

from itertools import islice

from .. import guards
from ..answered_once import answered_once
from ..facts import Assignment, Call, Facts, Form, GuardUse, Span
from ..facts.index import index_of
from ..facts.spans import Sorted
from ..lazy_regex import lazy_regex
from .coverage import inference_mode_at, is_run_in_place
from .grad_switches import is_implied_by_inference_mode

_LOCAL = (Form.DECLARATION, Form.AUTO)


def _switches_grad_on(use: GuardUse) -> bool:
    """`AutoGradMode(true)`, `InferenceMode(false)`, and both with a value that is known at run time only."""
    if use.guard == "InferenceMode":
        return use.argument is not None and not use.argument.empty and use.argument.value is not True
    return use.guard == "AutoGradMode" and not is_implied_by_inference_mode(use)


@answered_once
def _switches_in(facts: Facts, scope: Span, forms: tuple[Form, ...]) -> list[GuardUse]:
    return [other for other in _switches(facts).within(scope) if other.form in forms]


@answered_once
def _switches(facts: Facts) -> Sorted[GuardUse]:
    others = (use for use in facts.guard_uses if use.guard != guards.LEGACY and _switches_grad_on(use))
    return Sorted(others, lambda use: use.type_span)


def sets_grad_mode_in(span: Span, facts: Facts) -> bool:
    """Whether `GradMode::set_enabled` is called there."""
    return _calls_of_set_enabled(facts).first(span) is not None


@answered_once
def _calls_of_set_enabled(facts: Facts) -> Sorted[Call]:
    return Sorted((call for call in facts.calls if call.name == "set_enabled"), lambda call: call.span)


def redundant_guards(use: GuardUse, facts: Facts, most: int | None = None) -> list[GuardUse]:
    """The guards beside `use`, and in the blocks below it, that do nothing once `use` is an InferenceMode; no more
    than `most`.

    A guard stays when something runs between it and the guard below it (that would lose its cover), when grad mode
    is switched on again around it, when a preprocessor condition parts the two, or when its name is used.
    """
    forms = (Form.MEMBER,) if use.form is Form.MEMBER else _LOCAL
    if use.form not in forms:
        return []
    switches = _switches_in(facts, use.scope, forms)
    if any(other.scope == use.scope and other.type_span != use.type_span for other in switches):
        return []
    if use.form is not Form.MEMBER and _may_switch_grad_on(use.scope, facts):
        return []
    if sets_grad_mode_in(use.scope, facts):
        return []
    gates = _gates(facts, use.span)
    redundant = (
        other
        for other in _implied(facts).within(use.scope)
        if other.form in forms
        and other.macro == use.macro
        and (_is_beside(other, use) or _is_inside(other, use, facts, switches))
        and _gates(facts, other.span) == gates
    )
    return list(islice(redundant, most))


@answered_once
def _implied(facts: Facts) -> Sorted[GuardUse]:
    """The guards that an InferenceMode implies and that can be taken out."""
    implied = (
        use
        for use in facts.guard_uses
        if is_implied_by_inference_mode(use) and not use.shared and not use.under_error and len(use.variable_spans) <= 1
    )
    return Sorted(implied, lambda use: use.type_span)


def inference_mode_in_force(use: GuardUse, facts: Facts) -> GuardUse | None:
    """The InferenceMode, surely on, whose scope covers all that `use` covers."""
    if use.form not in _LOCAL:
        return None
    around = inference_mode_at(facts, use.span, use.function)
    beside = (
        other
        for other in index_of(facts).others.within(use.scope)
        if other.guard == guards.INFERENCE_MODE and other.form in _LOCAL and _is_beside(use, other)
    )
    for other in (around, *beside):
        if (
            other is not None
            and not _switches_grad_on(other)
            and not other.under_error
            and other.macro is None
            and _gates(facts, other.span) == _gates(facts, use.span)
        ):
            return other
    return None


_SWITCHES = lazy_regex(r"(?i)grad|train")


def _may_switch_grad_on(scope: Span, facts: Facts) -> bool:
    """Whether the scope holds an optional `AutoGradMode`, or an object that may be one: `EnableGrad on;`."""
    return any(places.first(scope) is not None for places in _possible_switches(facts))


@answered_once
def _possible_switches(facts: Facts) -> tuple[Sorted[Span], Sorted[Span]]:
    late = (Form.OPTIONAL, Form.HEAP, Form.STATIC)
    uses = (u.type_span for u in facts.guard_uses if u.form in late and u.guard in ("AutoGradMode", "InferenceMode"))
    objects = (given.span for given in facts.assignments if given.builds and _may_switch(given))
    return Sorted(uses, lambda span: span), Sorted(objects, lambda span: span)


def _may_switch(built: Assignment) -> bool:
    name = built.type.last if built.type is not None else ""
    return _SWITCHES.search(name) is not None and name not in guards.CPP


def _is_beside(other: GuardUse, use: GuardUse) -> bool:
    if other.scope != use.scope or other.type_span == use.type_span:
        return False
    if use.form is Form.MEMBER or other.span.start > use.span.start:
        return True
    return other.first_work is None or other.first_work.start >= use.span.start


def _is_inside(other: GuardUse, use: GuardUse, facts: Facts, switches: list[GuardUse]) -> bool:
    """Whether the guard is in a block below `use`, with grad mode still off there."""
    return (
        use.form is not Form.MEMBER
        and use.live.holds(other.span)
        and other.scope != use.scope
        and is_run_in_place(other.function, use.function, facts)
        and not any(use.live.holds(switch.span) and switch.live.holds(other.span) for switch in switches)
    )


@answered_once
def _gates(facts: Facts, span: Span) -> list[Span]:
    return [branch.span for _, branch in index_of(facts).branches.around(span)]
