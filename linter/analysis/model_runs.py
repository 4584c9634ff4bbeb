"""Where a file loads models and runs them. A function may hold many guards: what it says is found once."""

from __future__ import annotations

from functools import lru_cache

from ..facts import Call, Facts, Span
from ..facts.expressions import MemberAccess, nodes_of, simple_name
from ..facts.index import index_of
from .calls import is_load, is_run


@lru_cache(maxsize=64)
def first_run_in(facts: Facts, span: Span) -> Call | None:
    return next(filter(is_run, index_of(facts).calls.within(span)), None)


@lru_cache(maxsize=64)
def first_load_in(facts: Facts, span: Span) -> Call | None:
    return next(filter(is_load, index_of(facts).calls.within(span)), None)


@lru_cache(maxsize=64)
def first_load(facts: Facts) -> Call | None:
    return next(filter(is_load, facts.calls), None)


def runs_held_method(call: Call, facts: Facts, around: Span) -> bool:
    """`auto decode = module.get_method("decode"); … decode(inputs)`: a model's method that a variable holds."""
    held = simple_name(call.receiver if call.name in ("operator()", "run") else call.called)
    return bool(held) and held in _held_methods(facts, around)


@lru_cache(maxsize=64)
def _held_methods(facts: Facts, span: Span) -> frozenset[str]:
    """The variables that are given a model's method there."""
    return frozenset(
        assignment.variable
        for assignment in index_of(facts).assignments.within(span)
        if any(
            isinstance(node, MemberAccess) and node.name in ("get_method", "find_method")
            for node in nodes_of(assignment.value)
        )
    )
