"""Code that other threads run: guards are set again there, because threads do not inherit them."""

from __future__ import annotations

from ..facts import Facts, Function, GuardUse, Span
from ..facts.expressions import last_name
from .thread_starters import PARALLEL


def is_in_parallel_region(use: GuardUse, facts: Facts) -> bool:
    """Whether the guard is in a lambda given to `at::parallel_for` and the like, or in an OpenMP block."""
    return parallel_lambda(facts.enclosing(use.function)) is not None or any(
        region.holds(use.span) for region in facts.parallel_blocks
    )


def parallel_lambda(chain: tuple[Function, ...]) -> Function | None:
    """The innermost lambda around a place that other threads run."""
    return next((f for f in chain if f.is_lambda and last_name(f.passed_to) in PARALLEL), None)


def are_in_one_region(use: GuardUse, other: GuardUse, facts: Facts) -> bool:
    """Whether both guards were set again for the same threads."""
    found = parallel_lambda(facts.enclosing(use.function))
    regions: list[Span] = [found.span] if found is not None else []
    regions += [region for region in facts.parallel_blocks if region.holds(use.span)]
    return any(region.holds(other.span) for region in regions)
