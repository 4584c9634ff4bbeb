"""Which places an alias of a guard means: a file may have several of one name, each in its own namespace."""

from __future__ import annotations

from collections import defaultdict

from ..answered_once import answered_once
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
    return own + _mentions_outside(project, facts, name)


@answered_once
def _alias_scopes(facts: Facts) -> dict[str, list[Span]]:
    """By name, where each alias of a guard is known."""
    found: dict[str, list[Span]] = defaultdict(list)
    names = index_of(facts).alias_names
    for use in facts.guard_uses:
        if use.form is Form.ALIAS and use.span in names:
            found[names[use.span]].append(use.scope)
    return found


@answered_once
def _mentions_outside(project: Project, facts: Facts, name: str) -> list[tuple[Facts, GuardUse]]:
    """The places outside the scopes of the file's aliases of that name: in other files, or in another namespace."""
    uses = index_of(facts).uses
    inside = {use.type_span for scope in _alias_scopes(facts)[name] for use in uses.within(scope)}
    return [
        (where, use)
        for where, use in project.mentions_of(name, facts)
        if where is not facts or use.type_span not in inside
    ]
