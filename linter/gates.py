"""Guards in the branches of an `#if`: which branch holds the old guard, which the new one."""

from __future__ import annotations

from collections.abc import Iterator

from . import guards
from .facts import Branch, Conditional, Facts, Form, GuardUse
from .places import places_of
from .project import Project

NEW_GUARDS = frozenset({guards.INFERENCE_MODE, guards.BELOW_AUTOGRAD, guards.BELOW_ADINPLACEORVIEW})


def uses_in(branch: Branch, facts: Facts) -> list[GuardUse]:
    return list(places_of(facts).uses.within(branch.span))


def gates_around(use: GuardUse, facts: Facts) -> Iterator[tuple[Conditional, Branch]]:
    """The `#if`s around a use, innermost first, each with the branch in which it stands."""
    return places_of(facts).branches.around(use.type_span)


def _names(use: GuardUse, alias: str, facts: Facts) -> bool:
    """Whether the alias declaration at `use` gives this name."""
    return any(given.span == use.span and given.name == alias for given in facts.aliases)


def has_new_counterpart(use: GuardUse, facts: Facts, project: Project) -> bool:
    """Whether another branch of an `#if` around the use holds a new guard: then the old one is deliberate.

    A use through an alias is as deliberate as the alias.
    """
    if use.alias is not None:
        return any(
            has_new_counterpart(other, where, project)
            for where in project
            for other in where.guard_uses
            if other.form is Form.ALIAS and _names(other, use.alias, where)
        )
    return any(
        other.guard in NEW_GUARDS
        for conditional, own in gates_around(use, facts)
        for branch in conditional.branches
        if branch is not own
        for other in uses_in(branch, facts)
    )
