"""Forward hooks: what a module runs before and after its own `forward`, under its caller's mode."""

from __future__ import annotations

from .paths import Interpreter, Place, Results
from .state import State
from .values import NONE, Const, Instance, Items, Ref, Value

REGISTERS = {"register_forward_hook": "<hooks>", "register_forward_pre_hook": "<pre-hooks>"}
"""Methods of modules, and where what they are given is held."""


def register_hook(ref: Ref, name: str, hook: Value, state: State) -> Value:
    """What `register_forward_hook` gives: a handle that removes the hook."""
    module = state.thing(ref)
    assert isinstance(module, Instance)
    held = state.add(Items("[]", (*hooks_of(module, name, state), hook)))
    state.change(ref, attributes={**module.attributes, REGISTERS[name]: held})
    attributes = {"module": ref, "hook": hook, "registered by": Const(name)}
    return state.add(Instance("handle", "RemovableHandle", attributes=attributes))


def remove_hook(handle: Instance, state: State) -> None:
    """What the handle's `remove` does."""
    ref, hook = handle.attributes["module"], handle.attributes["hook"]
    module = state.thing(ref)
    if isinstance(ref, Ref) and isinstance(module, Instance):
        by = handle.attributes["registered by"]
        assert isinstance(by, Const)
        left = tuple(one for one in hooks_of(module, str(by.value), state) if one is not hook)
        state.change(ref, attributes={**module.attributes, REGISTERS[str(by.value)]: state.add(Items("[]", left))})


def hooks_of(module: Instance, name: str, state: State) -> tuple[Value, ...]:
    held = state.thing(module.attributes.get(REGISTERS[name]))
    return held.values if isinstance(held, Items) else ()


def run_pre_hooks(
    machine: Interpreter, ref: Ref, hooks: tuple[Value, ...], given: tuple[Value, ...], state: State, place: Place
) -> list[tuple[State, tuple[Value, ...]]]:
    """What a module's `forward` is given after its pre-hooks: one that gives something back replaces it."""
    going = [(state, given)]
    for hook in hooks:
        after: list[tuple[State, tuple[Value, ...]]] = []
        for one, values in going:
            called = machine.call_value(hook, (ref, one.add(Items("()", values))), (), one, place, "a pre-hook")
            for last, new in called:
                several = last.thing(new)
                replaced = several.values if isinstance(several, Items) else (new,)
                after.append((last, values if new == NONE else replaced))
        going = after
    return going


def run_hooks(
    machine: Interpreter,
    ref: Ref,
    hooks: tuple[Value, ...],
    arguments: tuple[Value, ...],
    results: Results,
    place: Place,
    shown: str,
) -> Results:
    """The module's results after its hooks; one that gives something back replaces them."""
    for hook in hooks:
        after: Results = []
        for state, value in results:
            given = (ref, state.add(Items("()", arguments)), value)
            called = machine.call_value(hook, given, (), state, place, f"a hook of {shown}")
            after += [(one, value if new == NONE else new) for one, new in called]
        results = after
    return results
