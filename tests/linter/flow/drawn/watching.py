"""The abstract machine, with notes of where it ran and of what it wasn't sure there."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from guardfix.linter.facts import Facts
from guardfix.linter.facts.expressions import Expression
from guardfix.linter.files.sources import Source
from guardfix.linter.flow.events import Event, EventKind
from guardfix.linter.flow.machine import Machine
from guardfix.linter.flow.paths import Place, Results
from guardfix.linter.flow.program import ProjectCode
from guardfix.linter.flow.running import run_flow
from guardfix.linter.flow.state import State
from guardfix.linter.flow.values import CERTAIN, Instance, Items, Method, Modes, Opaque, Partial, Table, Tensor, Value
from guardfix.linter.frontends.python.python_extraction import extract_python

LEAF = "whether it is a leaf"
COUNTER = "whether it has a counter"


class WatchedMachine(Machine):
    """Notes for each row what the machine didn't know where it evaluated something there."""

    def __init__(self, program: ProjectCode) -> None:
        super().__init__(program)
        self.doubts: dict[int, set[str]] = defaultdict(set)
        self.ran: set[int] = set()
        self.choosing: set[tuple[EventKind, int]] = set()
        """Events on paths that have taken one side of a condition of which nothing is known."""
        self.foretold = False
        """It has seen a graph differentiated in inference mode, perhaps where a failure is expected."""

    def evaluate(self, expression: Expression, state: State, place: Place) -> Results:
        row = place.file.row(place.span.start)
        self.ran.add(row)
        results = super().evaluate(expression, state, place)
        for after, value in results:
            self.doubts[row] |= set(_unknown_modes(after.modes))
            self.doubts[row] |= set(_unknown(value, after))
        return results

    def report(self, kind: EventKind, state: State, place: Place, **more: Any) -> None:
        _, span = more.get("at") or (place.file.path, place.span)
        if state.choices:
            self.choosing.add((kind, place.file.row(span.start)))
        self.foretold |= kind is EventKind.BACKWARD_IN_INFERENCE
        super().report(kind, state, place, **more)


def _unknown_modes(modes: Modes) -> Iterator[str]:
    if None in modes:
        yield "the modes"


def _unknown(value: Value, state: State, seen: frozenset[int] = frozenset()) -> Iterator[str]:
    """What isn't known of a value, or of what it holds."""
    thing = state.thing(value)
    if isinstance(value, Method):
        yield from _unknown(value.receiver, state, seen)
    if isinstance(value, Partial):
        for one in (value.callee, *value.arguments):
            yield from _unknown(one, state, seen)
    if thing is None or value.number in seen:  # type: ignore[union-attr]
        return
    seen |= {value.number}  # type: ignore[union-attr]
    inner: tuple[Value, ...] = ()
    if isinstance(thing, Opaque) and thing.tensor is not False:
        yield "a value"
    elif isinstance(thing, Tensor):
        if thing.inference is None:
            yield "whether it is an inference tensor"
        if thing.grad and CERTAIN not in thing.grad:
            yield "whether it requires grad"
        if thing.leaf is None:
            yield LEAF
        if not thing.shown or thing.open:
            yield "whether it is a tensor"
        if thing.counted:
            yield COUNTER
    elif isinstance(thing, Items):
        inner = (*thing.values, *((thing.rest,) if thing.rest is not None else ()))
    elif isinstance(thing, Table):
        inner = (*(item for _, item in thing.pairs), *((thing.rest,) if thing.rest is not None else ()))
    elif isinstance(thing, Instance) and thing.kind in ("layer", "sequential", "optimizer", "module"):
        if not thing.complete:
            yield "an object"
        inner = tuple(thing.attributes.values())
    for one in inner:
        yield from _unknown(one, state, seen)


class Abstract(NamedTuple):
    """What the machine says of a program."""

    events: dict[int, list[Event]]
    """By the row at which each happens."""
    of_callers: dict[int, list[Event]]
    """Those of what functions' forwards save, by the rows at which PyTorch may say so."""
    doubts: dict[int, set[str]]
    ran: set[int]
    choosing: set[tuple[EventKind, int]]
    exhausted: bool
    dropped: bool
    foretold: bool
    """Every `.grad` may be an inference tensor, to which no other can be added outside the mode."""


def run_abstractly(text: str) -> Abstract:
    machine = run_flow([facts_of(text)], machine_class=WatchedMachine)
    assert isinstance(machine, WatchedMachine)
    starts, lines = statement_rows(text), text.split("\n")
    file = machine.program.files[0] if machine.program.files else None
    events: dict[int, list[Event]] = defaultdict(list)
    of_callers: dict[int, list[Event]] = defaultdict(list)
    doubts: dict[int, set[str]] = defaultdict(set)

    def row_of(row: int) -> int:
        return starts.get(row, row)

    for event in machine.events.values():
        assert file is not None
        row = row_of(file.row(event.span.start))
        events[row].append(event)
        # PyTorch looks at what a function's forward has saved when that has ended: the error is the caller's.
        if event.kind is EventKind.INFERENCE_SAVED and "save_for_backward" in lines[row - 1]:
            for number, line in enumerate(lines, 1):
                if ".apply(" in line:
                    of_callers[row_of(number)].append(event)
    for row, found in machine.doubts.items():
        doubts[row_of(row)] |= found
    choosing = {(kind, row_of(row)) for kind, row in machine.choosing}
    return Abstract(
        events,
        of_callers,
        doubts,
        set(map(row_of, machine.ran)),
        choosing,
        bool(machine.exhausted),
        machine.dropped,
        machine.foretold,
    )


def facts_of(text: str) -> Facts:
    facts = extract_python(Source("program.py", text.encode()), named=("models",))
    assert facts is not None
    return facts


def statement_rows(text: str) -> dict[int, int]:
    """For each row the one at which the innermost statement there begins."""
    found: dict[int, int] = {}
    for node in ast.walk(ast.parse(text)):  # outer statements come before inner ones
        if isinstance(node, ast.stmt):
            for row in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found[row] = node.lineno
            for decorator in getattr(node, "decorator_list", ()):
                for row in range(decorator.lineno, node.lineno):
                    found[row] = node.lineno
    return found
