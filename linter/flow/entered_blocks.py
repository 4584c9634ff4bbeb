"""`with` statements and C++ blocks: what is entered, and the modes that are restored after them."""

from __future__ import annotations

from ..facts.bodies import Block
from ..facts.expressions import CallExpression, Expression, words_of
from ..lazy_regex import lazy_regex
from . import classes, cpp_threads
from .guards_entered import guard_of, set_modes
from .paths import Interpreter, PathOutcome, Place
from .state import State
from .values import (
    NONE,
    Generator,
    GuardValue,
    Instance,
    Modes,
    Name,
    NullContext,
    Opaque,
    Ref,
    Value,
)


def run_block(machine: Interpreter, statement: Block, state: State, place: Place) -> list[PathOutcome]:
    """A `with` statement or a C++ block."""
    if not statement.items:
        if statement.is_parallel:
            cpp_threads.run_parallel(machine, statement, state, place)
        return machine.run(statement.block, state, place)
    return _enter(machine, statement, 0, state, place)


def _enter(machine: Interpreter, statement: Block, index: int, state: State, place: Place) -> list[PathOutcome]:
    """Enter the items of a `with` statement from one on, and run its block."""
    if index == len(statement.items):
        return machine.run(statement.block, state, place)
    item = statement.items[index]
    outcomes: list[PathOutcome] = []
    before, opened = state.modes, state.opened
    for after, context in machine.evaluate(item.context, state, place):
        after.modes = before if _is_own(context) else after.modes
        after.opened = opened if _is_own(context) else after.opened
        outcomes += _under(machine, statement, index, context, item.context, after, place)
    return outcomes


def _is_own(context: Value) -> bool:
    """`set_grad_enabled(x)` takes effect when it is made; here it does when it is entered."""
    return isinstance(context, GuardValue)


def _under(
    machine: Interpreter, statement: Block, index: int, context: Value, written: Expression, state: State, place: Place
) -> list[PathOutcome]:
    target = statement.items[index].target
    modes, opened = state.modes, state.opened

    def body(one: State, given: Value) -> list[PathOutcome]:
        going = machine.bind(target, given, one, place) if target is not None else [one]
        return [outcome for bound in going for outcome in _enter(machine, statement, index + 1, bound, place)]

    def restored(outcomes: list[PathOutcome]) -> list[PathOutcome]:
        for outcome in outcomes:
            outcome.state.modes, outcome.state.opened = modes, opened
        return outcomes

    thing = state.thing(context)
    if isinstance(context, GuardValue):
        set_modes(state, context)
        return restored(body(state, NONE))
    if isinstance(context, NullContext):
        return body(state, context.value if context.value is not None else NONE)
    if isinstance(context, Name) and guard_of(context, "python") is not None:
        return [PathOutcome(state, "raise")]  # `with torch.no_grad:` has no `__enter__`
    if isinstance(thing, Generator):
        return machine.run_context(thing, body, state, place)
    if isinstance(thing, Instance) and thing.kind == "stack":
        return restored(body(state, context))
    if isinstance(thing, Instance) and thing.cls is not None:
        entering = classes.find_method(machine, thing.cls, "__enter__", state)
        leaving = classes.find_method(machine, thing.cls, "__exit__", state)
        if entering is not None and leaving is not None:
            found = []
            for after, given in machine.call_closure(entering, (context,), (), state, place):
                for outcome in body(after, given):
                    arguments = (context, NONE, NONE, NONE)
                    for last, _ in machine.call_closure(leaving, arguments, (), outcome.state, place):
                        found.append(PathOutcome(last, outcome.kind, outcome.value))
            return found
    words = {word.lower() for word in words_of(written)}
    if any(word in ("raises", "assertraises", "assertraisesregex", "warns", "assertwarns") for word in words):
        state.shielded += 1
        outcomes = body(state, state.opaque())
        for outcome in outcomes:
            outcome.state.shielded -= 1
        # The block may be left in the middle: what it would have done isn't sure.
        return outcomes
    if isinstance(thing, Opaque) and _may_set_modes(written):
        state.modes = Modes(None, None, None, None)
        return restored(body(state, state.opaque()))
    return body(state, context if isinstance(context, Ref) else state.opaque())


def _may_set_modes(written: Expression) -> bool:
    """Whether an unknown context manager is called as one is that sets the mode: `self.no_grad_if(x)`, `ctx`."""
    while isinstance(written, CallExpression):
        written = written.callee
    parts = [part.lower() for word in words_of(written) for part in _PARTS.findall(word)]
    return any(part in _MODES or part.startswith(("grad", "infer")) for part in parts) or set(parts) <= _SAY_NOTHING


_PARTS = lazy_regex(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_MODES = frozenset(
    {"nograd", "eval", "evaluation", "evaluating", "mode", "guard", "train", "training", "freeze", "frozen"}
)
_SAY_NOTHING = frozenset({"self", "ctx", "context", "cm", "manager", "scope", "wrapper", "cls", "args"})
