"""The events of a project, shown once however many rules ask."""

from __future__ import annotations

from collections import defaultdict

from ..analysis.project import Project
from ..facts import Facts, GuardUse, Span
from ..facts.index import index_of
from ..findings import StepTaken
from .events import Event


class _Shown:
    """What the abstract run of a project has shown, by file."""

    def __init__(self) -> None:
        self.events: dict[str, list[Event]] | None = None
        self.unfinished: list[tuple[str, Span]] = []


def events_in(facts: Facts, project: Project) -> list[Event]:
    """What happens in a file, certainly or possibly, in the order of its text."""
    if not facts.bodies:
        return []
    shown = project.memory(_Shown)
    if shown.events is None:
        from .kept_runs import shown_by

        shown.events = defaultdict(list)
        run = shown_by(project)
        shown.unfinished += run.unfinished
        for event in map(as_told, run.events):
            shown.events[event.path].append(event)
        for events in shown.events.values():
            events.sort(key=lambda event: event.span)
    return shown.events.get(facts.path, [])


def as_told(event: Event) -> Event:
    """The event where a reader looks for it: at what brings it about."""
    cause = event.brought_by
    if cause is None:
        return event
    if cause not in event.steps:  # a call
        steps = (*event.steps[:-1], cause, *event.steps[-1:])
        event = event._replace(steps=steps, what=f"{event.what}, in {cause.message.removeprefix('calls ')}")
    return event._replace(path=cause.path, span=cause.span)


def unfinished_in(project: Project) -> list[tuple[str, Span]]:
    """The functions and modules that were too long to be followed to the end; nothing is reported about the rest."""
    return project.memory(_Shown).unfinished


def story_of(event: Event, project: Project) -> tuple[StepTaken, ...]:
    """The steps of an event as a finding has them."""
    return tuple(
        StepTaken(step.message, step.path, step.span.start, project.files[step.path].row(step.span.start))
        for step in event.steps
    )


def use_of(event: Event, facts: Facts) -> GuardUse | None:
    """The guard that brings an event about, where it is in the same file."""
    if event.guard is None or event.guard.path != facts.path:
        return None
    return index_of(facts).uses.first(event.guard.span)
