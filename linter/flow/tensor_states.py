"""What the machine knows at each place of one file: the tensors that expressions are worth, and the modes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from ..facts import Facts, Span
from ..facts.bodies import AnyStatement, BodyKind
from ..facts.expressions import Expression
from ..facts.statement_walk import blocks_of, bodies_of
from ..named_tuples import NamedTuple
from . import evaluation
from .events import Event
from .frame_runs import FramePlace, PatientMachine, run_around
from .paths import PathOutcome, Place, Results
from .program import ProjectCode
from .running import functions_of, run_function_of
from .state import State
from .values import CERTAIN, GuardValue, Modes, Opaque, Ref, Step, Tensor, Value

_MOST_WAYS = 6
"""Ways to one statement whose modes are kept."""
_MOST_TENSORS = 40
"""Tensors that are kept of one statement."""


class TensorSeen(NamedTuple):
    """What an expression was worth on one way to it."""

    written: str
    is_target: bool
    """The statement gives it to this variable; else it is computed with."""
    tensor: Tensor | None
    """None of what may be a tensor, and of which nothing is known."""
    requires: tuple[str, ...] | None
    """None where it requires grad; else the values of which one must, for it to; empty where it doesn't."""
    base: str
    """What it is a view of, as the program names it."""
    origin: str
    """The unknown function that gave it."""
    under: GuardValue | None
    """The guard under whose inference mode that was."""
    calls: tuple[Step, ...]
    """How the function was called; empty for callers of which nothing is known."""


class ModesSeen(NamedTuple):
    """The modes before a statement on one way to it."""

    modes: Modes
    opened: tuple[GuardValue, ...]
    calls: tuple[Step, ...]


class WatchingMachine(PatientMachine):
    """Notes what it sees in one file."""

    def __init__(self, program: ProjectCode, path: str, patience: int, in_all: int) -> None:
        super().__init__(program, patience, in_all)
        self._path = path
        self._at: Place | None = None
        self.tensors: dict[Span, dict[tuple[object, ...], TensorSeen]] = defaultdict(dict)
        """By statement."""
        self.modes_at: dict[Span, dict[ModesSeen, None]] = defaultdict(dict)
        self.watches = True

    @property
    def tensor_states(self) -> TensorStates:
        return TensorStates(
            {span: tuple(seen.values()) for span, seen in self.tensors.items()},
            {span: tuple(seen) for span, seen in self.modes_at.items()},
            tuple(self.events.values()),
        )

    def _run_one(self, statement: AnyStatement, state: State, place: Place) -> list[PathOutcome]:
        outer, self._at = self._at, place
        if place.file.path == self._path and len(self.modes_at[statement.span]) < _MOST_WAYS:
            self.modes_at[statement.span][ModesSeen(state.modes, state.opened, place.story)] = None
        try:
            return super()._run_one(statement, state, place)
        finally:
            self._at = outer

    def evaluate(self, expression: Expression, state: State, place: Place) -> Results:
        results = evaluation.evaluate_expression(self, expression, state, place)
        if place.file.path == self._path:
            for after, value in results:
                self._note(expression, value, after, place, is_target=False)
        return results

    def bind(self, target: Expression, value: Value, state: State, place: Place) -> list[State]:
        if place.file.path == self._path:
            self._note(target, value, state, place, is_target=True)
        return super().bind(target, value, state, place)

    def name_thing(self, value: Value, target: Expression, state: State) -> None:
        super().name_thing(value, target, state)
        if self._at is not None and self._at.file.path == self._path:
            self._note(target, value, state, self._at, is_target=True)

    def _note(self, expression: Expression, value: Value, state: State, place: Place, *, is_target: bool) -> None:
        thing = state.thing(value)
        if isinstance(thing, Opaque):
            if thing.module or not (thing.tensor or thing.under is not None):
                return
        elif not isinstance(thing, Tensor):
            return
        seen = _seen(expression, thing, state, place, is_target=is_target)
        here = self.tensors[place.span]
        if len(here) < _MOST_TENSORS:
            # Another round of a loop makes other tensors, of which the same is known.
            here.setdefault((seen.written, is_target, seen.calls, *_kind(seen)), seen)


