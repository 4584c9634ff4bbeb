"""What a C++ guard covers, as statements: those behind it, up to the end of its block."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..facts import Facts, GuardUse
from ..facts.bodies import AnyStatement, Body
from ..facts.statement_walk import blocks_of


def covered_statements(use: GuardUse, facts: Facts) -> tuple[Body, Sequence[AnyStatement]] | None:
    """The statements behind the guard in its block, and the body that they stand in; None where they weren't read."""
    body = _bodies_by_function(facts).get(use.function) if use.function is not None else None
    if body is None or not body.is_read:
        return None
    behind = _behind(body.statements, use)
    return (body, behind) if behind is not None else None


def _behind(statements: Sequence[AnyStatement], use: GuardUse) -> Sequence[AnyStatement] | None:
    waiting = [statements]
    while waiting:
        block = waiting.pop()
        for index, statement in enumerate(block):
            inner = [part for part in blocks_of(statement) if part]
            if not inner and statement.span.holds(use.type_span):
                return block[index + 1 :]
            waiting += inner
    return None


@lru_cache(maxsize=16)
def _bodies_by_function(facts: Facts) -> dict[int | None, Body]:
    found: dict[int | None, Body] = {}
    waiting = list(facts.bodies)
    while waiting:
        body = waiting.pop()
        found.setdefault(body.function, body)
        waiting += body.inner
    return found
