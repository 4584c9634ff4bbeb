"""What a C++ guard covers, as statements: those after it, up to the end of its block."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from ..answered_once import answered_once
from ..facts import Facts, GuardUse
from ..facts.bodies import AnyStatement, Body
from ..facts.statement_walk import blocks_of, bodies_of
from ..named_tuples import NamedTuple


def covered_statements(use: GuardUse, facts: Facts) -> tuple[Body, Sequence[AnyStatement]] | None:
    """The statements after the guard in its block, and the body that they are in; None where they weren't read."""
    body = _bodies_by_function(facts).get(use.function) if use.function is not None else None
    if body is None or not body.is_read:
        return None
    after = _behind(use, facts)
    return (body, after) if after is not None else None


def _behind(use: GuardUse, facts: Facts) -> Sequence[AnyStatement] | None:
    places = _places(facts)[use.function]
    position = bisect_right(places, use.type_span.start, key=lambda place: place.statement.span.start) - 1
    if position < 0 or not places[position].statement.span.holds(use.type_span):
        return None
    return places[position].block[places[position].position + 1 :]


class _Placed(NamedTuple):
    """A statement without blocks, and where it is in the block around it."""

    statement: AnyStatement
    block: Sequence[AnyStatement]
    position: int


@answered_once
def _places(facts: Facts) -> dict[int | None, list[_Placed]]:
    """The statements without blocks of each function, in the order of the text."""
    found: dict[int | None, list[_Placed]] = {}
    for function, body in _bodies_by_function(facts).items():
        placed = found[function] = []
        waiting: list[Sequence[AnyStatement]] = [body.statements]
        while waiting:
            block = waiting.pop()
            for index, statement in enumerate(block):
                inner = [part for part in blocks_of(statement) if part]
                if not inner:
                    placed.append(_Placed(statement, block, index))
                waiting += inner
        placed.sort(key=lambda place: place.statement.span.start)
    return found


@answered_once
def _bodies_by_function(facts: Facts) -> dict[int | None, Body]:
    found: dict[int | None, Body] = {}
    for body in bodies_of(facts):
        found.setdefault(body.function, body)
    return found
