"""Methods that every `nn.Module` has."""

from __future__ import annotations

from ..analysis.model_types import MODULES_GIVE_THEMSELVES
from . import forward_hooks, gradients, making, module_parts, tensor_writes
from .module_parts import MODULE_KINDS
from .paths import Interpreter, Keywords, Place, Results
from .state import State
from .values import NONE, Const, Instance, Ref, Table, Value


def call_module_method(
    machine: Interpreter,
    ref: Ref,
    thing: Instance,
    name: str,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
    shown: str,
) -> Results | None:
    """Call a method of a module that its class doesn't define; None of one that `nn.Module` doesn't have."""
    if name in forward_hooks.REGISTERS and arguments:
        return [(state, forward_hooks.register_hook(ref, name, arguments[0], state))]
    if name == "apply" and arguments:
        return _apply_to_all(machine, ref, arguments[0], state, place)
    if name in MODULES_GIVE_THEMSELVES:
        if name == "requires_grad_":
            flag = arguments[0] if arguments else Const(True)
            for parameter in module_parts.parameters_of(ref, state) or ():
                if not tensor_writes.require_grad(machine, parameter, flag, state, place, name):
                    return []
        if name in ("train", "eval"):
            module_parts.set_training(ref, arguments[0] if arguments else Const(name == "train"), state)
        return [(state, ref)]
    if name == "is_training":
        return machine.attribute(ref, "training", state, place, shown)
    parts = module_parts.listed_tensors(ref, name, state)
    if parts is not None:
        return [(state, parts)]
    if name == "register_module" and len(arguments) >= 2:
        return [(state, arguments[1])]
    if name in ("register_buffer", "register_parameter") and len(arguments) >= 2 and isinstance(arguments[0], Const):
        return _register(machine, ref, name, str(arguments[0].value), arguments[1], state, place, shown)
    if name in ("modules", "children", "named_modules", "named_children"):
        listed = module_parts.listed_modules(ref, name, state)
        if listed is not None:
            return [(state, listed)]
        module_parts.set_training(ref, state.plain(), state)  # what is found there may be given another mode
    if name == "zero_grad":
        gradients.forget_gradients(machine, state)
    if name in ("zero_grad", "modules", "children", "named_modules", "named_children", "extra_repr"):
        return [(state, state.opaque(name, tensor=False))]
    if name == "load_state_dict":
        return _load_state(machine, ref, arguments, keywords, state, place)
    if name in ("forward", "__call__"):
        return machine.call_value(ref, arguments, keywords, state, place, shown)
    if name == "append" and thing.kind == "sequential" and arguments:
        state.change(ref, attributes={**thing.attributes, str(len(thing.attributes)): arguments[0]})
        return [(state, ref)]
    if name == "__getitem__":
        index = arguments[0] if arguments else NONE
        key = str(int(index.value)) if isinstance(index, Const) and isinstance(index.value, float) else ""
        return [(state, thing.attributes.get(key) or state.opaque(f"{shown}[]"))]
    return None


def _register(
    machine: Interpreter,
    ref: Ref,
    name: str,
    attribute: str,
    given: Value,
    state: State,
    place: Place,
    shown: str,
) -> Results:
    """`register_buffer`, `register_parameter`."""
    is_parameter = name == "register_parameter" and state.tensor(given) is not None
    if is_parameter and not tensor_writes.require_grad(machine, given, Const(True), state, place, name):
        return []
    going = machine.set_attribute(ref, attribute, given, state, place, shown)
    return [(one, given) for one in going]


def _load_state(
    machine: Interpreter, ref: Ref, arguments: tuple[Value, ...], keywords: Keywords, state: State, place: Place
) -> Results:
    """`load_state_dict`: the parameters are written without being recorded, or replaced by what is given."""
    name = "load_state_dict"
    if dict(keywords).get("assign") == Const(True):
        table = state.thing(arguments[0]) if arguments else None
        held = [*(value for _, value in table.pairs), table.rest or NONE] if isinstance(table, Table) else []
        for given in (one for one in held if making.is_inference(one, state)):
            if not tensor_writes.require_grad(machine, given, Const(True), state, place, name):
                return []
        return [(state, NONE)]
    modes = state.modes
    state.modes = modes._replace(grad=False)
    for parameter in module_parts.parameters_of(ref, state) or ():
        if not tensor_writes.write_tensor(machine, parameter, state, place, name):
            return []
    state.modes = modes
    return [(state, NONE)]


def _apply_to_all(machine: Interpreter, ref: Ref, function: Value, state: State, place: Place) -> Results:
    """`module.apply(init)`: of all that the module holds, and of itself."""
    thing = state.thing(ref)
    assert isinstance(thing, Instance)
    going = [state]
    for child in (*thing.attributes.values(), ref):
        held = state.thing(child)
        if isinstance(held, Instance) and held.kind in MODULE_KINDS and isinstance(child, Ref):
            if child == ref:
                results = [pair for s in going for pair in machine.call_value(function, (ref,), (), s, place, "apply")]
            else:
                results = [pair for s in going for pair in _apply_to_all(machine, child, function, s, place)]
            going = [after for after, _ in results]
    return [(after, ref) for after in going]
