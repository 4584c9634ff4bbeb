"""What a person declared a use to be for: a comment at the use counts more than a pattern of the configuration."""

from __future__ import annotations

from ..answered_once import answered_once
from ..facts import Facts, GuardUse
from ..facts.intents import Intent, Purpose
from ..named_tuples import NamedTuple
from .project import Project


class DeclaredPurpose(NamedTuple):
    """A purpose, and the place that declares it."""

    purpose: Purpose
    words: str
    """The place in words: `` a comment``, `` `src/**` in pyproject.toml``."""
    where: Facts
    offset: int


def declared_purpose(use: GuardUse, facts: Facts, project: Project) -> DeclaredPurpose | None:
    """What the use is declared to be for; None if that wasn't declared."""
    comment = intent_at(use, facts)
    if comment is not None:
        return DeclaredPurpose(comment.purpose, "a comment", facts, comment.span.start)
    configured = project.intents.declared(facts.path)
    if configured is None:
        return None
    words = f"the configuration, for `{configured.pattern}`"
    return DeclaredPurpose(configured.purpose, words, configured.where, configured.offset)


def is_declared_for_kernels(use: GuardUse, facts: Facts, project: Project) -> bool:
    """Whether a person said that a guard made for kernels is meant to be there."""
    said = declared_purpose(use, facts, project)
    return said is not None and said.purpose.is_of_kernels


def intent_at(use: GuardUse, facts: Facts) -> Intent | None:
    """The comment that declares what the use is for."""
    if not facts.intents:
        return None
    rows = facts.rows(use.type_span if use.span.end - use.span.start > _LONG else use.span)
    by_row = _intents_by_row(facts)
    first = min((by_row[row] for row in rows if row in by_row), default=None)
    return facts.intents[first] if first is not None else None


@answered_once
def _intents_by_row(facts: Facts) -> dict[int, int]:
    """The number of the first declaration that is about a row."""
    found: dict[int, int] = {}
    covered = 0
    for number, intent in enumerate(facts.intents):  # by where they begin
        found |= dict.fromkeys(range(max(covered, intent.rows.start), intent.rows.stop), number)
        covered = max(covered, intent.rows.stop)
    return found


_LONG = 2000
"""A declaration of more bytes holds a function's body, in which other guards may be."""
