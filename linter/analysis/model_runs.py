"""Where a file loads models and runs them. A function may hold many guards: what it says is found once."""

from __future__ import annotations

import re
from functools import lru_cache

from ..facts import Call, Facts, Span
from ..facts.index import index_of
from .calls import is_load, is_run

_METHOD_OF_A_MODULE = re.compile(r"(?:\.|->)(?:get_method|find_method)\(")


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
    name = call.receiver if call.name in ("operator()", "run") else call.callee
    return name in _held_methods(facts, around)


@lru_cache(maxsize=64)
def _held_methods(facts: Facts, span: Span) -> frozenset[str]:
    """The variables that are given a model's method there."""
    return frozenset(
        assignment.target
        for assignment in index_of(facts).assignments.within(span)
        if _METHOD_OF_A_MODULE.search(assignment.value) is not None
    )
