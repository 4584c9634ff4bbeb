"""What the machine passes on: outcomes of statements, and the place where it is."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from ..facts import Span
from ..facts.statements import Body
from ..named_tuples import NamedTuple
from .program import File
from .state import State
from .values import NONE, Step, Value

Results = list[tuple[State, Value]]
"""The values of an expression, on each path on which it has one."""


class Outcome(NamedTuple):
    state: State
    kind: str
    """`next`, `return`, `raise`, `break`, `continue`."""
    value: Value = NONE


class Place(Struct, frozen=True, eq=False):
    """Where the machine is: the file, the body, its frame, and the calls that led here."""

    file: File
    body: Body
    frame: int
    span: Span
    """Of the statement."""
    calls: tuple[tuple[Body, Step], ...] = ()
    resumed: Callable[[State, Value], list[Outcome]] | None = None
    """What runs where this body yields: the block below `with`, or the loop over a generator."""

    conditional: bool = False
    """It stands in a branch of its function."""

    def at(self, span: Span) -> Place:
        return Place(self.file, self.body, self.frame, span, self.calls, self.resumed, self.conditional)

    def in_branch(self) -> Place:
        return Place(self.file, self.body, self.frame, self.span, self.calls, self.resumed, True)

    def step(self, message: str) -> Step:
        return Step(self.file.path, self.span, message)

    @property
    def story(self) -> tuple[Step, ...]:
        """The calls that led here."""
        return tuple(step for _, step in self.calls)
