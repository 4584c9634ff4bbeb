"""What things hold: their attributes and elements, and what is put there."""

from __future__ import annotations

import guardfix.torch_ops as torch_ops  # `from guardfix import …` would import the library

from ..facts.expressions import (
    Comprehension,
    Operation,
    Subscript,
    last_name,
)
from . import (
    classes,
    container_methods,
    gradients,
    making,
    model_names,
    module_parts,
    objects,
    tensor_writes,
    tensors,
    unnoticed,
)
from .paths import Interpreter, Place, Results
from .state import State
from .values import (
    DECLARED,
    NONE,
    ClassValue,
    Const,
    Instance,
    Items,
    Method,
    Name,
    Opaque,
    Plain,
    Ref,
    Table,
    Tensor,
    Truth,
    Value,
)

_PARTS = ("first", "second", "values", "indices", "data", "target")
"""Attributes of C++'s pairs and of libtorch's examples, and of what `topk` and `max` give."""


def attribute(machine: Interpreter, holder: Value, name: str, state: State, place: Place, shown: str) -> Results:
    """`holder.name`."""
    thing = state.thing(holder)
    if isinstance(holder, Name):
        dotted = (*holder.path, name)
        if holder.path[0] != "torch":
            value = machine.imported(".".join(dotted), state, place.file)
            return [(state, value)]
        return [(state, Name(dotted))]
    if isinstance(holder, ClassValue):
        found = classes.find_in_class(machine, holder, name, state)
        if found is not None:
            return [(state, found)]
        if name == "apply" and classes.kind_of_class(machine, holder, state) == "function":
            return [(state, Method(holder, "apply"))]
        return [(state, state.opaque(name))]
    if isinstance(thing, Instance):
        return objects.instance_attribute(machine, holder, thing, name, state, place, shown)
    if isinstance(thing, Items) and name in _PARTS:
        return [(state, element_of(machine, holder, state, _PARTS.index(name) % 2, shown))]
    if isinstance(thing, Tensor):
        assert isinstance(holder, Ref)
        if name == "_version" and not tensors.read_version(machine, holder, thing, state, place):
            return []
        return [(state, tensors.tensor_attribute(holder, thing, name, state, place))]
    if isinstance(thing, Opaque):
        assert isinstance(holder, Ref)
        known = thing.attributes.get(name)
        if known is None:
            if thing.tensor and name in torch_ops.TENSOR_PROPERTIES:
                return [(state, tensors.tensor_property(holder, name, state))]
            settings = model_names.holds_settings(shown) and not model_names.holds_settings(name)
            is_tensor = True if name == "grad" and place.file.language == "python" else None
            known = state.opaque(f"{shown}.{name}" if shown else name, tensor=False if settings else is_tensor)
            state.change(holder, attributes={**thing.attributes, name: known})
        return [(state, known)]
    if holder == NONE:
        return []
    if isinstance(holder, (Truth, Plain)):
        return [(state, state.plain())]
    return [(state, Method(holder, name))]


def set_attribute(
    machine: Interpreter, holder: Value, name: str, value: Value, state: State, place: Place, shown: str
) -> list[State]:
    """`holder.name = value`."""
    thing = state.thing(holder)
    if isinstance(holder, Ref) and isinstance(thing, (Instance, Opaque)):
        state.change(holder, attributes={**thing.attributes, name: value})
        machine.stored(holder, name, value, state, place)
        return [state]
    if isinstance(holder, Ref) and isinstance(thing, Tensor):
        if name == "requires_grad":
            done = tensor_writes.require_grad(machine, holder, value, state, place, "requires_grad")
            return [state] if done else []
        if name == "grad":
            gradients.give_gradient(machine, holder, value, state)
        if name == "data":
            return [state] if tensor_writes.set_data(machine, holder, value, state, place) else []
        return [state]
    if isinstance(holder, ClassValue) and holder.frame is not None and holder.frame in state.frames:
        state.names(holder.frame)[name] = value
    return [state] if holder != NONE else []


