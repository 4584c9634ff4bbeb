"""Guards that C++ keeps in an optional or behind a smart pointer: they act as long as they are kept."""

from __future__ import annotations

from ..guards import Effect
from .guards_entered import leave_guard, made_guard, on_and_off, set_modes
from .paths import Interpreter, Place, Results
from .state import State
from .values import NONE, Const, GuardValue, Instance, Name, Opaque, Ref, Value

KIND = "held guard"
_GUARD = "<guard>"


def empty(guard: tuple[str, Effect], state: State) -> Ref:
    """`std::optional<Guard> held;`"""
    return state.add(Instance(KIND, guard[0], None, {"<effect>": Const(guard[1])}))


def newly_kept(
    machine: Interpreter, guard: tuple[str, Effect], arguments: tuple[Value, ...], state: State, place: Place
) -> Results:
    """`std::make_unique<Guard>(flag)`: it acts once a variable or member keeps it."""
    arguments = arguments[1:] if _is(arguments, "in_place", state) else arguments
    if arguments == (NONE,) or _is(arguments, "nullopt", state):
        return [(state, empty(guard, state))]
    given = arguments[0] if arguments else Const(True)
    found: Results = []
    for one, side in on_and_off(machine, given, state, place):
        ref = empty(guard, one)
        _put(ref, made_guard(*guard, side, place), one)
        found.append((one, ref))
    return found


def _is(arguments: tuple[Value, ...], name: str, state: State) -> bool:
    """Whether the first one is a constant of the standard library, with its namespace or without."""
    first = arguments[0] if arguments else NONE
    thing = state.thing(first)
    return first.path[-1] == name if isinstance(first, Name) else isinstance(thing, Opaque) and thing.name == name


def is_held(value: Value | None, state: State) -> bool:
    thing = state.thing(value)
    return isinstance(thing, Instance) and thing.kind == KIND


def begin(value: Value, state: State) -> None:
    """A variable or member keeps it, until its block ends or it is given something else."""
    if is_held(value, state):
        state.scoped = (*state.scoped, (state.modes, state.opened))
        _enter(value, state)


def replace(old: Value, new: Value, state: State) -> Value:
    """What a variable that keeps a guard holds once it is given something else."""
    _leave(old, state)
    if is_held(new, state):
        _enter(new, state)
        return new
    if isinstance(old, Ref):
        _put(old, NONE, state)
    return old


def move_of(value: Value, state: State) -> Value:
    """What `std::move` and the like give: until somebody is seen to keep it, whether it acts isn't known."""
    forget(value, state, escapes=True)
    thing = state.thing(value)
    if not is_held(value, state) or thing is None or not isinstance(value, Ref):
        return value
    taken = state.add(thing)
    _put(value, NONE, state)
    return taken


def forget(value: Value, state: State, *, escapes: bool = False) -> None:
    """Whether the guards that this and its parts keep still act isn't known; those that escape may outlive blocks."""
    waiting, seen = [value], set[Value]()
    while waiting:
        part = waiting.pop()
        thing = state.thing(part)
        if isinstance(part, GuardValue) and part in state.opened:
            _doubt(part, state, escapes)
        elif isinstance(thing, Instance) and part not in seen:
            seen.add(part)
            waiting += thing.attributes.values()


def _doubt(guard: GuardValue, state: State, escapes: bool) -> None:
    doubtful = guard._replace(sets=tuple((field, None) for field, _ in guard.sets))
    (state.modes, state.opened), *scoped = (
        (
            modes._replace(**dict(doubtful.sets)) if escapes or guard in opened else modes,
            tuple(doubtful if one == guard else one for one in opened),
        )
        for modes, opened in ((state.modes, state.opened), *state.scoped)
    )
    state.scoped = tuple(scoped)


def exchanged(name: str, arguments: tuple[Value, ...], state: State) -> Value | None:
    """`std::swap(a, b)`, `std::exchange(a, b)` of what keeps guards; None for others."""
    if len(arguments) != 2:
        return None
    old, new = (move_of(argument, state) for argument in arguments)
    if not is_held(arguments[0], state):
        return None
    for holder, given in zip(arguments, (new, old) if name == "swap" else (new,), strict=False):
        if isinstance(holder, Ref) and is_held(holder, state):
            _put(holder, _kept(given, state), state)
            if name != "swap":
                _enter(holder, state)
    return old


def call_keeper(
    machine: Interpreter, ref: Ref, thing: Instance, name: str, arguments: tuple[Value, ...], state: State, place: Place
) -> Results:
    """A method of what keeps a guard."""
    effect = thing.attributes["<effect>"]
    if name == "swap":
        exchanged(name, (ref, *arguments), state)
    if name in ("emplace", "reset"):
        _leave(ref, state)
        _put(ref, NONE, state)
    if name == "release":
        move_of(ref, state)
        return [(state, state.opaque(origin=name))]
    if name != "emplace" or not isinstance(effect, Const) or not isinstance(effect.value, Effect):
        return [(state, ref)]
    found: Results = []
    for one, made in newly_kept(machine, (thing.name, effect.value), arguments, state, place):
        _put(ref, _kept(made, one), one)
        _enter(ref, one)
        found.append((one, ref))
    return found


def _put(ref: Ref, guard: Value, state: State) -> None:
    thing = state.thing(ref)
    assert isinstance(thing, Instance)
    state.change(ref, attributes={**thing.attributes, _GUARD: guard})


def _kept(value: Value, state: State) -> Value:
    thing = state.thing(value)
    return thing.attributes.get(_GUARD, NONE) if isinstance(thing, Instance) else NONE


def _enter(value: Value, state: State) -> None:
    guard = _kept(value, state)
    if isinstance(guard, GuardValue) and guard not in state.opened:
        set_modes(state, guard)


def _leave(value: Value, state: State) -> None:
    guard = _kept(value, state)
    if isinstance(guard, GuardValue) and guard in state.opened:
        leave_guard(state, guard)