def _seen(expression: Expression, thing: Tensor | Opaque, state: State, place: Place, *, is_target: bool) -> TensorSeen:
    if isinstance(thing, Opaque):
        return TensorSeen(str(expression), is_target, None, (), "", thing.origin, thing.under, place.story)
    base = state.thing(Ref(thing.base)) if thing.base is not None else None
    return TensorSeen(
        str(expression),
        is_target,
        thing,
        None if CERTAIN in thing.grad else tuple(_names(thing, state)),
        base.name if isinstance(base, (Tensor, Opaque)) else "",
        "",
        None,
        place.story,
    )


def _names(tensor: Tensor, state: State) -> Iterator[str]:
    """What the sources are called of which one must require grad."""
    for number in sorted(tensor.grad):
        source = state.thing(Ref(number))
        yield source.name if isinstance(source, (Tensor, Opaque)) and source is not tensor else ""


def _kind(seen: TensorSeen) -> tuple[object, ...]:
    tensor = seen.tensor
    if tensor is None:
        return (seen.under,)
    return tensor.inference, seen.requires, seen.base, tensor.leaf, tensor.saved


class TensorStates(NamedTuple):
    """What was seen in a file."""

    tensors: dict[Span, tuple[TensorSeen, ...]]
    """By the place of the statement."""
    modes: dict[Span, tuple[ModesSeen, ...]]
    """The modes before it."""
    events: tuple[Event, ...]
    """What happens in the program."""

    def statement_at(self, offset: int) -> Span | None:
        """The statement that a place is in."""
        around = [span for span in self.modes if span.start <= offset <= span.end]
        return min(around, key=lambda span: span.end - span.start, default=None)


_PATIENCE = 2
"""As much work as so many roots of a check may take, for one root: somebody waits for the answer."""
_AROUND = 8
"""The same for a function and its callers."""
_IN_FILE = 40
"""The same for all functions of a file."""


def watch_around(files: Iterable[Facts], path: str, row: int) -> TensorStates:
    """Run the function that a row is in, and its callers, and note what is seen in its file."""
    machine = WatchingMachine(ProjectCode(files), path, _PATIENCE, _AROUND)
    run_around(machine, FramePlace(path, row))
    return machine.tensor_states


def watch_file(files: Iterable[Facts], path: str) -> TensorStates:
    """Run all functions of a file, and note what is seen in it."""
    machine = WatchingMachine(ProjectCode(files), path, _PATIENCE, _IN_FILE)
    for file in machine.program.files:
        if file.path == path:
            machine.run_module(file)
            for owner, body in functions_of(file):
                run_function_of(machine, file, owner, body)
    return machine.tensor_states


class ScopeEntered(NamedTuple):
    """A place after which other modes hold than before it."""

    span: Span
    """The header of a function or block, or the statement that sets the modes."""
    modes: tuple[Modes, ...]
    """What holds there, on each way to it."""


def scopes_entered(facts: Facts, tensor_states: TensorStates) -> Iterator[ScopeEntered]:
    """The functions, blocks and statements of a file with which a mode begins."""

    def modes(statements: Sequence[AnyStatement]) -> frozenset[Modes]:
        return (
            frozenset(seen.modes for seen in tensor_states.modes.get(statements[0].span, ())) if statements else _NONE
        )

    def inside(statements: Sequence[AnyStatement]) -> Iterator[ScopeEntered]:
        for number, statement in enumerate(statements):
            before = modes((statement,))
            blocks = [block for block in blocks_of(statement) if block]
            for block in blocks or (statements[number + 1 : number + 2],):
                after = modes(block)
                if before and after and after != before:
                    yield ScopeEntered(statement.span, tuple(after))
            for block in blocks:
                yield from inside(block)

    for body in bodies_of(facts):
        begun = modes(body.statements)
        if body.kind is BodyKind.FUNCTION and begun - {Modes()}:
            yield ScopeEntered(body.header, tuple(begun))
        yield from inside(body.statements)


_NONE: frozenset[Modes] = frozenset()
