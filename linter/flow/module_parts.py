"""What modules hold: those inside them, their parameters, and whether they train."""

from __future__ import annotations

from .state import State
from .values import Const, Instance, Items, Opaque, Ref, Table, Value

MODULE_KINDS = ("module", "layer", "sequential")
"""Of `Instance`: those that are modules."""
LISTED = "modules"
"""`Items.kind` of a list of modules: a loop runs over each of them."""
_MOST_LISTED = 16


def children_of(module: Instance) -> list[tuple[str, Value]]:
    """What a module holds, by name; its own `training` and hooks are none."""
    return [(name, one) for name, one in module.attributes.items() if name != "training" and not name.startswith("<")]


def set_training(ref: Value, mode: Value, state: State) -> None:
    """What `train` and `eval` do to a module and all that it holds."""
    thing = state.thing(ref)
    is_module = isinstance(thing, Instance) and thing.kind in MODULE_KINDS
    if isinstance(ref, Ref) and isinstance(thing, Instance) and is_module and thing.attributes.get("training") != mode:
        state.change(ref, attributes={**thing.attributes, "training": mode})
        for value in thing.attributes.values():
            set_training(value, mode, state)


# -- modules


def listed_modules(ref: Ref, name: str, state: State) -> Value | None:
    """What `modules`, `named_children` and the like list; None where that isn't known."""
    only_children = name.endswith("children")
    found = _modules_in(ref, state, deep=not only_children)
    if found is None or len(found) > _MOST_LISTED:
        return None
    listed = [(inner, one) for inner, one in found if inner or not only_children]
    if name.startswith("named_"):
        return state.add(Items(LISTED, tuple(state.add(Items("()", (Const(inner), one))) for inner, one in listed)))
    return state.add(Items(LISTED, tuple(one for _, one in listed)))


def _modules_in(ref: Value, state: State, *, deep: bool, name: str = "") -> list[tuple[str, Ref]] | None:
    """A module and those inside it, each with its name; None where not all of them are known."""
    thing = state.thing(ref)
    if not isinstance(ref, Ref) or not isinstance(thing, Instance) or thing.kind not in MODULE_KINDS:
        return None if isinstance(thing, Opaque) and thing.tensor is None else []
    if not thing.complete:
        return None
    found = [(name, ref)]
    for inner, child in children_of(thing) if deep or not name else ():
        below = _modules_in(child, state, deep=deep, name=_joined(name, inner))
        if below is None or len(found) > _MOST_LISTED:
            return None
        found += [pair for pair in below if all(pair[1] != one for _, one in found)]
    return found


def _joined(name: str, inner: str) -> str:
    return f"{name}.{inner}" if name else inner


# -- parameters


def listed_tensors(ref: Ref, name: str, state: State) -> Value | None:
    """What a module's method of this name lists: its parameters and buffers; None where it lists others."""
    if name not in ("parameters", "buffers", "named_parameters", "named_buffers", "state_dict"):
        return None
    known = named_parameters_of(ref, state) if name in ("parameters", "named_parameters") else None
    unknown = state.opaque(tensor=True) if known is None else None
    if name == "state_dict":
        return state.add(Table((), unknown))
    if name.startswith("named_"):
        pairs = tuple(state.add(Items("()", (Const(inner), one))) for inner, one in known or ())
        return state.add(Items("[]", pairs, state.add(Items("()", (state.plain(), unknown))) if unknown else None))
    return state.add(Items("[]", tuple(one for _, one in known or ()), unknown))


def parameters_of(ref: Value, state: State) -> list[Ref] | None:
    """The parameters of a module; None where not all of it is known."""
    known = named_parameters_of(ref, state)
    return [one for _, one in known] if known is not None else None


def named_parameters_of(
    ref: Value, state: State, seen: frozenset[int] = frozenset(), name: str = ""
) -> list[tuple[str, Ref]] | None:
    """The same, each with its name."""
    thing = state.thing(ref)
    if not isinstance(ref, Ref) or ref.number in seen:
        return []
    tensor = state.tensor(ref)
    if tensor is not None:
        return [(name, ref)] if tensor.grad and tensor.leaf else []
    if isinstance(thing, Instance) and thing.kind in MODULE_KINDS:
        if not thing.complete:
            return None
        found: list[tuple[str, Ref]] = []
        for inner, value in thing.attributes.items():
            below = named_parameters_of(value, state, seen | {ref.number}, _joined(name, inner))
            if below is None:
                return None
            found += below
        return found
    return [] if not isinstance(thing, Opaque) else None


def replace_tensors(module: Value, given: Table, state: State) -> dict[tuple[Ref, str], Value]:
    """Give a module other tensors, by their dotted names; what was there before."""
    before: dict[tuple[Ref, str], Value] = {}
    for key, value in given.pairs:
        holder, (*path, last) = module, str(key.value if isinstance(key, Const) else "").split(".")
        for part in path:
            outer = state.thing(holder)
            holder = outer.attributes.get(part, module) if isinstance(outer, Instance) else module
        thing = state.thing(holder)
        if isinstance(holder, Ref) and isinstance(thing, Instance) and last in thing.attributes:
            before[holder, last] = thing.attributes[last]
            state.change(holder, attributes={**thing.attributes, last: value})
    return before


def put_back(before: dict[tuple[Ref, str], Value], state: State) -> None:
    """Give modules the tensors that they had."""
    for (holder, name), value in before.items():
        thing = state.thing(holder)
        if isinstance(thing, Instance):
            state.change(holder, attributes={**thing.attributes, name: value})
