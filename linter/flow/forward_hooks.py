"""Forward hooks: functions that a module runs after its own `forward`, whoever calls it and under whatever mode."""

from __future__ import annotations

from .paths import Interpreter, Place, Results
from .state import State
from .values import NONE, Instance, Items, Ref, Value

_HOOKS = "<hooks>"


def register_hook(ref: Ref, hook: Value, state: State) -> Value:
    """What `register_forward_hook` gives: a handle that removes the hook."""
    module = state.thing(ref)
    assert isinstance(module, Instance)
    held = state.add(Items("[]", (*hooks_of(module, state), hook)))
    state.change(ref, attributes={**module.attributes, _HOOKS: held})
    return state.add(Instance("handle", "RemovableHandle", attributes={"module": ref, "hook": hook}))


def remove_hook(handle: Instance, state: State) -> None:
    """What the handle's `remove` does."""
    ref, hook = handle.attributes["module"], handle.attributes["hook"]
    module = state.thing(ref)
    if isinstance(ref, Ref) and isinstance(module, Instance):
        left = tuple(one for one in hooks_of(module, state) if one is not hook)
        state.change(ref, attributes={**module.attributes, _HOOKS: state.add(Items("[]", left))})


def hooks_of(module: Instance, state: State) -> tuple[Value, ...]:
    held = state.thing(module.attributes.get(_HOOKS))
    return held.values if isinstance(held, Items) else ()


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
