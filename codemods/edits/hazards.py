"""What an edit that brings another guard says about what the program then does, as abstract runs show it."""

from __future__ import annotations

from collections.abc import Iterator

from guardfix.linter import guards
from guardfix.linter.analysis.kept_globals import changed_globals
from guardfix.linter.analysis.project import Project
from guardfix.linter.facts import Facts, GuardUse
from guardfix.linter.flow.events import Event, EventKind, pytorch_says
from guardfix.linter.flow.what_if import events_instead
from guardfix.linter.guards import Effect

_SHOWN = 3
_UNNOTICED = frozenset({EventKind.UNCOUNTED_WRITE, EventKind.UNTRACKED_VIEW})
"""What the old guard counts and tracks since torch 1.9, and the one for kernels does not."""


def hazards_in_words(use: GuardUse, facts: Facts, project: Project) -> list[str]:
    """What goes wrong with InferenceMode here, as doubts about the edit."""
    events = (event for event in events_instead(use, facts, project, Effect.INFERENCE) if event.kind not in _UNNOTICED)
    found = [_hazard(event, _place(event, facts, project)) for event in events]
    for name, call in changed_globals(use, facts) if facts.language == "cpp" else ():
        line = f"line {facts.row(call.span.start)}"
        found.append(f"`{name}` becomes an inference tensor and is changed in place at {line}: clone it there")
    return list(dict.fromkeys(found))[:_SHOWN]


def _hazard(event: Event, line: str) -> str:
    subject = f"`{event.variable}`" if event.variable else "it"
    sure = "then raises" if event.certain else "may then raise"
    said = pytorch_says(event.kind)
    if said is not None:
        why = f"since {subject} is computed in inference mode: clone it there, or move that code into the scope"
        return f'{line} {sure} "{said}", {why}'
    return f"at {line} {subject} is computed in inference mode: {event.what}"


def uncounted_in_words(use: GuardUse, facts: Facts, project: Project) -> list[str]:
    """Writes to tensors from outside, and views of them that are given back, below the guard for kernels here."""
    return list(dict.fromkeys(_unnoticed(use, facts, project)))[:_SHOWN]


def _unnoticed(use: GuardUse, facts: Facts, project: Project) -> Iterator[str]:
    for event in events_instead(use, facts, project, Effect.BELOW_ADINPLACEORVIEW):
        if event.kind in _UNNOTICED:
            yield (
                f"{event.what} at {_place(event, facts, project)}, which autograd doesn't notice anymore, as it has "
                f"since torch 1.9: if it has to, use {guards.BELOW_AUTOGRAD}"
            )


def _place(event: Event, facts: Facts, project: Project) -> str:
    row = project.files[event.path].row(event.span.start)
    return f"line {row}" if event.path == facts.path else f"{event.path}:{row}"
