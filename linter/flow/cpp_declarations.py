"""C++ declarations, guards among them, and assignments to names that may be members'."""

from __future__ import annotations

from msgspec.structs import replace

from ..facts.bodies import Assign
from ..facts.expressions import Bracketed, MemberAccess, NamePath, Subscript, TypeName, simple_name
from . import classes, cpp_threads, cpp_values, held_guards
from .closures import TYPE
from .guards_entered import decided_here, forget_modes
from .paths import Interpreter, Place
from .state import State
from .values import Const, Instance, Items, Opaque, Ref, Tensor, Value

REFERENCE = "&"
"""Before the name of a reference, in its frame: the expression that it is another name of."""


def declare(machine: Interpreter, statement: Assign, state: State, place: Place) -> list[State]:
    """`T a;`, `T a(x);`, `T a{x};`, `T a = x;`, `auto& a = x;`."""
    written, value = statement.type, statement.value
    path = classes.type_path(written)
    named = state.find(TYPE + path.name, place.frame) if path is not None and len(path.path) == 1 else None
    if named is not None and isinstance(named[1], Const) and isinstance(written, TypeName):
        given = named[1].value  # a template's parameter
        path = classes.type_path(given) if isinstance(given, (NamePath, TypeName)) else path
        written = replace(written, name=path) if path is not None else written
    path = machine.program.type_meant(path, place.file) if path is not None else None
    target = statement.targets[0]
    name = simple_name(target)
    braces = value.items if isinstance(value, Bracketed) and not isinstance(target, Bracketed) else None
    if written is not None and cpp_values.is_guard(written, place) and "*" not in written.marks:
        items = braces if braces is not None else getattr(value, "arguments", ())
        before, entered = state.choices, []
        for after, values in machine.each(items if isinstance(items, tuple) else (), state, place):
            decided_here(after, before)
            entered += cpp_values.enter_guard(machine, written, tuple(values), after, place)
        return entered
    found: list[State] = []
    if path is None or path.name in ("auto", "decltype"):
        results = machine.evaluate(value, state, place) if value is not None else [(state, state.opaque(name))]
    elif value is None:
        made = (
            cpp_values.made_of_type(machine, path, (), state, place, name)
            if not written or not written.marks
            else [(state, state.opaque(name))]
        )
        results = made
    elif braces is not None and not (written is not None and written.marks):
        results = [
            pair
            for after, values in machine.each(braces, state, place)
            for pair in cpp_values.made_of_type(machine, path, tuple(values), after, place, name)
        ]
    else:
        results = machine.evaluate(value, state, place)
        if path.name in cpp_values.TENSORS:
            for after, given in results:
                thing = after.thing(given)
                if isinstance(thing, Opaque) and isinstance(given, Ref):
                    after.change(given, tensor=True)
    doubtful = machine.recorded is not None and cpp_threads.may_be_guard(machine, statement, place)
    for after, given in results:
        machine.name_thing(given, target, after)
        held_guards.begin(given, after)
        if doubtful and not held_guards.is_held(given, after):
            forget_modes(after)
        if name:
            names = after.names(place.frame)
            names[name] = given
            names.pop(REFERENCE + name, None)
            is_reference = isinstance(written, TypeName) and "&" in written.marks
            if is_reference and isinstance(value, (MemberAccess, Subscript, NamePath)):
                names[REFERENCE + name] = Const(value)
            found.append(after)
        else:
            found += machine.bind(target, given, after, place)
    return found


def assign(machine: Interpreter, name: str, value: Value, state: State, place: Place) -> None:
    """`name = value`, where the name may be a member's."""
    found = state.find(name, place.frame)
    if found is not None:
        held, given = state.thing(found[1]), state.thing(value)
        was_tensor = isinstance(held, Tensor) or (isinstance(held, Opaque) and held.tensor is True)
        if was_tensor and isinstance(value, Ref) and isinstance(given, Opaque) and given.tensor is None:
            state.change(value, tensor=True)  # as it was declared
        holder = found[1]
        if held_guards.is_held(holder, state):
            state.names(found[0])[name] = held_guards.replace(holder, value, state)
            return
        if isinstance(held, Instance) and held.cls is not None and isinstance(given, Items) and given.kind == "{}":
            assert isinstance(holder, Ref)
            members = (member.name for member in held.cls.body.members)
            state.change(holder, attributes={**held.attributes, **dict(zip(members, given.values, strict=False))})
            return
        if holder != value:
            held_guards.forget(holder, state)
        state.names(found[0])[name] = value
        return
    self_ = state.find("<self>", place.frame)
    thing = state.thing(self_[1]) if self_ is not None else None
    if self_ is not None and isinstance(thing, Instance) and isinstance(self_[1], Ref):
        if thing.cls is not None and any(member.name == name for member in thing.cls.body.members):
            before = cpp_values.member_of(machine, self_[1], thing, name, state, place)
            value = held_guards.replace(before, value, state) if held_guards.is_held(before, state) else value
            thing = state.thing(self_[1])
            assert isinstance(thing, Instance)
        state.change(self_[1], attributes={**thing.attributes, name: value})
        machine.stored(self_[1], name, value, state, place)
        return
    state.names(place.frame)[name] = value
