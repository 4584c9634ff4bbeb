"""What writing to a tensor does, giving it requires_grad, and giving it the data of another one."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.expressions import Expression, MemberAccess, nodes_of
from ..facts.statement_walk import words_in
from . import sharing, unnoticed
from .events import EventKind
from .making import called, few_hazards, made_as_parameter
from .paths import Interpreter, Place
from .state import State
from .values import (
    CERTAIN,
    NOT_REQUIRED,
    REQUIRED,
    ClassValue,
    Instance,
    Opaque,
    Ref,
    Step,
    Tensor,
    Value,
)


def write_tensor(
    machine: Interpreter,
    ref: Ref,
    state: State,
    place: Place,
    name: str,
    *,
    recorded: bool = True,
    with_normal: bool = False,
) -> bool:
    """Write to a tensor; False where that raises. What autograd doesn't record, as `logical_not_`, may write a leaf.

    `with_normal` says that the op has another operand that is or may be a normal tensor: then autograd looks at it.
    """
    unnoticed.note_write(machine, ref, state, place, name)
    tensor = state.tensor(ref)
    if tensor is None:
        return True
    base = state.heap.get(tensor.base) if tensor.base is not None else tensor
    # A view that was made where nothing was recorded is refused with other words.
    seen = tensor.base is None or tensor.untracked is None
    leaf = isinstance(base, Tensor) and base.leaf and CERTAIN in base.grad and seen
    # Where autograd looks, it looks at the leaf first.
    looks = tensor.inference is not True or (recorded and with_normal)
    if state.modes.records and leaf and CERTAIN in tensor.grad and looks:
        shown = called(ref, state)
        doubt = "" if recorded else f"`{name}` may leave nothing to record"
        if _is_made_by_forward(machine, tensor.base or ref.number, state, place):
            doubt = "it is made where `forward` first needs it, and may be so only where nothing is recorded"
        machine.report(
            EventKind.LEAF_WRITTEN,
            state,
            place,
            variable=shown,
            what=f"`{name}` writes to it",
            steps=(place.step(f"`{name}` writes to {f'`{shown}`' if shown else 'a leaf'}, which requires grad"),),
            guard=None,
            doubt=doubt,
        )
        return cured(ref, state) if recorded else True
    untracked = tensor.untracked if tensor.base is not None else None
    of_graph = isinstance(base, Tensor) and CERTAIN in base.grad | tensor.grad
    if state.modes.records and untracked is not None and tensor.inference is not True and tensor.shown:
        shown = called(ref, state)
        doubt = "" if recorded else f"`{name}` may leave nothing to record"
        if not of_graph:
            doubt = (
                "it is refused only if what is written requires grad, and the view was made where nothing is recorded"
            )
        machine.report(
            EventKind.VIEW_WRITTEN,
            state,
            place,
            variable=shown,
            what=f"`{name}` changes it in place",
            steps=(
                Step(untracked.path, untracked.span, f"`{untracked.name}` begins: nothing is recorded"),
                place.step(f"`{name}` changes {f'`{shown}`' if shown else 'the view'} in place"),
            ),
            guard=untracked,
            presumed=tensor.presumed,
            doubt=doubt,
        )
        return cured(ref, state) if not doubt else True
    if tensor.inference is True and state.modes.inference is False and not state.modes.below_view:
        if not tensor.shown or tensor.counted:
            return True
        tell_inference_written(machine, ref, tensor, state, place, name)
        return cured(ref, state)
    return True


def _is_made_by_forward(machine: Interpreter, number: int, state: State, place: Place) -> bool:
    """Whether this is a parameter of a layer that `forward`, or what it calls, has just made."""
    owner = state.names(place.frame).get("<class>")
    if not isinstance(owner, ClassValue) or state.receiver_class is None or state.part_of_receiver(number) is not None:
        return False
    forward = next((body for body in owner.body.inner if body.name == "forward"), None)
    root = machine.root
    if forward is None or root is None or (root is not forward and root.name not in words_in(forward)):
        return False
    parameter = Ref(number)
    layers = (thing for thing in state.heap.values() if isinstance(thing, Instance) and thing.kind == "layer")
    return any(parameter in layer.attributes.values() for layer in layers)


def step_leaf(
    machine: Interpreter,
    target: Expression,
    value: Value,
    given: Sequence[Expression],
    state: State,
    place: Place,
    name: str,
) -> bool:
    """`p -= lr * p.grad` after a `backward` that autograd was on for: what has a gradient is a leaf that requires one.

    False if that raises; nothing is reported if it isn't known who runs this, and in which mode.
    """
    thing = state.thing(value)
    unknown = (isinstance(thing, Opaque) and thing.tensor is not False) or (
        isinstance(thing, Tensor) and thing.inference is not True and thing.grad and CERTAIN not in thing.grad
    )
    if not unknown or not isinstance(value, Ref) or not state.modes.records or place.body is not state.trains_in:
        return True
    text = str(target)
    if not any(
        isinstance(node, MemberAccess) and node.name == "grad" and str(node.object) == text
        for one in given
        for node in nodes_of(one)
    ):
        return True
    state.heap[value.number] = Tensor(False, REQUIRED, True, name=text)
    return write_tensor(machine, value, state, place, name)


def tell_inference_written(
    machine: Interpreter, ref: Ref, tensor: Tensor, state: State, place: Place, name: str, doubt: str = ""
) -> None:
    """An inference tensor is written outside the mode."""
    shown = called(ref, state)
    subject = f"`{shown}`" if shown else "it"
    machine.report(
        EventKind.INFERENCE_WRITTEN,
        state,
        place,
        variable=shown,
        what=f"`{name}` changes it in place",
        steps=(*tensor.made, place.step(f"`{name}` changes {subject} in place, outside the mode")),
        guard=tensor.guard,
        cached=tensor.cached,
        presumed=tensor.presumed,
        doubt=doubt,
        brought_by=made_as_parameter(tensor),
    )


def perhaps_written(machine: Interpreter, ref: Ref, state: State, place: Place, name: str) -> None:
    """Some calls of an op write to its argument: `resize_` does if the size is another one."""
    tensor = state.tensor(ref)
    outside = state.modes.inference is False and not state.modes.below_view
    if tensor is not None and tensor.inference is True and outside and tensor.shown and not tensor.counted:
        tell_inference_written(machine, ref, tensor, state, place, name, f"some calls of `{name}` write nothing")


def cured(ref: Ref, state: State) -> bool:
    """Go on after a reported event as if it hadn't happened, to find the next; end there if a failure is expected."""
    if isinstance(state.heap.get(ref.number), Tensor):
        state.change(
            ref, inference=None, grad=frozenset((ref.number,)), hazards=(), unrecorded=(), untracked=None, leaf=None
        )
    return not state.shielded


