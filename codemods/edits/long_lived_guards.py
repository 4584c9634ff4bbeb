"""Guards that are put into what outlives a block: who holds a guard and who makes it must change together."""

from __future__ import annotations

from functools import lru_cache

from guardfix.linter import guards
from guardfix.linter.analysis.project import Project
from guardfix.linter.decision import decide
from guardfix.linter.facts import Facts, Form, GuardUse
from guardfix.linter.facts.index import index_of

from ..site import Site


def is_held_by_what_stays(site: Site) -> bool:
    """Whether the edit would give a guard to a pointer of another type: a half that is not edited, or otherwise."""
    use = site.use
    beside = index_of(site.facts).uses.within(use.span)
    if any(other.form is Form.REFERENCE and other.guard == guards.LEGACY for other in beside):
        return True  # `at::G* guard = new at::G(true);`: who else is given the pointer is not known
    if _is_local(use) or _goes_into_a_local(use, site.facts):
        return False
    held = [
        (facts, other)
        for facts, other in _held_for_long(site.project)
        # What is made goes into what is declared; two things that are declared have nothing to do with each other.
        if _is_declaration(use) != _is_declaration(other) and other.alias == use.alias and _may_hold(use, other)
    ]
    return any(
        other.form is Form.REFERENCE or decide(other, facts, site.project).context is not site.decision.context
        for facts, other in held
    )


def _is_local(use: GuardUse) -> bool:
    """Whether a variable of the same block holds the guard."""
    return use.holder is not None and use.holder.declared and use.function is not None


def _goes_into_a_local(use: GuardUse, facts: Facts) -> bool:
    """`later.reset(new at::G(true));` where `later` is declared in a block around."""
    if use.function is None or use.holder is None or not use.holder.name:
        return False
    around = index_of(facts).uses.within(facts.enclosing(use.function)[-1].span)
    return any(
        _is_local(other) and other.holder is not None and other.holder.name == use.holder.name
        for other in around
        if other.scope.holds(use.span)
    )


def _may_hold(use: GuardUse, other: GuardUse) -> bool:
    """Whether one may be put into the other: they go by one name, or by none that is known."""
    names = {held.holder.last for held in (use, other) if held.holder and held.holder.name}
    return len(names) < 2


def _is_declaration(use: GuardUse) -> bool:
    """Whether the guard is named as the type of what holds it, and not where it is made."""
    return use.form is Form.REFERENCE or (use.holder is not None and use.holder.declared)


@lru_cache(maxsize=4)
def _held_for_long(project: Project) -> tuple[tuple[Facts, GuardUse], ...]:
    """Where, in any file, the old guard is put into what outlives a block: members, globals, what makes them."""
    return tuple(
        (facts, use)
        for facts in project
        for use in facts.guard_uses
        if use.guard == guards.LEGACY
        and (
            (use.form in (Form.HEAP, Form.OPTIONAL) and not _is_local(use))
            or (use.form is Form.REFERENCE and use.function is None)
        )
    )
