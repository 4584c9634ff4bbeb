"""Parameters that a step by hand loses: `w = w - lr * w.grad` where nothing is recorded gives the name a tensor without
a graph. The parameter itself stays as it was, or isn't one any more when the step is taken again.
"""

from __future__ import annotations

from ..facts.bodies import Assign, Body, Loop
from ..facts.expressions import Expression, MemberAccess, is_this, last_name, nodes_of, simple_name, words_of
from ..facts.statement_walk import all_statements, called_in, nodes_in, words_in
from .events import EventKind
from .guards_entered import why_unrecorded
from .paths import Interpreter, Place
from .state import State
from .values import Step, Value

_MAKE_AGAIN = frozenset({"requires_grad_", "set_requires_grad", "Parameter"})
"""Calls that may make it a parameter again."""


def tell_lost_parameter(machine: Interpreter, statement: Assign, value: Value, state: State, place: Place) -> None:
    """`p = p - lr * p.grad`, under a guard, of a loop's variable or of an attribute of the method's object."""
    tensor, off = state.tensor(value), why_unrecorded(state)
    if state.modes.records is not False or tensor is None or not tensor.unrecorded or off is None or off.is_engine:
        return
    target = next((one for one in statement.targets if _is_own_gradient_in(statement.value, one)), None)
    if target is None:
        return
    if _is_dropped(place.body, statement, simple_name(target)):
        what = "that is given to the loop's variable alone, and the parameter stays as it was"
    elif state.trained and _is_kept(target, state, place):
        what = "it is no parameter any more when this is done again: `backward` gives it no gradient"
    else:
        return
    machine.report(
        EventKind.PARAMETER_LOST,
        state,
        place,
        variable=str(target),
        what=what,
        steps=(Step(off.path, off.span, f"`{off.name}` begins: nothing is recorded"), place.step(what)),
        guard=off,
    )


def forget_told_twice(machine: Interpreter) -> None:
    """What also ends in a `backward` that certainly finds no graph is reported there."""
    told = {event.guard for event in machine.events.values() if event.kind is EventKind.NOT_RECORDED and event.certain}
    for key, event in [*machine.events.items()]:
        if event.kind is EventKind.PARAMETER_LOST and event.guard in told:
            del machine.events[key]


def _is_own_gradient_in(value: Expression | None, target: Expression) -> bool:
    """Whether a value is made of the gradient of what it is given to."""
    text = str(target)
    return any(
        isinstance(node, MemberAccess) and node.name == "grad" and str(node.object) == text for node in nodes_of(value)
    )


def _is_dropped(body: Body, statement: Assign, name: str) -> bool:
    """Whether nothing reads a loop's variable behind the statement that gives it a value."""
    loops = (one for one in all_statements(body.statements) if isinstance(one, Loop) and one.target is not None)
    for loop in loops if name else ():
        inside = [*all_statements(loop.block)]
        if statement in inside and name in (simple_name(part) for part in nodes_of(loop.target)):
            after = (one for one in inside if one.span.start > statement.span.start)
            return not any(name == simple_name(node) for one in after for node in nodes_in(one))
    return False


def _is_kept(target: Expression, state: State, place: Place) -> bool:
    """Whether an attribute of a method's object is given the value, which nothing makes a parameter again."""
    if place.calls or (isinstance(target, MemberAccess) and not is_this(target.object)):
        return False
    if not isinstance(target, MemberAccess):
        self_ = state.find("<self>", place.frame)
        holder = state.thing(self_[1]) if self_ is not None else None
        cls = getattr(holder, "cls", None)
        if cls is None or simple_name(target) not in {member.name for member in cls.body.members}:
            return False
    name, class_ = last_name(target), place.body.qualified[:-1]
    bodies = [*place.file.bodies, *(inner for one in place.file.bodies for inner in one.inner)]
    return not any(
        last_name(call.callee) in _MAKE_AGAIN and (is_own or name in words_of(call))
        for body in bodies
        if body.is_read and name in words_in(body) and body.name not in ("__init__", *class_[-1:])
        for is_own in (body.qualified[:-1] == class_,)
        for call in called_in(body)
    )
