"""A use with what stands around it: what the signals look at."""

from __future__ import annotations

from dataclasses import dataclass

from ..analysis.project import Project
from ..facts import Call, Facts, Function, GuardUse, Span
from ..facts.index import index_of
from ..frontends.frontend import frontend_named


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a use stands."""

    project: Project
    facts: Facts
    use: GuardUse
    chain: tuple[Function, ...]
    """The functions around the use, innermost first."""

    def spelled(self, *path: str) -> str:
        """A name as the language of the file spells it: `torch::autograd::Function`, `torch.autograd.Function`."""
        return frontend_named(self.facts.language).separator.join(path)

    @property
    def outermost(self) -> Function | None:
        return self.chain[-1] if self.chain else None

    def calls_in(self, span: Span) -> list[Call]:
        return list(index_of(self.facts).calls.within(span))

    def calls_below(self) -> list[Call]:
        """Calls that the guard covers. At namespace scope it covers none: other functions' code is not below it."""
        at_top = not self.chain and self.use.macro is None
        runs = frontend_named(self.facts.language).runs_at_top_level or not at_top
        return self.calls_in(self.use.live) if runs else []

    def neighbours(self) -> list[GuardUse]:
        """Other kinds of guards declared in the same block, or members of the same class."""
        return [
            other
            for other in index_of(self.facts).neighbours.get(self.use.scope, ())
            if other.type_span != self.use.type_span
        ]


def scene_of(project: Project, facts: Facts, use: GuardUse) -> Scene:
    """The use in what the build compiles, where one is known."""
    facts = project.build.as_built(facts)
    return Scene(project, facts, use, facts.enclosing(use.function))
