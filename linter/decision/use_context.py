"""A use with what is around it: what the signals look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from ..analysis.linkage import Link
from ..analysis.project import Project
from ..facts import Call, Facts, Function, GuardUse, Span
from ..facts.index import calls_where, index_of
from ..facts.model import MOST_AROUND
from ..frontends.frontend import frontend_named


class Scene(Struct, frozen=True):
    """Where a use is."""

    project: Project
    facts: Facts
    use: GuardUse
    chain: tuple[Function, ...]
    """The functions around the use, innermost first."""
    link: Link = Link.SHOWN
    """How its file is linked to the one that asks, where the use is for what is named there."""

    def spelled(self, *path: str) -> str:
        """A name as the language of the file spells it: `torch::autograd::Function`, `torch.autograd.Function`."""
        return frontend_named(self.facts.language).separator.join(path)

    @property
    def outermost(self) -> Function | None:
        return self.chain[-1] if self.chain else None

    def calls_below(self, holds: Callable[[Call], object]) -> Iterator[Call]:
        """Calls that the guard covers, of which something holds that follows from the call alone.

        At namespace scope it covers none: other functions' code is not below it.
        """
        at_top = not self.chain and self.use.macro is None
        if not at_top or frontend_named(self.facts.language).runs_at_top_level:
            live = self.use.live
            around = self.around
            yield from calls_where(self.facts, around if around.holds(live) else live, holds).within(live)

    def first_below(self, holds: Callable[[Call], object]) -> Call | None:
        """The first of `calls_below`."""
        return next(self.calls_below(holds), None)

    @property
    def around(self) -> Span:
        """The outermost function around the use, or else its scope."""
        return self.chain[-1].span if self.chain else self.use.scope

    def neighbours(self) -> list[GuardUse]:
        """Other kinds of guards declared in the same block, or members of the same class; of very many a few."""
        beside = index_of(self.facts).neighbours.get(self.use.scope, [])
        half = MOST_AROUND // 2
        few = beside if len(beside) <= MOST_AROUND else [*beside[:half], *beside[-half:]]
        return [other for other in few if other.type_span != self.use.type_span]


def scene_of(project: Project, facts: Facts, use: GuardUse, link: Link = Link.SHOWN) -> Scene:
    """The use in what the build compiles, where one is known."""
    facts = project.build.as_built(facts)
    return Scene(project, facts, use, facts.enclosing(use.function), link)
