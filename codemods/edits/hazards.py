"""What an edit that brings InferenceMode says about tensors that leave its scope."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from guardfix.linter.analysis.inference_escapes import escape_hazards
from guardfix.linter.analysis.project import Project
from guardfix.linter.analysis.tensor_changes import Hazard
from guardfix.linter.facts import Facts, GuardUse
from guardfix.linter.flow.events import pytorch_says
from guardfix.linter.flow.what_if import events_instead
from guardfix.linter.guards import Effect

SHOWN = 3


def hazards_in_words(use: GuardUse, facts: Facts, project: Project) -> list[str]:
    """The first hazards of turning this use into InferenceMode, as doubts about the edit."""
    return in_sentences(escape_hazards(use, facts, project))


def in_sentences(hazards: Iterable[Hazard]) -> list[str]:
    """The first few hazards, each with the way out."""
    way_out = "clone it there, or move that code into the scope"
    return [
        f"`{hazard.variable}` becomes an inference tensor and is {hazard.what} at line {hazard.row}: {way_out}"
        for hazard in list(hazards)[:SHOWN]
    ]


def happenings_in_words(
    use: GuardUse, facts: Facts, project: Project, told: Collection[int] = frozenset()
) -> list[str]:
    """What an abstract run shows to go wrong with InferenceMode here, as doubts; `told` are rows of which is told."""
    found = []
    for event in events_instead(use, facts, project, Effect.INFERENCE):
        row = project.files[event.path].row(event.span.start)
        if event.path == facts.path and row in told:
            continue
        line = f"line {row}" if event.path == facts.path else f"{event.path}:{row}"
        subject = f"`{event.variable}`" if event.variable else "it"
        sure = "then raises" if event.certain else "may then raise"
        said = pytorch_says(event.kind)
        if said is not None:
            found.append(f'{line} {sure} "{said}", since {subject} is computed in inference mode')
        else:
            found.append(f"at {line} {subject} is computed in inference mode: {event.what}")
    return found[:SHOWN]
