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


def call_keeper(
    machine: Interpreter, ref: Ref, thing: Instance, name: str, arguments: tuple[Value, ...], state: State, place: Place
) -> Results:
    """A method of what keeps a guard."""
    effect = thing.attributes["<effect>"]
    if name in ("emplace", "reset"):
        _leave(ref, state)
        _put(ref, NONE, state)
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
