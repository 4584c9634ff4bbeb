"""Which places an alias of a guard means: a file may have several of one name, each in its own namespace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from ..facts import Facts, Form, GuardUse, Span
from ..facts.index import index_of
from .project import Project


def mentions_of_wrapper(use: GuardUse, name: str, facts: Facts, project: Project) -> list[tuple[Facts, GuardUse]]:
    """The places that name the class or alias. Of several aliases of one name, each has those in its own scope."""
    scopes = _alias_scopes(facts).get(name, ()) if use.form is Form.ALIAS else ()
    if len(scopes) < 2:
        return project.mentions_of(name, facts)
    within = index_of(facts).uses.within(use.scope)
    own = [(facts, other) for other in within if other.alias == name and other.form not in (Form.USING, Form.ALIAS)]
    return own + _mentions_outside(name, scopes, facts, project)


@lru_cache(maxsize=64)
def _alias_scopes(facts: Facts) -> dict[str, list[Span]]:
    """By name, where each alias of a guard is known."""
    found: dict[str, list[Span]] = defaultdict(list)
    names = index_of(facts).alias_names
    for use in facts.guard_uses:
        if use.form is Form.ALIAS and use.span in names:
            found[names[use.span]].append(use.scope)
    return found


class _OutsideScopes(dict[tuple[str, str], list[tuple[Facts, GuardUse]]]):
    """By path and name: the places that name an alias outside of the scopes that it has in the file."""


def _mentions_outside(
    name: str, scopes: Iterable[Span], facts: Facts, project: Project
) -> list[tuple[Facts, GuardUse]]:
    """In other files, and in this one where another namespace names it."""
    known = project.memory(_OutsideScopes)
    key = facts.path, name
    if key not in known:
        uses = index_of(facts).uses
        inside = {use.type_span for scope in scopes for use in uses.within(scope)}
        known[key] = [
            (where, use)
            for where, use in project.mentions_of(name, facts)
            if where is not facts or use.type_span not in inside
        ]
    return known[key]
