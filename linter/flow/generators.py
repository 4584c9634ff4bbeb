"""Generators of the program: their bodies run where they are stepped, and around the `with` blocks that they manage."""

from __future__ import annotations

from collections.abc import Callable

from ..facts.bodies import Loop
from . import calling
from .guards_entered import set_modes
from .paths import Interpreter, PathOutcome, Place, Results
from .program import File
from .state import State
from .values import Const, Generator, Items, Partial, Value

MOST_YIELDED = 4
"""Elements of the list that a generator run to its end gives."""


def run_context(
    machine: Interpreter,
    thing: Generator,
    body: Callable[[State, Value], list[PathOutcome]],
    state: State,
    place: Place,
) -> list[PathOutcome]:
    """A `with` block under a context manager of the program: it runs where the generator yields."""
    closure = thing.closure
    file: File = closure.program
    left: list[PathOutcome] = []

    def resumed(one: State, value: Value) -> list[PathOutcome]:
        found = []
        for outcome in body(one, value):
            if outcome.kind in ("next", "raise"):
                found.append(outcome)
            else:
                # It leaves through the generator's own end, whose state is what counts.
                outcome.state.names(thing.frame)["<left>"] = _note(outcome)
                found.append(PathOutcome(outcome.state, "next"))
        return found

    step = place.step(f"enters `{closure.body.name}`")
    inside = Place(file, closure.body, thing.frame, closure.body.header, (*place.calls, (closure.body, step)), resumed)
    for outcome in machine.run(closure.body.statements, state, inside):
        note = outcome.state.names(thing.frame).pop("<left>", None)
        if outcome.kind == "raise":
            left.append(outcome)
        elif isinstance(note, Partial):
            kind = note.callee
            assert isinstance(kind, Const)
            left.append(PathOutcome(outcome.state, str(kind.value), note.arguments[0]))
        else:
            left.append(PathOutcome(outcome.state, "next"))
    return left


def _note(outcome: PathOutcome) -> Value:
    return Partial(Const(outcome.kind), (outcome.value,), ())


def step_generator(machine: Interpreter, loop: Loop, thing: Generator, state: State, place: Place) -> list[PathOutcome]:
    """`for x in generator():` runs the loop's block where the generator yields, under the modes of its caller."""
    closure = thing.closure
    file: File = closure.program
    modes, opened = state.modes, state.opened
    if thing.frame not in state.frames:
        return [PathOutcome(state, "next")]  # it has ended

    def resumed(one: State, value: Value) -> list[PathOutcome]:
        inner_modes, inner_opened = one.modes, one.opened
        if closure.guards:
            one.modes, one.opened = modes, opened
        found = []
        assert loop.target is not None
        for bound in machine.bind(loop.target, value, one, place):
            for outcome in machine.run(loop.block, bound, place):
                if outcome.kind in ("next", "continue"):
                    if closure.guards:
                        outcome.state.modes, outcome.state.opened = inner_modes, inner_opened
                    found.append(PathOutcome(outcome.state, "next"))
                else:
                    outcome.state.modes, outcome.state.opened = modes, opened
                    ended.append(PathOutcome(outcome.state, "next") if outcome.kind == "break" else outcome)
        return found

    ended: list[PathOutcome] = []
    step = place.step(f"steps `{closure.body.name}`")
    inside = Place(file, closure.body, thing.frame, closure.body.header, (*place.calls, (closure.body, step)), resumed)
    for guard in closure.guards:
        set_modes(state, guard)
    outcomes = machine.run(closure.body.statements, state, inside)
    for outcome in outcomes:
        if closure.guards:
            outcome.state.modes, outcome.state.opened = modes, opened
        if not closure.body.inner:
            outcome.state.frames.pop(thing.frame, None)  # another loop over it runs nothing
    return [*(PathOutcome(o.state, "next") for o in outcomes if o.kind != "raise"), *ended]


def run_generator(machine: Interpreter, thing: Generator, state: State, place: Place) -> Results:
    """Run a generator to its end, as `list` does; what it has yielded, as a list."""
    held = state.add(Items("[]", ()))
    if thing.frame not in state.frames:
        return [(state, held)]  # it has ended

    def resumed(one: State, value: Value) -> list[PathOutcome]:
        kept = one.thing(held)
        assert isinstance(kept, Items)
        if len(kept.values) < MOST_YIELDED:
            one.heap[held.number] = kept._replace(values=(*kept.values, value))
        return [PathOutcome(one, "next")]

    closure = thing.closure
    step = place.step(f"steps `{closure.body.name}`")
    calls = (*place.calls, (closure.body, step))
    inside = Place(closure.program, closure.body, thing.frame, closure.body.header, calls, resumed)
    return [(after, held) for after, _ in calling.run_body(machine, closure, state, inside, [place.frame])]
