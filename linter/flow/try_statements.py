"""`try`: what is raised where an exception is caught isn't reported, and handlers run only after one."""

from __future__ import annotations

from ..facts.bodies import Handler, Try
from ..facts.expressions import MemberAccess, NamePath, Subscript, words_of
from . import classes
from .paths import Interpreter, PathOutcome, Place
from .state import State
from .values import Instance, Table


def run_try(machine: Interpreter, statement: Try, state: State, place: Place) -> list[PathOutcome]:
    """A `try` with its handlers, or C++'s."""
    empty = _handler_of_lookup(machine, statement, state, place)
    if empty is not None:
        return machine.run((*empty.block, *statement.finally_), state, place.in_branch())
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


def _handler_of_lookup(machine: Interpreter, statement: Try, state: State, place: Place) -> Handler | None:
    """What surely runs where a block begins with a lookup in what is empty: `try: return self.tables[n]`."""
    value = getattr(statement.block[0], "value", None) if statement.block else None
    if not isinstance(value, (Subscript, MemberAccess)) or not isinstance(value.object, (NamePath, MemberAccess)):
        return None
    held = [after.thing(holder) for after, holder in machine.evaluate(value.object, state.fork(), place)]
    thing = held[0] if len(held) == 1 else None
    if isinstance(value, Subscript):
        missing = isinstance(thing, Table) and not (thing.pairs or thing.rest or thing.default)
    else:
        missing = (
            isinstance(thing, Instance)
            and thing.kind in ("object", "module")
            and thing.complete
            and thing.cls is not None
            and value.name not in thing.attributes
            and classes.find_in_class(machine, thing.cls, value.name, state) is None
        )
    wanted = "KeyError" if isinstance(value, Subscript) else "AttributeError"
    handlers = (one for one in statement.handlers if one.caught is not None and wanted in words_of(one.caught))
    return next(handlers, None) if missing and not statement.otherwise else None


_ANY_ERROR = frozenset(
    {"RuntimeError", "Exception", "BaseException", "Error", "exception", "runtime_error", "TorchError"}
)


def _catches_torch(handler: Handler) -> bool:
    """Whether a handler takes what PyTorch raises."""
    return handler.caught is None or not _ANY_ERROR.isdisjoint(words_of(handler.caught))
