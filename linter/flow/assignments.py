"""Assignments: what a target is given, by its form."""

from __future__ import annotations

from msgspec.structs import replace

from ..facts.bodies import Assign
from ..facts.expressions import Bracketed, Expression, MemberAccess, NamePath, Operation, Subscript, simple_name
from . import cpp_declarations, elements, evaluation, lost_parameters, operators, tensor_writes
from .paths import Interpreter, PathOutcome, Place, Results
from .state import State
from .values import NONE, Const, Opaque, Plain, Ref, Tensor, Value


def run_assignment(machine: Interpreter, statement: Assign, state: State, place: Place) -> list[PathOutcome]:
    """`a = b = value`, `a += value`, a declaration of C++."""
    if statement.declares and statement.type is not None and place.file.language != "python":
        return [PathOutcome(after, "next") for after in cpp_declarations.declare(machine, statement, state, place)]
    if statement.value is None:
        return [PathOutcome(state, "next")]
    if statement.operator not in ("=", ":="):
        target = statement.targets[0]
        found: list[PathOutcome] = []
        for after, (old, given) in machine.each((target, statement.value), state, place):
            if not tensor_writes.step_leaf(machine, target, old, (statement.value,), after, place, statement.operator):
                continue
            name = evaluation.variable_name(target)
            for done, new in operators.augmented(machine, statement.operator, old, given, after, place, name):
                # `y[0] += 1` writes into `y` again.
                for last in machine.bind(target, new, done, place):
                    found.append(PathOutcome(last, "next"))
        return found
    value = statement.value
    if isinstance(value, Operation) and value.operator == "yield" and place.resumed is not None:
        yields: Results = machine.evaluate(value.operands[0], state, place) if value.operands else [(state, NONE)]
        outcomes = [outcome for one, yielded in yields for outcome in place.resumed(one, yielded)]
        for outcome in outcomes:
            if outcome.kind == "next":
                for target in statement.targets:
                    machine.bind(target, outcome.state.opaque("sent"), outcome.state, place)
        return outcomes
    states = []
    for after, result in machine.evaluate(value, state, place):
        lost_parameters.tell_lost_parameter(machine, statement, result, after, place)
        going = [after]
        for target in statement.targets:
            machine.name_thing(result, target, after)
            going = [last for one in going for last in machine.bind(target, result, one, place)]
        states += going
    return [PathOutcome(one, "next") for one in states]


def name_thing(machine: Interpreter, value: Value, target: Expression, state: State) -> None:
    """Let an unknown thing be called by the variable that first holds it."""
    thing = state.thing(value)
    if not isinstance(value, Ref):
        return
    if isinstance(thing, Opaque) and not thing.name:
        state.change(value, name=evaluation.variable_name(target))
    elif isinstance(thing, Tensor) and not (thing.name and thing.named):
        state.change(value, name=evaluation.variable_name(target), named=True)


def bind(machine: Interpreter, target: Expression, value: Value, state: State, place: Place) -> list[State]:
    """Give a target a value."""
    if isinstance(target, Bracketed):
        if len(target.items) == 1 and target.brackets == "()" and place.file.language != "python":
            return machine.bind(target.items[0], value, state, place)
        going = [state]
        starred = False
        for index, item in enumerate(target.items):
            if isinstance(item, Operation) and item.operator == "*":
                starred = True
                going = [last for one in going for last in machine.bind(item.operands[0], one.opaque(), one, place)]
                continue
            going = [
                last
                for one in going
                for last in machine.bind(
                    item, elements.element_of(machine, value, one, None if starred else index, str(item)), one, place
                )
            ]
        return going
    if isinstance(target, Operation) and target.operator == "*" and len(target.operands) == 1:
        return machine.bind(target.operands[0], value, state, place)  # what a pointer points to
    name = simple_name(target)
    if name:
        _bind_name(machine, name, value, state, place)
        return _bind_referred(machine, name, value, state, place)
    if isinstance(target, MemberAccess):
        found: list[State] = []
        for after, holder in machine.evaluate(target.object, state, place):
            found += elements.set_attribute(machine, holder, target.name, value, after, place, str(target.object))
        return found
    if isinstance(target, Subscript):
        found = []
        for after, (holder, *indices) in machine.each((target.object, *target.indices), state, place):
            found += elements.set_element(
                machine, holder, tuple(indices), value, after, place, evaluation.variable_name(target.object)
            )
        return found
    return [after for after, _ in machine.evaluate(target, state, place)]


def _bind_referred(machine: Interpreter, name: str, value: Value, state: State, place: Place) -> list[State]:
    """What a C++ reference is another name of gets the value as well: `auto& kept = cache_[key]; kept = value;`."""
    found, own = state.find(cpp_declarations.REFERENCE + name, place.frame), state.find(name, place.frame)
    if found is None or own is None or found[0] != own[0] or not isinstance(found[1], Const):
        return [state]
    referred = found[1].value
    if not isinstance(referred, (MemberAccess, NamePath, Subscript)) or simple_name(referred) == name:
        return [state]
    return machine.bind(referred, value, state, replace(place, frame=found[0]))


def _bind_name(machine: Interpreter, name: str, value: Value, state: State, place: Place) -> None:
    if place.file.language != "python":
        cpp_declarations.assign(machine, name, value, state, place)
        return
    frame = place.frame
    if "<outer>" + name in state.frames[frame]:
        outer = state.frames[frame].get("<parent>")
        found = state.find(name, outer.number if isinstance(outer, Plain) else None)
        if found is not None:
            frame = found[0]
    state.names(frame)[name] = value
