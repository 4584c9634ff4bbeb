"""Methods, attributes and elements of tensors, and of what may be one."""

from __future__ import annotations

import re

import guardfix.torch_ops as torch_ops  # `from guardfix import …` would import the library

from . import (
    differentiation,
    gradients,
    making,
    model_names,
    model_training,
    module_parts,
    reach,
    sharing,
    tensor_writes,
    threads,
    torch_calls,
    unnoticed,
)
from .events import EventKind
from .paths import Interpreter, Keywords, Place, Results
from .recording import note_recorded
from .state import State
from .values import (
    DECLARED,
    FILLED,
    NONE,
    NOT_REQUIRED,
    REQUIRED,
    Closure,
    Const,
    Items,
    Method,
    Opaque,
    Partial,
    Ref,
    Tensor,
    Thing,
    Truth,
    Value,
)


def inference_truth(value: Value, state: State) -> Value:
    known = making.is_inference(value, state)
    return Const(known) if known is not None else Truth(("inference", value))


def is_there(thing: Thing | None) -> bool | None:
    """Whether an optional holds its tensor, or a pointer points to one: C++ asks nothing else of it as a condition."""
    if isinstance(thing, Tensor):
        return True if thing.shown and not thing.open else None
    return False if isinstance(thing, Opaque) and thing.origin == DECLARED else None


def call_tensor_method(
    machine: Interpreter,
    ref: Ref,
    thing: Tensor,
    name: str,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
) -> Results:
    if name in _UNWRAPS or (name in ("value", "value_or") and place.file.language != "python"):
        state.change(ref, shown=True, open=False)
        return [(state, ref)]
    if name in _HOLDS_TENSORS and thing.open:
        return [(state, ref)]
    if thing.open and not torch_ops.method(name) and name not in _TENSOR_METHODS:
        # An object that a model gave back: `outputs.keys()`, `result.to_tuple()`.
        return [(state, state.opaque(name))]
    if torch_ops.only_tensors_have(name) and (not thing.shown or thing.open):
        state.change(ref, shown=True, open=False)
    if name == "backward":
        done = differentiation.differentiate(machine, ref, state, place, "backward")
        return [(state, NONE)] if done else []
    if name in ("requires_grad_", "set_requires_grad"):
        flag = arguments[0] if arguments else dict(keywords).get("requires_grad", Const(True))
        return [(state, ref)] if tensor_writes.require_grad(machine, ref, flag, state, place, name) else []
    if name == "is_inference":
        return [(state, inference_truth(ref, state))]
    if name in _ASKS_FOR_ONE:
        return [(state, Const(True))]
    if name == "reset" and place.file.language != "python":
        state.heap[ref.number] = Opaque(thing.name, True, origin=FILLED)
        return [(state, NONE)]
    if name == "_version" and not read_version(machine, ref, thing, state, place):
        return []
    if name == "set_" or name == "set_data":
        done = tensor_writes.set_data(machine, ref, arguments[0] if arguments else NONE, state, place)
        return [(state, ref)] if done else []
    if name in ("tolist", "item", "numpy"):
        return [(state, state.opaque(name, tensor=False) if name != "item" else state.plain())]
    if name == "detach_":
        if state.modes.inference is False and state.modes.below_autograd is False:
            state.change(ref, grad=NOT_REQUIRED, leaf=True, hazards=(), unrecorded=())
            sharing.same(state, ref)
        return [(state, ref)]
    if name in _DETACHES:
        return [(state, detached(ref, state))]
    if name in ("retain_grad", "register_hook", "register_post_accumulate_grad_hook"):
        done = differentiation.expect_gradient(machine, ref, state, place, name)
        return [(state, state.plain())] if done else []
    indices = state.thing(arguments[0]) if name == "index" and arguments else None
    if isinstance(indices, Items):  # C++'s way to write `t[…]`
        return [(state, tensor_element(machine, ref, thing, indices.values, state, place))]
    rows = torch_ops.method(name)
    if not rows:
        return [(state, state.opaque(name))]
    return torch_calls.apply(machine, rows, (ref, *arguments), keywords, state, place, name, shown=thing.shown)


