"""Entering and leaving: `with` blocks, C++ scopes, and what stands for a guard in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..facts.expressions import Expression, words_of
from ..facts.statements import Block
from ..guards import CPP, PYTHON, Effect, python_guard
from . import calls
from .paths import Outcome, Place
from .state import State
from .values import (
    NONE,
    Closure,
    Generator,
    GuardValue,
    Instance,
    Items,
    Modes,
    Name,
    NullContext,
    Opaque,
    Ref,
    Value,
)

if TYPE_CHECKING:
    from .machine import Machine

_SETS = {
    Effect.INFERENCE: lambda on: (("inference", on), ("grad", not on), ("below_autograd", False))
    if not on
    else (("inference", True), ("grad", False)),
    Effect.GRAD_MODE: lambda on: (("grad", on),),
    Effect.BELOW_AUTOGRAD: lambda on: (("below_autograd", True),),
    Effect.BELOW_ADINPLACEORVIEW: lambda on: (("below_view", True), ("below_autograd", True)),
}
_FIXED = {"no_grad": False, "enable_grad": True, "NoGradGuard": False}


def guard_of(name: Name, language: str) -> tuple[str, Effect] | None:
    """The row of the guard table that a name stands for, and its effect."""
    if language == "python":
        known = python_guard(name.dotted)
        guard = PYTHON.get(known) if known is not None else None
    else:
        guard = CPP.get(name.path[-1])
        if guard is not None and len(name.path) > 1 and guard.namespaces:
            if "::".join(name.path[:-1]) not in guard.namespaces and name.path[0] not in ("c10", "at", "torch"):
                guard = None
    if guard is None or guard.effect not in _SETS or guard.name == "AutoFwGradMode":
        return None
    return guard.name, guard.effect


def made_guard(name: str, effect: Effect, on: bool, place: Place) -> GuardValue:
    return GuardValue(name, _SETS[effect](_FIXED.get(name, on)), place.file.path, place.span)


def set_modes(state: State, guard: GuardValue) -> None:
    """What entering a guard does to the thread."""
    state.modes = state.modes._replace(**dict(guard.sets))
    state.opened = (*state.opened, guard)


def opened_by(state: State, *fields: str) -> GuardValue | None:
    """The innermost open guard that set one of these fields as it is now."""
    for guard in reversed(state.opened):
        for field, value in guard.sets:
            if field in fields and getattr(state.modes, field) == value:
                return guard
    return None


def why_unrecorded(state: State) -> GuardValue | None:
    """The open guard under which nothing is recorded."""
    for guard in reversed(state.opened):
        sets = dict(guard.sets)
        if sets.get("inference") or sets.get("below_autograd") or sets.get("grad") is False:
            return guard
    return None


def run_block(machine: Machine, statement: Block, state: State, place: Place) -> list[Outcome]:
    """A `with` statement or a C++ block."""
    if not statement.items:
        return machine.run(statement.block, state, place)
    return _enter(machine, statement, 0, state, place)


def leave_scope(state: State, depth: int) -> None:
    """Destroy the C++ guards that were made since."""
    while len(state.scoped) > depth:
        state.modes, state.opened = state.scoped[-1]
        state.scoped = state.scoped[:-1]


def _enter(machine: Machine, statement: Block, index: int, state: State, place: Place) -> list[Outcome]:
    """Enter the items of a `with` statement from one on, and run its block."""
    if index == len(statement.items):
        return machine.run(statement.block, state, place)
    item = statement.items[index]
    outcomes: list[Outcome] = []
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
    machine: Machine, statement: Block, index: int, context: Value, written: Expression, state: State, place: Place
) -> list[Outcome]:
    target = statement.items[index].target
    modes, opened = state.modes, state.opened

    def body(one: State, given: Value) -> list[Outcome]:
        going = machine.bind(target, given, one, place) if target is not None else [one]
        return [outcome for bound in going for outcome in _enter(machine, statement, index + 1, bound, place)]

    def restored(outcomes: list[Outcome]) -> list[Outcome]:
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
        return [Outcome(state, "raise")]  # `with torch.no_grad:` has no `__enter__`
    if isinstance(thing, Generator):
        return calls.run_context(machine, thing, body, state, place)
    if isinstance(thing, Instance) and thing.kind == "stack":
        return restored(body(state, context))
    if isinstance(thing, Instance) and thing.cls is not None:
        entering = calls.find_method(machine, thing.cls, "__enter__", state)
        leaving = calls.find_method(machine, thing.cls, "__exit__", state)
        if entering is not None and leaving is not None:
            found = []
            for after, given in calls.call_closure(machine, entering, (context,), (), state, place):
                for outcome in body(after, given):
                    arguments = (context, NONE, NONE, NONE)
                    for last, _ in calls.call_closure(machine, leaving, arguments, (), outcome.state, place):
                        found.append(Outcome(last, outcome.kind, outcome.value))
            return found
    words = {word.lower() for word in words_of(written)}
    if any(word in ("raises", "assertraises", "assertraisesregex", "warns", "assertwarns") for word in words):
        state.shielded += 1
        outcomes = body(state, state.opaque())
        for outcome in outcomes:
            outcome.state.shielded -= 1
        # The block may be left in the middle: what it would have done isn't sure.
        return outcomes
    if isinstance(thing, Opaque) and _may_set_modes(words):
        state.modes = Modes(None, None, None, None)
        return restored(body(state, state.opaque()))
    given: Value = context if isinstance(context, Ref) else state.opaque()
    return body(state, given)


def _may_set_modes(words: set[str]) -> bool:
    """Whether an unknown context manager is called as one is that sets the mode."""
    return any(part in word for word in words for part in ("grad", "infer", "mode", "ctx", "context", "guard", "eval"))


def items_of(value: Value, state: State) -> tuple[Value, ...]:
    thing = state.thing(value)
    return thing.values if isinstance(thing, Items) else ()


def decorating(value: Value) -> GuardValue | None:
    """The guard that a decorator is."""
    return value if isinstance(value, GuardValue) else None


def is_guarded(closure: Closure) -> bool:
    return bool(closure.guards)
