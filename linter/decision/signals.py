"""What speaks for a context: one reason each, with its weight and its place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ..analysis.project import Project
from ..facts import Call, Facts, Function, GuardUse, Span
from ..facts.index import index_of
from ..findings import Context, Evidence


class Weight(IntEnum):
    """How much a signal counts. Measured on labelled uses: a decisive one stood beside one label only."""

    NOTE = 0
    WEAK = 1
    MODERATE = 2
    STRONG = 3
    DECISIVE = 6


@dataclass(frozen=True, slots=True)
class Signal:
    context: Context
    weight: Weight
    message: str
    path: str
    offset: int
    row: int

    def evidence(self) -> Evidence:
        return Evidence(self.message, self.path, self.offset, self.row, self.context)


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a use stands: what the signals look at."""

    project: Project
    facts: Facts
    use: GuardUse
    chain: tuple[Function, ...]
    """The functions around the use, innermost first."""

    def signal(self, context: Context, weight: Weight, message: str, offset: int, facts: Facts | None = None) -> Signal:
        facts = facts or self.facts
        if facts.language == "python":
            message = message.replace("::", ".").replace("Function<>", "Function")
        return Signal(context, weight, message, facts.path, offset, facts.row(offset))

    @property
    def outermost(self) -> Function | None:
        return self.chain[-1] if self.chain else None

    def calls_in(self, span: Span) -> list[Call]:
        return list(index_of(self.facts).calls.within(span))

    def calls_below(self) -> list[Call]:
        """Calls that the guard covers. At namespace scope it covers none: other functions' code is not below it."""
        outside = not self.chain and self.facts.language == "cpp" and self.use.macro is None
        return [] if outside else self.calls_in(self.use.live)

    def neighbours(self) -> list[GuardUse]:
        """Other kinds of guards declared in the same block, or members of the same class."""
        return [
            other
            for other in index_of(self.facts).neighbours.get(self.use.scope, ())
            if other.type_span != self.use.type_span
        ]


def scene_of(project: Project, facts: Facts, use: GuardUse) -> Scene:
    return Scene(project, facts, use, facts.enclosing(use.function))
