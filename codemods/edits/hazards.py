"""What an edit that brings InferenceMode says about tensors that leave its scope."""

from __future__ import annotations

from collections.abc import Iterable

from guardfix.linter.analysis.inference_escapes import escape_hazards
from guardfix.linter.analysis.project import Project
from guardfix.linter.analysis.tensor_changes import Hazard
from guardfix.linter.facts import Facts, GuardUse

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