def element_of(machine: Interpreter, holder: Value, state: State, index: int | None, name: str) -> Value:
    """An element of what is iterated or unpacked."""
    thing = state.thing(holder)
    if isinstance(thing, Items):
        if index is not None and index < len(thing.values):
            return thing.values[index]
        if thing.rest is not None:
            return thing.rest
        if index is None and thing.values:
            return thing.values[0]
        return state.opaque(name)
    if isinstance(thing, Tensor):
        assert isinstance(holder, Ref)
        if thing.open:
            return holder
        return making.alias(state, holder, view=True)
    if isinstance(thing, Table):
        if thing.gives_pairs:
            key, value = thing.pairs[0] if thing.pairs else (state.plain(), thing.rest or state.opaque(name))
            return state.add(Items("()", (key, value)))
        return thing.pairs[0][0] if thing.pairs else state.plain()
    if isinstance(thing, Instance) and thing.kind == "record" and index is not None and index < len(thing.attributes):
        return [*thing.attributes.values()][index]
    if isinstance(thing, Instance) and thing.cls is not None and index is not None and _is_tuple(thing.cls):
        names = [*classes.field_names(thing.cls.body)]
        return thing.attributes.get(names[index] if index < len(names) else "") or state.opaque(name)
    children = module_parts.children_of(thing) if isinstance(thing, Instance) and thing.kind == "sequential" else None
    if children:
        return children[min(index or 0, len(children) - 1)][1]
    if isinstance(thing, Opaque):
        return state.opaque(name, tensor=True if thing.tensor else None, origin=thing.origin, under=thing.under)
    return state.plain() if isinstance(holder, (Plain, Const, Truth)) else state.opaque(name)


def _is_tuple(cls: ClassValue) -> bool:
    return any(last_name(base) == "NamedTuple" for base in cls.body.bases)


def any_element(thing: Items, state: State) -> Value:
    """One of a list's elements, if nothing depends on which it is."""
    if thing.rest is not None:
        return thing.rest
    return thing.values[0] if thing.values and state.are_alike(thing.values) else state.opaque()


def set_element(
    machine: Interpreter,
    holder: Value,
    indices: tuple[Value, ...],
    value: Value,
    state: State,
    place: Place,
    shown: str,
) -> list[State]:
    """`holder[indices] = value`."""
    thing = state.thing(holder)
    if isinstance(thing, Tensor) and isinstance(holder, Ref):
        if (
            thing.open
            and not making.is_tensor(value, state)
            and any(isinstance(index, Const) and isinstance(index.value, str) for index in indices)
        ):
            return [state]
        return [state] if tensor_writes.write_element(machine, holder, value, state, place) else []
    if isinstance(thing, Items) and isinstance(holder, Ref):
        index = indices[0] if indices else NONE
        position = int(index.value) if isinstance(index, Const) and isinstance(index.value, float) else None
        if position is not None and 0 <= position < len(thing.values):
            values = (*thing.values[:position], value, *thing.values[position + 1 :])
            state.heap[holder.number] = Items(thing.kind, values, thing.rest)
        else:
            state.heap[holder.number] = Items(thing.kind, thing.values, _filled(thing.rest, value, state))
        return [state]
    if isinstance(thing, Table) and isinstance(holder, Ref):
        key = indices[0] if indices else NONE
        state.heap[holder.number] = thing.with_pair(key, value, state.opaque())
        return [state]
    if isinstance(thing, Opaque):
        unnoticed.note_write(machine, holder, state, place, "[] =")
    if isinstance(thing, Opaque) and isinstance(holder, Ref) and isinstance(indices[0] if indices else NONE, Const):
        key = indices[0] if indices else NONE
        assert isinstance(key, Const)
        state.change(holder, attributes={**thing.attributes, f"[{key.value}]": value})
    return [state]


def _filled(rest: Value | None, value: Value, state: State) -> Value:
    """What stands for a list's elements once one of them is set: a list of nothing is there to be filled."""
    thing = state.thing(rest)
    empty = rest == NONE or (isinstance(thing, Opaque) and thing.origin == DECLARED)
    return value if empty or (rest is not None and state.are_alike((rest, value))) else state.opaque()


