"""What the machine passes on: outcomes of statements, the place where it is, and what its parts may ask of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from ..facts import Span
from ..facts.bodies import AnyStatement, Body, BodyParameter
from ..facts.expressions import Expression
from ..named_tuples import NamedTuple
from .events import Event, EventKind
from .kept_results import KeptResults
from .program import File, ProjectCode
from .state import State
from .values import NONE, Cached, Closure, Generator, GuardValue, Recorded, Ref, Step, Thing, Traced, Value

Keywords = tuple[tuple[str, Value], ...]
"""Arguments that are given by name."""
Results = list[tuple[State, Value]]
"""The values of an expression, on each path on which it has one."""


class PathOutcome(NamedTuple):
    state: State
    kind: str
    """`next`, `return`, `raise`, `break`, `continue`."""
    value: Value = NONE
    returned: Span | None = None
    """Where the `return` is."""


class Place(Struct, frozen=True, eq=False):
    """Where the machine is: the file, the body, its frame, and the calls that led here."""

    file: File
    body: Body
    frame: int
    span: Span
    """Of the statement."""
    calls: tuple[tuple[Body, Step], ...] = ()
    resumed: Callable[[State, Value], list[PathOutcome]] | None = None
    """What runs where this body yields: the block below `with`, or the loop over a generator."""

    conditional: bool = False
    """It is in a branch of its function."""

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


class Interpreter(Protocol):
    """The machine, as the parts that know what calls and values do see it."""

    program: ProjectCode
    dropped: bool
    most_states: int
    events: dict[tuple[EventKind, str, Span, str], Event]
    testing: bool
    """A test runs: it trains and predicts as no program would."""
    trained: set[tuple[int, int]]
    """The objects that methods of a class train (`State.part_of_receiver`)."""
    recorded: list[Recorded] | None
    """What is recorded, where that is being looked for."""
    traced: list[Traced] | None
    """All that computes, where somebody watches."""
    gives_gradients: bool
    """Some tensor was given an inference tensor as its gradient."""
    kept: KeptResults
    root: Body | None
    """The function or module that is run by itself."""
    watches: bool
    """Somebody looks at the tensors: which ops save them is noted."""

    def evaluate(self, expression: Expression, state: State, place: Place) -> Results:
        """The value of an expression, on each path on which it has one."""

    def each(self, expressions: Sequence[Expression], state: State, place: Place) -> list[tuple[State, list[Value]]]:
        """The values of several expressions, evaluated from left to right."""

    def run(self, statements: Sequence[AnyStatement], state: State, place: Place) -> list[PathOutcome]:
        """What becomes of a state that runs a block."""

    def joined(self, states: Iterable[State], place: Place) -> list[State]:
        """The states, each once."""

    def bind(self, target: Expression, value: Value, state: State, place: Place) -> list[State]:
        """Give a target a value."""

    def branches(self, condition: Expression | None, state: State, place: Place) -> tuple[list[State], list[State]]:
        """The states in which a condition holds, and those in which it doesn't."""

    def truth(self, state: State, value: Value) -> bool | None:
        """Whether a value counts as true, as far as it is known on this path."""

    def assume(self, state: State, truth: Value, side: bool) -> State | None:
        """The state in which a condition has come out so; None where it can't."""

    def name_thing(self, value: Value, target: Expression, state: State) -> None:
        """Let a thing be called by the variable that first holds it."""

    def stored(self, holder: Ref, name: str, value: Value, state: State, place: Place) -> None:
        """A value is stored in an attribute of an object."""

    def attributes_before(self, closure: Closure, state: State, place: Place) -> dict[str, tuple[Value, Thing | None]]:
        """The attributes of a method's object, before the method runs as a root."""

    def attributes_behind(
        self, closure: Closure, before: Mapping[str, tuple[Value, Thing | None]], outcomes: Sequence[PathOutcome]
    ) -> None:
        """What the method has left in them, for other methods to find."""

    def imported(self, dotted: str, state: State, file: File) -> Value:
        """What an import gives: a definition of the project, or a name."""

    def run_root(self, run: Callable[[], object], file: File, body: Body) -> None:
        """Run something with a budget; what it has done when that ends stays."""

    def report(
        self,
        kind: EventKind,
        state: State,
        place: Place,
        *,
        variable: str,
        what: str,
        steps: tuple[Step, ...],
        guard: GuardValue | None,
        cached: Cached | None = None,
        presumed: str = "",
        doubt: str = "",
        brought_by: Step | None = None,
        at: tuple[str, Span] | None = None,
    ) -> None:
        """Tell an event."""

    def call_value(
        self,
        callee: Value,
        arguments: tuple[Value, ...],
        keywords: Keywords,
        state: State,
        place: Place,
        shown: str,
        written: Expression | None = None,
    ) -> Results:
        """Call a value."""

    def call_closure(
        self, closure: Closure, arguments: tuple[Value, ...], keywords: Keywords, state: State, place: Place
    ) -> Results:
        """Call a function of the program."""

    def call_method(
        self,
        receiver: Value,
        name: str,
        arguments: tuple[Value, ...],
        keywords: Keywords,
        state: State,
        place: Place,
        shown: str,
    ) -> Results:
        """Call a method of a value."""

    def attribute(self, holder: Value, name: str, state: State, place: Place, shown: str) -> Results:
        """`holder.name`."""

    def set_attribute(
        self, holder: Value, name: str, value: Value, state: State, place: Place, shown: str
    ) -> list[State]:
        """`holder.name = value`."""

    def element_of(self, holder: Value, state: State, index: int | None, name: str) -> Value:
        """An element of what is iterated or unpacked."""

    def parameter(self, parameter: BodyParameter, state: State, place: Place) -> Value:
        """An argument of which nothing is known but its declared type."""

    def apply_decorator(self, decorator: Value, function: Value, state: State, place: Place) -> Results:
        """A function with a decorator applied."""

    def run_context(
        self, thing: Generator, body: Callable[[State, Value], list[PathOutcome]], state: State, place: Place
    ) -> list[PathOutcome]:
        """A `with` block under a context manager of the program."""

    def run_generator(self, thing: Generator, state: State, place: Place) -> Results:
        """Run a generator to its end; what it has yielded, as a list."""