def write_element(machine: Interpreter, ref: Ref, value: Value, state: State, place: Place) -> bool:
    """`t[i] = value`; False where that raises."""
    if not write_tensor(machine, ref, state, place, "[] ="):
        return False
    tensor = state.tensor(ref)
    if tensor is not None and state.modes.records is not False:
        given = state.tensor(value)
        hazards = few_hazards((*tensor.hazards, *(given.hazards if given is not None else ())))
        others = state.grad_of(value)
        leaf = tensor.leaf if others <= tensor.grad else False if CERTAIN in others and state.modes.records else None
        state.change(ref, grad=tensor.grad | others, hazards=hazards, leaf=leaf)
        sharing.written(state, ref, others)
    return True


def require_grad(machine: Interpreter, ref: Value, flag: Value, state: State, place: Place, name: str) -> bool:
    """`requires_grad_(flag)`; False where that raises."""
    truth = machine.truth(state, flag)
    tensor = state.tensor(ref)
    if truth:
        unnoticed.note_leaf(machine, ref, state, place, name)
    if tensor is None or not isinstance(ref, Ref):
        return True
    if truth and tensor.inference is True and state.modes.inference is False and tensor.shown:
        shown = called(ref, state)
        subject = f"`{shown}`" if shown else "it"
        machine.report(
            EventKind.INFERENCE_REQUIRES_GRAD,
            state,
            place,
            variable=shown,
            what=f"`{name}` makes it require grad",
            steps=(*tensor.made, place.step(f"`{name}` makes {subject} require grad, outside the mode")),
            guard=tensor.guard,
            presumed=tensor.presumed,
        )
        return cured(ref, state)
    grad = REQUIRED if truth else NOT_REQUIRED if truth is False else frozenset((ref.number,))
    state.change(ref, grad=grad, leaf=tensor.leaf if tensor.grad else True, unrecorded=())
    sharing.same(state, ref)
    return True


def set_data(machine: Interpreter, ref: Ref, value: Value, state: State, place: Place) -> bool:
    """`t.data = value`, `t.set_data(value)`: the tensor takes the kind of the value and keeps its own counter."""
    tensor, given = state.tensor(ref), state.tensor(value)
    if tensor is None or given is None:
        return True
    if given.inference is True and given.shown and tensor.inference is not True and tensor.grad:
        shown = called(ref, state)
        machine.report(
            EventKind.INFERENCE_DATA,
            state,
            place,
            variable=shown,
            what="it takes the data of an inference tensor, and isn't trained any more",
            steps=(*given.made, place.step(f"{f'`{shown}`' if shown else 'a parameter'} takes its data")),
            guard=given.guard,
            presumed=given.presumed,
        )
    # It keeps its own counter, or has none: an inference tensor stays one that can't be written.
    kind = None if tensor.inference and given.inference is False else given.inference
    counted = tensor.counted or (tensor.inference is False and given.inference is True)
    state.change(ref, inference=kind, made=given.made, guard=given.guard, presumed=given.presumed, counted=counted)
    return True
