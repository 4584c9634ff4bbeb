"""What would happen if another guard stood in the place of one: the question of a fix."""

from __future__ import annotations

from ..analysis.project import Project
from ..facts import Facts, GuardUse
from ..guards import Effect
from .events import Event
from .project_events import events_in
from .running import run_program


class _Asked:
    """The answers that a project has given."""

    def __init__(self) -> None:
        self.answers: dict[tuple[object, ...], list[Event]] = {}


def events_instead(use: GuardUse, facts: Facts, project: Project, effect: Effect) -> list[Event]:
    """What happens newly, certainly or possibly, with a guard of this effect at this use; in the order of the text."""
    asked = project.memory(_Asked)
    key = (facts.path, use.type_span, effect)
    known = asked.answers.get(key)
    if known is None:
        machine = run_program(project, instead={(facts.path, use.type_span): (use.guard, effect)})
        before = {(event.kind, event.path, event.span) for file in project for event in events_in(file, project)}
        known = [
            event for place, event in sorted(machine.events.items(), key=lambda one: one[0][1:]) if place not in before
        ]
        asked.answers[key] = known
    return known
