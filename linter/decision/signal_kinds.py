"""A kind of signal: its name, the side it speaks for, its weight, and the function that finds it.

    @signal("runs-a-model", side=Side.INFERENCE, weight=Weight.STRONG)
    def runs_a_model(scene: Scene) -> Iterator[Signal match]:
        '''a model is run below the guard'''
        …

The docstring is the row of the table in docs/decisions.md. The decorated name is the kind itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum

from msgspec import Struct

from ..analysis.autograd_bookkeeping import is_kernel_of_in_place_or_view
from ..analysis.linkage import Link
from ..analysis.ops import is_in_place_or_view, says_that_it_aliases
from ..analysis.project_summary import TopicPlace
from ..facts import Facts
from ..facts.embedded_paths import real_path
from ..findings import Evidence, Side
from ..named_tuples import NamedTuple
from .use_context import Scene

KERNEL_SIDES = (Side.KERNEL, Side.BELOW_AUTOGRAD)
"""Both are kernels: they count together, and the heaviest signal says which of the two it is."""


class Weight(Enum):
    """How much a signal counts; `Policy` says how many points that is."""

    WEAK = "weak"
    MODERATE = "moderate"
    STRONG = "strong"
    DECISIVE = "decisive"
    TRIED = "tried"
    """All replacements were tried, and this one alone left the programs as they should be."""
    DECLARED = "declared"


class Asked(Enum):
    """When a kind of signal is looked for."""

    ALWAYS = "always"
    WHEN_OPEN = "where the use's own place and its callers leave it open"
    """What costs more, or says less about the place."""
    LAST = "where all else leaves it open"
    WHEN_INFERENCE = "where all else says inference"


class SignalMatch(NamedTuple):
    """A place where a kind of signal was found, with its message."""

    message: str
    offset: int
    facts: Facts | None = None
    """The file of the place; None for the file of the use."""
    operator: str = ""
    """The op that the function around the use implements, where the place names it."""
    elsewhere: TopicPlace | None = None
    """The place, where it is in a file that was only looked at and has no facts."""
    link: Link = Link.SHOWN
    """How the place is linked to the use, where that is by a name."""


Finder = Callable[[Scene], Iterable[SignalMatch]]
SignalsOf = Callable[[Scene], "list[Signal]"]
AskingFinder = Callable[[Scene, SignalsOf], Iterable[SignalMatch]]
"""A finder that also asks for the signals of other uses."""


class SignalKind(Struct, frozen=True, eq=False):
    """One kind of reason, as it is registered. Compared by identity."""

    name: str
    side: Side
    weight: Weight
    docstring: str
    """What it means, as its finder says."""
    in_place: Side | None = None
    """The side where the op around the use is in-place or a view op, when that is another one."""
    unless: tuple[SignalKind, ...] = ()
    """Kinds that say the same thing and more: where one of them is found this one is not looked for."""
    asked: Asked = Asked.ALWAYS
    asks_project: bool = False
    """It looks at more than the facts of the use's own file."""
    find: AskingFinder | None = None
    """None for what callers say: it is asked about other places than the use's own."""

    @property
    def is_of_callers(self) -> bool:
        """Whether it is what callers say."""
        return self.find is None

    @property
    def meaning(self) -> str:
        """The row of the table in docs/decisions.md."""
        import inspect  # takes several milliseconds

        return inspect.cleandoc(self.docstring)

    def signal(self, scene: Scene, signal_match: SignalMatch) -> Signal:
        """What was found, as a signal about the use of the scene."""
        side = self.side
        outermost = scene.outermost
        if self.in_place is not None and outermost is not None:
            operator, where = signal_match.operator, (scene.facts, signal_match.facts or scene.facts)
            named = is_in_place_or_view(outermost, operator) or any(
                says_that_it_aliases(operator, facts) for facts in where
            )
            if named or is_kernel_of_in_place_or_view(scene.facts, outermost.span):
                side = self.in_place
        if signal_match.elsewhere is not None:
            path, mention = signal_match.elsewhere
            return Signal(self, side, signal_match.message, path, mention.offset, mention.row)
        facts, offset = signal_match.facts or scene.facts, signal_match.offset
        shown = signal_match.link is Link.SHOWN
        return Signal(self, side, signal_match.message, facts.path, offset, facts.row(offset), shown)


class Signal(Struct, frozen=True):
    """One reason for or against a context, with its place."""

    kind: SignalKind
    side: Side
    message: str
    path: str
    offset: int
    row: int
    shown: bool = True
    """The code shows that the place is about this use, not about another thing of the same name."""

    @property
    def weight(self) -> Weight:
        return self.kind.weight

    def evidence(self) -> Evidence:
        message = self.message if self.shown else f"{self.message} (by its name: no link is shown)"
        return Evidence(message, real_path(self.path), self.offset, self.row, self.side, self.kind.name)


def signal(
    name: str,
    *,
    side: Side,
    weight: Weight,
    in_place: Side | None = None,
    unless: Iterable[SignalKind] = (),
    asked: Asked = Asked.ALWAYS,
    asks_project: bool = False,
) -> Callable[[Finder], SignalKind]:
    """Make a finder the kind of signal that it finds.

    One that looks at anything in `scene.project` says so with `asks_project`: what the others find is remembered as
    long as the file's facts are the same.
    """

    def registered(find: Finder) -> SignalKind:
        docstring = find.__doc__ or ""
        return SignalKind(
            name, side, weight, docstring, in_place, tuple(unless), asked, asks_project, lambda scene, _: find(scene)
        )

    return registered


def signal_of_others(
    name: str, *, side: Side, weight: Weight, unless: Iterable[SignalKind] = ()
) -> Callable[[AskingFinder], SignalKind]:
    """As `signal`, for a finder that also asks for the signals of other uses."""

    def registered(find: AskingFinder) -> SignalKind:
        docstring = find.__doc__ or ""
        return SignalKind(name, side, weight, docstring, unless=tuple(unless), asks_project=True, find=find)

    return registered


_SHOWN = 60
"""Longer callees are cut in the middle; no weight depends on it."""


def shown(callee: str) -> str:
    """A callee as messages show it; of what a template calls, without the object that it was given for the parser."""
    callee = callee.removeprefix("$p.")
    return callee if len(callee) <= _SHOWN else callee[: _SHOWN // 2 - 2] + " … " + callee[2 - _SHOWN // 2 :]
