"""What would happen if another guard stood in the place of one: the question of a fix."""

from __future__ import annotations

from collections import defaultdict

from ..analysis.project import Project
from ..facts import Facts, Form, GuardUse
from ..guards import CPP, PYTHON, Effect
from .events import Event, EventKind
from .project_events import events_in, use_of
from .running import run_flow


class _Answers:
    """What a project has answered, by what stands for which guard: the events of each file."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, Effect], dict[str, list[Event]]] = {}


_KNOWN = frozenset({*CPP, *PYTHON})


def events_instead(use: GuardUse, facts: Facts, project: Project, effect: Effect) -> list[Event]:
    """What a guard of this effect at this use newly brings about, certainly or possibly; in the order of the text.

    All guards of that name are run as such ones at once, and so are all classes and macros that stand for guards: many
    questions cost one run.
    """
    answers = project.memory(_Answers).of
    name = use.guard if use.guard in _KNOWN else ""
    known = answers.get((name, effect))
    if known is None:
        known = answers[name, effect] = defaultdict(list)
        names = {name} if name else {one.guard for file in project for one in file.guard_uses} - _KNOWN
        before = {(event.kind, event.path, event.span) for file in project for event in events_in(file, project)}
        for event in run_flow(project, instead=dict.fromkeys(names, effect)).events.values():
            is_new = event.kind is not EventKind.MODEL_SHARED and (event.kind, event.path, event.span) not in before
            if is_new and event.guard is not None:
                known[event.guard.path].append(event)
    mine = [event for event in known[facts.path] if use_of(event, facts) is use]
    if use.form is Form.MEMBER and use.class_ is not None:
        # It acts where an object of the class is made.
        for where, mention in project.mentions_of(facts.classes[use.class_].name, facts):
            mine += [event for event in known[where.path] if event.guard and event.guard.span.holds(mention.type_span)]
    return sorted(mine, key=lambda event: (event.path, event.span))
