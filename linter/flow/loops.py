"""Loops: a few rounds, after which all others are taken to do the same."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.bodies import AnyStatement, Loop
from . import elements, generators, making
from .module_parts import LISTED
from .paths import Interpreter, PathOutcome, Place
from .state import State
from .values import Generator, Items, Ref, Tensor, Value

EXACT = 4
"""Elements of a list that a loop runs over one by one."""


def run_loop(machine: Interpreter, statement: Loop, state: State, place: Place) -> list[PathOutcome]:
    """A `for` or `while` loop."""
    if statement.iterable is not None:
        ended: list[PathOutcome] = []
        for after, iterable in machine.evaluate(statement.iterable, state, place):
            ended += _for_each(machine, statement, iterable, after, place)
        return ended
    going, left, ended = [state], [], []
    if statement.runs_once:
        going, ended = _once(machine, statement.block, going, place)
    for _ in range(2):
        asked, going = going, []
        for one in asked:
            before = one.choices
            then, otherwise = machine.branches(statement.condition, one, place)
            for kept in (*then, *otherwise):
                kept.choices = before
            going += then
            left += otherwise
        going, more = _once(machine, statement.block, going, place)
        ended += more
    if statement.condition is not None:
        left += going
    return _left(machine, left, ended, statement, place)


def _for_each(machine: Interpreter, statement: Loop, iterable: Value, state: State, place: Place) -> list[PathOutcome]:
    assert statement.target is not None
    thing = state.thing(iterable)
    if isinstance(thing, Generator):
        return generators.step_generator(machine, statement, thing, state, place)
    exact = None
    if isinstance(thing, Items) and thing.rest is None and (len(thing.values) <= EXACT or thing.kind == LISTED):
        exact = thing.values
    going, left, ended = [state], [], []
    many = thing.values if isinstance(thing, Items) and exact is None else ()
    before = {ref: state.tensor(ref) for value in many for ref in making.tensors_in(value, state)}
    if exact is None and not (isinstance(thing, Items) and thing.values):
        left.append(state.fork())
    for index in range(2) if exact is None else range(len(exact)):
        for one in going:
            element = elements.element_of(machine, iterable, one, index, str(statement.target))
            machine.bind(statement.target, element, one, place)
        going, more = _once(machine, statement.block, going, place)
        ended += more
        if exact is None:
            left += [one.fork() for one in going]
    for one in left if many else ():
        _do_to_all(many, before, one)
    return _left(machine, [*going, *left] if exact is not None else left, ended, statement, place)


def _once(
    machine: Interpreter, block: Sequence[AnyStatement], states: list[State], place: Place
) -> tuple[list[State], list[PathOutcome]]:
    """The states after one round of a loop, and the other ways out of it."""
    outcomes = [outcome for one in states for outcome in machine.run(block, one, place)]
    going = [outcome.state for outcome in outcomes if outcome.kind in ("next", "continue")]
    return machine.joined(going, place), [o for o in outcomes if o.kind not in ("next", "continue")]


def _left(
    machine: Interpreter, left: list[State], ended: list[PathOutcome], loop: Loop, place: Place
) -> list[PathOutcome]:
    states = machine.joined(left, place)
    if loop.otherwise:
        outcomes = [outcome for one in states for outcome in machine.run(loop.otherwise, one, place)]
    else:
        outcomes = [PathOutcome(one, "next") for one in states]
    broken = [PathOutcome(outcome.state, "next") for outcome in ended if outcome.kind == "break"]
    return [*outcomes, *broken, *(outcome for outcome in ended if outcome.kind != "break")]


def _do_to_all(values: tuple[Value, ...], before: dict[Ref, Tensor | None], state: State) -> None:
    """What two rounds of a loop have done to tensors, the others would have done to those like them."""
    done = [
        (old, new)
        for value in values[:2]
        for ref in making.tensors_in(value, state)
        if (old := before.get(ref)) is not None and (new := state.tensor(ref)) is not None and new != old
    ]
    for value in values[2:]:
        for ref in making.tensors_in(value, state):
            mine = state.tensor(ref)
            for old, new in done:
                if mine is not None and (mine.inference, mine.grad, mine.leaf) == (old.inference, old.grad, old.leaf):
                    state.change(ref, inference=new.inference, grad=new.grad, leaf=new.leaf, hazards=new.hazards)
                    break
