"""What the old guard does in a text, and what the text does with a guard in its place: derived by the abstract machine,
without a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from guardfix.foreign_text import printable
from guardfix.linter.analysis.project import Project
from guardfix.linter.facts.spans import Span
from guardfix.linter.flow.events import pytorch_says
from guardfix.linter.flow.machine import Machine
from guardfix.linter.flow.program import ProjectCode
from guardfix.linter.flow.running import run_flow
from guardfix.linter.flow.values import Modes, Traced
from guardfix.linter.guards import LEGACY, Effect


@dataclass(frozen=True)
class OfferedGuard:
    """A meaning that the old guard may have, or a guard that may take its place."""

    title: str
    when: str
    project: Project
    """The text with this guard."""
    place_before: Callable[[int], int]
    """The corresponding place in the original text."""
    guard: str
    effect: Effect
    line: str = ""
    """Its replacement; empty if it stays."""


def old_guard_meanings(project: Project) -> list[OfferedGuard]:
    """What the old guard is where it stays."""
    meanings = (
        ("as it is, torch < 1.9", "it hides Autograd, views and versions", Effect.BELOW_ADINPLACEORVIEW),
        ("as it is, torch ≥ 1.9", "it hides Autograd alone", Effect.BELOW_AUTOGRAD),
    )
    return [OfferedGuard(title, when, project, lambda place: place, LEGACY, effect) for title, when, effect in meanings]


_MOST_STEPS = 12


class _Watching(Machine):
    """Keeps what computes."""

    def __init__(self, program: ProjectCode) -> None:
        super().__init__(program)
        self.traced = []


def shown_choices(choices: Iterable[OfferedGuard], project: Project) -> list[dict[str, Any]]:
    """The choices, each with what computes under it and what it brings about; steps are marked where choices differ.

    Rows are those of `project`, which has the text as it is.
    """
    shown = [_shown_choice(choice, project) for choice in choices]
    texts: defaultdict[tuple[int, str], set[str]] = defaultdict(set)
    for row, what, said in (step for one in shown for step in one["trace"]):
        texts[row, what].add(said)
    for one in shown:
        one["trace"] = [(row, what, said, len(texts[row, what]) > 1) for row, what, said in one["trace"]]
    return shown


def _shown_choice(choice: OfferedGuard, project: Project) -> dict[str, Any]:
    machine = run_flow(choice.project, {choice.guard: choice.effect}, _Watching)
    assert machine.traced is not None

    def row(path: str, span: Span) -> int:
        return project.files[path].row(choice.place_before(span.start))

    events = sorted(
        (event for event in machine.events.values() if event.guard is not None), key=lambda event: event.span
    )
    steps = list(dict.fromkeys(_steps(machine.traced, row)))
    return {
        "title": choice.title,
        "when": choice.when,
        "line": printable(choice.line),
        "events": [
            {
                "row": row(event.path, event.span),
                "certain": event.certain,
                "message": printable(str(event.kind)),
                "raises": pytorch_says(event.kind) if event.certain else None,
                "steps": [f"line {row(step.path, step.span)}: {printable(step.message)}" for step in event.steps],
            }
            for event in events
        ],
        "trace": steps[:_MOST_STEPS],
        "left_out": max(0, len(steps) - _MOST_STEPS),
    }


def _steps(traced: list[Traced], row: Callable[[str, Span], int]) -> Iterator[tuple[int, str, str]]:
    """(row, what computes, what becomes of it)."""
    for one in traced:
        said = ", ".join(_told(one, one.modes))
        yield row(one.step.path, one.step.span), printable(one.step.message.strip("`")), said


def _told(one: Traced, modes: Modes) -> Iterator[str]:
    yield {True: "autograd on", False: "autograd off", None: "autograd perhaps on"}[modes.records]
    if one.op is None:
        return
    if one.op.writes:
        yield "version not counted" if modes.below_view else "version counted"
    kinds = {kind.partition(":")[0] for kind in one.op.results}
    if "new" in kinds:
        yield "gives an inference tensor" if modes.inference else "gives a normal tensor"
    elif kinds & {"view", "views"}:
        yield "view not tracked" if modes.below_view else "view tracked"
