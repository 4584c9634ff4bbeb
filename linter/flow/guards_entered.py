"""What guards do to the modes of a thread."""

from __future__ import annotations

from collections.abc import Callable

from ..facts.bodies import Body, BodyKind
from ..guards import CPP, PYTHON, Effect, python_guard
from .paths import Interpreter, Place
from .state import State
from .values import (
    GuardValue,
    Modes,
    Name,
    Step,
    Truth,
    Value,
)

Sets = tuple[tuple[str, bool | None], ...]


def _inference(on: bool) -> Sets:
    # Off, it is the normal mode whatever was around it: with grad, also inside `no_grad`.
    return (
        (("inference", True), ("grad", False))
        if on
        else (("inference", False), ("grad", True), ("below_autograd", False))
    )


_SETS: dict[Effect, Callable[[bool], Sets]] = {
    Effect.INFERENCE: _inference,
    Effect.GRAD_MODE: lambda on: (("grad", on),),
    Effect.BELOW_AUTOGRAD: lambda on: (("below_autograd", True),),
    Effect.BELOW_ADINPLACEORVIEW: lambda on: (("below_view", True), ("below_autograd", True)),
}
"""What an entered guard sets, given whether it is on."""
_DECIDED = "a condition decides whether the guard is on"
_FIXED = {"no_grad": False, "enable_grad": True, "NoGradGuard": False}


def guard_of(name: Name, language: str) -> tuple[str, Effect] | None:
    """The row of the guard table that a name stands for, and its effect."""
    if language == "python":
        row = python_guard(name.dotted)
        guard = PYTHON.get(row) if row is not None else None
    else:
        guard = CPP.get(name.path[-1])
        qualifier = "::".join(name.path[:-1])
        known = guard is not None and (not guard.namespaces or qualifier in guard.namespaces)
        if qualifier and not known and name.path[0] not in ("c10", "at", "torch"):
            guard = None
    if guard is None or guard.effect not in _SETS or guard.name == "AutoFwGradMode":
        return None
    return guard.name, guard.effect


def made_guard(name: str, effect: Effect, on: bool, place: Place) -> GuardValue:
    """The guard that a name makes here; `File.instead` may say that another one is in its place."""
    effect = place.file.instead.get(name, effect)
    return GuardValue(name, _SETS[effect](_FIXED.get(name, on)), place.file.path, place.span)


def on_and_off(machine: Interpreter, flag: Value, state: State, place: Place) -> list[tuple[State, bool]]:
    """The states in which a guard with this flag is on or off; both where nothing tells."""
    on = machine.truth(state, flag)
    if on is not None:
        return [(state, on)]
    sides: list[tuple[State, bool]] = []
    for one, side in ((state, True), (state.fork(), False)):
        assumed = machine.assume(one, flag, side)
        if assumed is not None:
            assumed.doubts |= {_DECIDED}
            assumed.choices |= {(flag.key if isinstance(flag, Truth) else ("flag", place.file.path, place.span), side)}
            sides.append((assumed, side))
    return sides


def decided_here(state: State, before: frozenset[object]) -> None:
    """A guard is made from what conditions have come to: `guard(!training)`, `set_grad_enabled(a and b)`."""
    if state.choices - before:
        state.doubts |= {_DECIDED}


def set_modes(state: State, guard: GuardValue) -> None:
    """What entering a guard does to the thread."""
    state.modes = state.modes._replace(**dict(guard.sets))
    state.opened = (*state.opened, guard)


def forget_modes(state: State) -> None:
    """What may be a guard begins to live: the modes aren't known until its block ends."""
    state.scoped = (*state.scoped, (state.modes, state.opened))
    state.modes = Modes(None, None, None, None)


def leave_guard(state: State, guard: GuardValue) -> None:
    """What `guard.__exit__` does: the modes are those that the guards around it have set."""
    place = max((index for index, opened in enumerate(state.opened) if opened == guard), default=0)
    if guard.name == "set_grad_enabled" and state.opened[place - 1 : place] == (guard,):
        place -= 1  # it has set the mode when it was made, and again when it was entered
    around, state.modes, state.opened = state.opened[:place], Modes(), ()
    for outer in around:
        set_modes(state, outer)


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


def leave_scope(state: State, depth: int) -> None:
    """Destroy the C++ guards that were made since."""
    while len(state.scoped) > depth:
        state.modes, state.opened = state.scoped[-1]
        state.scoped = state.scoped[:-1]


def bringing_call(guard: GuardValue | None, place: Place, root: Body | None) -> Step | None:
    """The call below the guard, in the guard's own function; None where that is the function in which it happens, and
    where what is called has a decorator, through which every caller goes."""
    if guard is None or guard.is_engine or (guard.path == place.file.path and place.body.span.holds(guard.span)):
        return None
    callers = [root, *(body for body, _ in place.calls)]
    for caller, (called, step) in reversed([*zip(callers, place.calls, strict=False)]):
        if called.decorators or caller is None:
            return None
        if step.path == guard.path and caller.span.holds(guard.span):
            inner = caller.kind is BodyKind.MODULE and any(one.span.holds(guard.span) for one in caller.inner)
            return None if inner else step
    return None
