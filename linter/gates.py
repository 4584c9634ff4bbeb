"""Guards in the branches of an `#if`: which branch holds the old guard, which the new one."""

from __future__ import annotations

from collections.abc import Iterator

from . import guards
from .facts import Branch, Conditional, Facts, GuardUse

NEW_GUARDS = frozenset({guards.INFERENCE_MODE, guards.BELOW_AUTOGRAD, guards.BELOW_ADINPLACEORVIEW})


def uses_in(branch: Branch, facts: Facts) -> list[GuardUse]:
    return [use for use in facts.guard_uses if branch.span.holds(use.type_span)]


def gates_around(use: GuardUse, facts: Facts) -> Iterator[tuple[Conditional, Branch]]:
    """The `#if`s around a use, innermost first, each with the branch in which it stands."""
    for conditional in facts.conditionals:
        for branch in conditional.branches:
            if branch.span.holds(use.type_span):
                yield conditional, branch


def has_new_counterpart(use: GuardUse, facts: Facts) -> bool:
    """Whether another branch of an `#if` around the use holds a new guard: then the old one is deliberate."""
    return any(
        other.guard in NEW_GUARDS
        for conditional, own in gates_around(use, facts)
        for branch in conditional.branches
        if branch is not own
        for other in uses_in(branch, facts)
    )