_DETACHES = frozenset({"data", "detach", "tensor_data", "variable_data"})
"""C++'s methods; Python's `data` is a property."""
_ASKS_FOR_ONE = frozenset({"defined", "has_value"})
"""C++'s methods of tensors and optionals."""
_UNWRAPS = frozenset({"toTensor"})
_HOLDS_TENSORS = frozenset({"toTuple", "toTupleRef", "toTensorVector", "toTensorList", "toList", "elements"})
"""What TorchScript's values give: what they hold."""
_TENSOR_METHODS = frozenset(
    "backward requires_grad_ is_inference set_ set_data tolist item numpy detach detach_".split()
)
"""Methods that the machine runs by code of its own."""


def call_opaque_method(
    machine: Interpreter,
    ref: Ref,
    thing: Opaque,
    name: str,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    state: State,
    place: Place,
    shown: str,
) -> Results:
    """A method of something unknown: a tensor's, a module's, or anyone's."""
    threaded = threads.call_loop_method(machine, name, arguments, keywords, state, place)
    if threaded is not None:
        return threaded
    if name in _ASKS_FOR_ONE and thing.tensor:
        return [(state, Const(False) if thing.origin == DECLARED else Truth(("none", ref), True))]
    if name in model_names.MODULE_ONLY and not thing.tensor:
        state.change(ref, module=True)
        parts = module_parts.listed_tensors(ref, name, state)
        return [(state, ref if name in ("eval", "train") else parts if parts is not None else state.opaque(name))]
    if name == "save_for_backward":
        given = [one for saved in arguments for one in making.tensors_in(saved, state)]
        unnoticed.note_saved(machine, given, state, place)
    if name == "zero_grad":
        gradients.forget_gradients(machine, state)
    if name in ("backward", "manual_backward"):
        model_training.note_training(state, place, name, ref)
    differentiated = arguments[0] if name in ("backward", "manual_backward") and arguments else NONE
    if thing.tensor is not True and state.tensor(differentiated) is not None:
        # `accelerator.backward(loss)`, `self.manual_backward(loss)`, `scaler.scale(loss)` …
        done = differentiation.differentiate(machine, differentiated, state, place, name)
        return [(state, NONE)] if done else []
    if name == "step" and re.search(r"(?:^|_|\.)(?:optim|optimizer|opt|scaler|grad_scaler)\w*$", shown):
        step_taken(machine, shown, state, place)
        return [(state, state.plain())]
    if name == "scale" and len(arguments) == 1 and isinstance(state.thing(arguments[0]), Tensor):
        return [(state, arguments[0])]
    if name in _UNWRAPS:
        state.change(ref, tensor=True)
        return [(state, ref)]
    is_tensor = thing.tensor is True
    if not thing.module and (is_tensor or torch_ops.only_tensors_have(name)):
        if name == "backward":
            differentiation.differentiate(machine, ref, state, place, name)
            return [(state, NONE)]
        if name == "requires_grad_":
            truth = machine.truth(state, arguments[0] if arguments else Const(True))
            if truth:
                unnoticed.note_leaf(machine, ref, state, place, name)
            grad = REQUIRED if truth else NOT_REQUIRED if truth is False else frozenset((ref.number,))
            state.heap[ref.number] = Tensor(None, grad, True, name=thing.name)
            return [(state, ref)]
        if name in ("detach", "detach_"):
            return [(state, detached(ref, state))]
        if name == "is_inference":
            return [(state, Truth(("inference", ref)))]
        rows = torch_ops.method(name)
        if rows:
            state.change(ref, tensor=True)
            return torch_calls.apply(machine, rows, (ref, *arguments), keywords, state, place, name)
        return [(state, state.opaque(name))]
    if name in ("item", "tolist", "numpy", "size", "dim", "numel", "keys", "strip", "lower", "format"):
        return [(state, state.opaque(name, tensor=False))]
    if name in ("to", "cuda", "cpu", "half", "float", "double") and thing.module:
        return [(state, ref)]
    dotted = f"{shown}.{name}" if shown else name
    known = thing.attributes.get(name)
    if isinstance(known, (Closure, Partial)):
        return machine.call_value(known, arguments, keywords, state, place, dotted)
    values = (*arguments, *(value for _, value in keywords))
    model = (thing.module or model_names.is_model_name(shown)) and model_names.RUNS.match(name) is not None
    if (model or model_names.is_model_name(dotted)) and values:
        note_recorded(machine, f"`{dotted}`", state, place)
    if (model or model_names.is_model_name(dotted)) and values and state.modes.records is False:
        reach.unknown_call(state, values)
        made = model_names.model_result(machine, dotted, NOT_REQUIRED, state, place)
        if name not in ("forward", "__call__") and not model_names.is_model_name(dotted):
            state.change(made, shown=False)
        return [(state, made)]
    reach.unknown_call(state, (ref, *values))
    return [(state, state.opaque(origin=dotted))]


