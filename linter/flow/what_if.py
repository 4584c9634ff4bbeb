"""What would happen if another guard stood in the place of one: the question of a fix."""

from __future__ import annotations

from collections import defaultdict

from ..analysis.project import Project
from ..answered_once import answered_once
from ..facts import Facts, Form, GuardUse
from ..guards import CPP, PYTHON, Effect
from .events import Event, EventKind
from .kept_runs import shown_by
from .project_events import as_told, events_in, use_of

_KNOWN = frozenset({*CPP, *PYTHON})


def events_instead(use: GuardUse, facts: Facts, project: Project, effect: Effect) -> list[Event]:
    """What a guard of this effect at this use newly brings about, certainly or possibly; in the order of the text.

    All guards of that name are run as such ones at once, and so are all classes and macros that stand for guards: many
    questions cost one run.
    """
    by_file = _new_events(project, use.guard if use.guard in _KNOWN else "", effect)
    mine = [event for event in by_file.get(facts.path, ()) if use_of(event, facts) is use]
    if use.form is Form.MEMBER and use.class_ is not None:
        # It acts where an object of the class is made.
        for where, mention in project.mentions_of(facts.classes[use.class_].name, facts):
            there = by_file.get(where.path, ())
            mine += [event for event in there if event.guard and event.guard.span.holds(mention.type_span)]
    return sorted(mine, key=lambda event: (event.path, event.span))


@answered_once
def _new_events(project: Project, name: str, effect: Effect) -> dict[str, list[Event]]:
    """By the guards' files, what comes about where all guards of that name have the effect; empty for all structs and
    macros."""
    names = {name} if name else {one.guard for file in project for one in file.guard_uses} - _KNOWN
    before = {(event.kind, event.path, event.span) for file in project for event in events_in(file, project)}
    found: dict[str, list[Event]] = defaultdict(list)
    for event in map(as_told, shown_by(project, dict.fromkeys(names, effect)).events):
        is_new = event.kind is not EventKind.MODEL_SHARED and (event.kind, event.path, event.span) not in before
        if is_new and event.guard is not None:
            found[event.guard.path].append(event)
    return found
