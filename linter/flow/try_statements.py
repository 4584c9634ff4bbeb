"""`try`: what is raised where an exception is caught isn't told, and handlers run only after one."""

from __future__ import annotations

from ..facts.bodies import Handler, Try
from ..facts.expressions import words_of
from .paths import Interpreter, PathOutcome, Place
from .state import State


def run_try(machine: Interpreter, statement: Try, state: State, place: Place) -> list[PathOutcome]:
    """A `try` with its handlers, or C++'s."""
    catches = any(map(_catches_torch, statement.handlers))
    before = state.fork() if statement.handlers else None
    if catches:
        state.shielded += 1
    outcomes = machine.run(statement.block, state, place)
    if catches:
        for outcome in outcomes:
            outcome.state.shielded -= 1
    raised = [outcome.state for outcome in outcomes if outcome.kind == "raise"] if statement.handlers else []
    outcomes = [outcome for outcome in outcomes if outcome.kind != "raise" or not statement.handlers]
    if statement.otherwise:
        done = [outcome for outcome in outcomes if outcome.kind == "next"]
        outcomes = [outcome for outcome in outcomes if outcome.kind != "next"]
        outcomes += [more for outcome in done for more in machine.run(statement.otherwise, outcome.state, place)]
    if before is not None:
        for handler in statement.handlers:
            for one in (before.fork(), *(caught.fork() for caught in raised)):
                one.doubts |= {"it happens only after an exception"}
                if handler.name:
                    state_frame = one.names(place.frame)
                    state_frame[handler.name] = one.opaque(handler.name, tensor=False)
                outcomes += machine.run(handler.block, one, place)
    if not statement.finally_:
        return outcomes
    found: list[PathOutcome] = []
    for outcome in outcomes:
        for after in machine.run(statement.finally_, outcome.state, place):
            found.append(outcome._replace(state=after.state) if after.kind == "next" else after)
    return found


_ANY_ERROR = frozenset(
    {"RuntimeError", "Exception", "BaseException", "Error", "exception", "runtime_error", "TorchError"}
)


def _catches_torch(handler: Handler) -> bool:
    """Whether a handler takes what PyTorch raises."""
    return handler.caught is None or not _ANY_ERROR.isdisjoint(words_of(handler.caught))