def read_version(machine: Interpreter, ref: Ref, thing: Tensor, state: State, place: Place) -> bool:
    """`t._version`, which an inference tensor doesn't have, in inference mode or outside; False where that raises."""
    if thing.inference is not True or thing.counted or thing.open or not thing.shown:
        return True
    shown = making.called(ref, state)
    machine.report(
        EventKind.INFERENCE_VERSION,
        state,
        place,
        variable=shown,
        what="it has no `_version`",
        steps=(*thing.made, place.step(f"{f'`{shown}`' if shown else 'it'} is asked for its `_version`")),
        guard=thing.guard,
        presumed=thing.presumed,
    )
    return tensor_writes.cured(ref, state)


def tensor_attribute(ref: Ref, thing: Tensor, name: str, state: State, place: Place) -> Value:
    if thing.open and name not in torch_ops.TENSOR_PROPERTIES and not torch_ops.method(name):
        return state.add(thing._replace(name=""))
    if name == "requires_grad":
        if not thing.grad:
            return Const(False)
        return Const(True) if thing.grad == REQUIRED else Truth(("requires grad", ref))
    return tensor_property(ref, name, state)


def detached(ref: Ref, state: State) -> Ref:
    """`detach()` and `.data`: of an inference tensor, outside the mode, one that has a counter."""
    made = making.alias(state, ref, grad=NOT_REQUIRED)
    state.change(made, counted=state.modes.inference is not True)
    return made


def tensor_property(ref: Ref, name: str, state: State) -> Value:
    """What reading an attribute of a tensor gives."""
    kind = torch_ops.TENSOR_PROPERTIES.get(name)
    if name == "data":
        return detached(ref, state)
    if name == "grad":
        return (tensor.gradient if (tensor := state.tensor(ref)) else None) or state.opaque("grad", tensor=True)
    if kind in ("view", "alias"):
        made = making.alias(state, ref, view=True)
        state.change(made, flat=name == "T")
        return made
    if torch_ops.method(name):
        return Method(ref, name)
    return state.plain()


def tensor_element(
    machine: Interpreter, ref: Ref, thing: Tensor, indices: tuple[Value, ...], state: State, place: Place
) -> Value:
    """`t[i]`: a view where only numbers, slices, None and dots index, a new tensor where a tensor does."""
    if thing.open and any(isinstance(i, Const) and isinstance(i.value, str) for i in indices):
        return state.add(thing._replace(name=""))
    records = state.modes.records is not False
    grad = thing.grad if records else NOT_REQUIRED
    plain = True
    for index in indices:
        inner = state.thing(index)
        if isinstance(inner, Tensor) or (isinstance(inner, Items) and inner.kind != "slice"):
            return making.new_tensor(
                state,
                place,
                "indexing",
                grad=grad,
                hazards=thing.hazards,
                presumed=thing.presumed,
                shown=thing.shown,
                unrecorded=making.lost_by(thing, state),
            )
        if isinstance(inner, Opaque):
            plain = False
    made = making.alias(state, ref, grad=grad if records else making.of_view(ref, grad, state), view=True)
    if not plain and thing.inference is not state.modes.inference:
        state.change(made, inference=None)
    return made


def step_taken(machine: Interpreter, shown: str, state: State, place: Place) -> None:
    """An optimizer's step: what it creates in inference mode are inference tensors."""
    if state.modes.inference:
        what = "the state that it makes are inference tensors"
        differentiation.ran_in_inference(machine, shown, what, f"{shown}.step", state, place)


def step_writes(machine: Interpreter, parameters: Value, state: State, place: Place) -> None:
    """An optimizer's step changes the parameters that have a gradient; inference tensors it can't."""
    for ref in making.tensors_in(parameters, state):
        tensor = state.tensor(ref)
        if tensor is None or tensor.inference is not True or state.modes.inference is not False or tensor.counted:
            continue
        has_gradient = tensor.awaits_gradient and state.trained
        doubt = "" if has_gradient else "only what has a gradient is changed"
        tensor_writes.tell_inference_written(machine, ref, tensor, state, place, "step", doubt)