def subscript(
    machine: Interpreter, holder: Value, indices: tuple[Value, ...], expression: Subscript, state: State, place: Place
) -> Results:
    """`holder[indices]`."""
    thing = state.thing(holder)
    if isinstance(thing, Tensor):
        assert isinstance(holder, Ref)
        return [(state, tensors.tensor_element(machine, holder, thing, indices, state, place))]
    if isinstance(thing, Items):
        index = indices[0] if len(indices) == 1 else NONE
        if isinstance(index, Const) and isinstance(index.value, float):
            position = int(index.value)
            if -len(thing.values) <= position < len(thing.values) and (position >= 0 or thing.rest is None):
                return [(state, thing.values[position])]
        if isinstance(state.thing(index), Items):
            return [(state, holder)]  # a slice
        return [(state, any_element(thing, state))]
    if isinstance(thing, Table):
        key = indices[0] if indices else NONE
        known_ = container_methods.looked_up(thing, key, state)
        if known_ is None and thing.default and isinstance(key, Const):
            known_ = state.add(Items("[]", ()) if thing.default == "list" else Table(()))
            state.heap[holder.number] = thing._replace(pairs=(*thing.pairs, (key, known_)))  # type: ignore[union-attr]
        return [(state, known_ if known_ is not None else state.opaque())]
    if isinstance(thing, Opaque):
        assert isinstance(holder, Ref)
        key = indices[0] if len(indices) == 1 else NONE
        if isinstance(key, Const) and key != NONE:
            known_ = thing.attributes.get(f"[{key.value}]")
            if known_ is None:
                known_ = state.opaque(str(expression))
                state.change(holder, attributes={**thing.attributes, f"[{key.value}]": known_})
            return [(state, known_)]
        if thing.tensor:
            return [(state, making.alias(state, holder))]
        return [(state, state.opaque(str(expression)))]
    if isinstance(thing, Instance):
        return objects.call_instance_method(
            machine,
            holder,
            thing,
            "__getitem__",
            indices,
            (),
            state,
            place,
            str(expression.object),
        )
    if holder == NONE:
        return []
    if isinstance(holder, (Name, ClassValue)):
        return [(state, holder)]  # `list[int]`
    return [(state, state.plain())]


def comprehension(machine: Interpreter, expression: Comprehension, state: State, place: Place) -> Results:
    """A list, set or dict of what its element comes to."""
    frame = state.enter_frame(parent=place.frame)
    inner = Place(place.file, place.body, frame, place.span, place.calls, place.resumed)
    going = [state]
    element = expression.element
    parts = element.operands if expression.kind == "{:}" and isinstance(element, Operation) else (element,)
    if len(expression.clauses) == 1 and not expression.clauses[0].conditions:
        found: Results = []
        clause = expression.clauses[0]
        for after, iterable in machine.evaluate(clause.iterable, state, inner):
            thing = after.thing(iterable)
            if isinstance(thing, Items) and thing.rest is None and len(thing.values) <= 4:
                states: list[tuple[State, list[list[Value]]]] = [(after, [])]
                for item in thing.values:
                    states = [
                        (last, [*made, values])
                        for one, made in states
                        for bound in machine.bind(clause.target, item, one, inner)
                        for last, values in machine.each(parts, bound, inner)
                    ]
                found += [(last, last.add(_collected(expression, made, None))) for last, made in states]
            else:
                item = element_of(machine, iterable, after, None, str(clause.target))
                for bound in machine.bind(clause.target, item, after, inner):
                    for last, values in machine.each(parts, bound, inner):
                        found.append((last, last.add(_collected(expression, [], values[-1]))))
        return found
    for clause in expression.clauses:
        asked, going = going, []
        for one in asked:
            for after, iterable in machine.evaluate(clause.iterable, one, inner):
                item = element_of(machine, iterable, after, None, str(clause.target))
                going += machine.bind(clause.target, item, after, inner)
        for condition in clause.conditions:
            asked, going = going, []
            for one in asked:
                before = one.choices
                then, _ = machine.branches(condition, one, inner)
                for kept in then:
                    kept.choices = before
                going += then
    return [
        (last, last.add(_collected(expression, [], values[-1])))
        for one in going
        for last, values in machine.each(parts, one, inner)
    ]


def _collected(expression: Comprehension, made: list[list[Value]], rest: Value | None) -> Items | Table:
    """Of a dict, what is made are its keys and values."""
    if expression.kind == "{:}":
        return Table(tuple((key, value) for key, value in made), rest)
    return Items("[]", tuple(value for (value,) in made), rest)
