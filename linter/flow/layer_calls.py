"""Layers of `torch.nn`: their parameters, and what a call of one saves."""

from __future__ import annotations

import guardfix.torch_ops as torch_ops  # `from guardfix import …` would import the library

from . import making, saving_hazards, tensor_writes, torch_calls
from .guards_entered import why_unrecorded
from .paths import Interpreter, Keywords, Place, Results
from .recording import note_operands, note_recorded, note_saving
from .state import State
from .values import (
    NONE,
    REQUIRED,
    Const,
    Grad,
    Instance,
    Opaque,
    Ref,
    SavingHazard,
    Step,
    Value,
)


def made_layer(name: str, keywords: Keywords, state: State, place: Place) -> Ref:
    """A layer of `torch.nn`, with its parameters."""
    row = torch_ops.layer(name)
    attributes: dict[str, Value] = {}
    if row is None:
        return state.add(Opaque(name, None, True))
    if row.parameters:
        for parameter in ("weight", "bias"):
            made = making.new_tensor(state, place, f"`{name}`", grad=REQUIRED, leaf=True)
            attributes[parameter] = made
        if dict(keywords).get("bias") == Const(False):
            attributes["bias"] = NONE
    if dict(keywords).get("inplace") == Const(True):
        attributes[_IN_PLACE] = Const(True)
    if "BatchNorm" in name and dict(keywords).get("track_running_stats") != Const(False):
        statistics = attributes[_STATISTICS] = making.new_tensor(state, place, f"`{name}`")
        state.change(statistics, name=_STATISTICS)
    return state.add(Instance("layer", name, None, attributes))


_IN_PLACE = "inplace"
_STATISTICS = "running_mean"
"""The buffer that stands for those which a layer writes each time that it is run in training mode."""


_LOSSES = {
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "CrossEntropyLoss": "cross_entropy",
    "HuberLoss": "huber_loss",
    "KLDivLoss": "kl_div",
    "L1Loss": "l1_loss",
    "MSELoss": "mse_loss",
    "NLLLoss": "nll_loss",
    "SmoothL1Loss": "smooth_l1_loss",
}
"""Layers that compare what they are given as a function does."""


_SAVED_BESIDES = {
    "Bilinear": 1,
    "GRU": 1,
    "GRUCell": 1,
    "LSTM": 1,
    "LSTMCell": 1,
    "MultiheadAttention": 2,
    "RNN": 1,
    "RNNCell": 1,
    "TransformerDecoderLayer": 1,
}
"""How many arguments after the input parameters are multiplied with as well: states, keys and values, memory."""


def call_layer(
    machine: Interpreter, thing: Instance, arguments: tuple[Value, ...], state: State, place: Place
) -> Results:
    """What a layer gives: its parameters and its input are saved as its row says."""
    row = torch_ops.layer(thing.name)
    if not arguments or row is None:
        return [(state, state.opaque())]
    value = arguments[0]
    parameters = [
        given
        for name, given in thing.attributes.items()
        if isinstance(given, Ref) and state.tensor(given) is not None and name != _STATISTICS
    ]
    if len(arguments) > 1 and thing.name in _LOSSES:
        rows = torch_ops.function(f"nn.functional.{_LOSSES[thing.name]}")
        return torch_calls.apply(machine, rows, arguments, (), state, place, thing.name)
    spelled = {"Linear": "nn.functional.linear"}.get(thing.name, "")
    if spelled and parameters:
        given = (value, thing.attributes["weight"], thing.attributes.get("bias", NONE))
        return torch_calls.apply(machine, torch_ops.function(spelled), given, (), state, place, thing.name)
    if not isinstance(value, Ref) or not making.may_be_tensor(value, state):
        return [(state, state.opaque())]
    statistics = thing.attributes.get(_STATISTICS)
    trains = machine.truth(state, thing.attributes.get("training", Const(True)))
    if trains and isinstance(statistics, Ref):
        tensor_writes.write_tensor(machine, statistics, state, place, thing.name, recorded=False)
    if _IN_PLACE in thing.attributes:
        done = tensor_writes.write_tensor(machine, value, state, place, thing.name)
        return [(state, value)] if done else []
    own: Grad = frozenset().union(*(state.grad_of(parameter) for parameter in parameters))
    given_tensor = state.tensor(value)
    alone = all(making.is_inference(parameter, state) for parameter in parameters)
    if own and alone and (given_tensor is None or given_tensor.inference is not False):
        own = frozenset((state.number(),))  # what only inference tensors require isn't recorded, but copied
    hazards: tuple[SavingHazard, ...] = ()
    records = state.modes.records
    further = arguments[1 : 1 + _SAVED_BESIDES.get(thing.name, 0)]
    inputs = [value, *(ref for one in further for ref in making.tensors_in(one, state))]
    saved = next((ref for ref in inputs if making.is_inference(ref, state)), None)
    if saved is not None and row.saves_input and own and records is not False and not alone:
        hazard = saving_hazards.saving(machine, saved, parameters[0], own, state, place, thing.name)
        if 0 in own and records:
            saving_hazards.report_hazard(machine, hazard, state, place)
            if not tensor_writes.cured(saved, state):
                return []
        hazards = (hazard,)
    if own and records and (not alone or making.is_inference(value, state) is False):
        note_operands(parameters, state)
    if own:
        note_recorded(machine, f"`{thing.name}`", state, place)
    if machine.watches and row.saves_input:
        note_saving(value, own, thing.name, state, place)
    grad = own | state.grad_of(value)
    tensor = state.tensor(value)
    lost = tensor.unrecorded if tensor is not None and not grad else ()
    if records is False:
        off = why_unrecorded(state)
        steps = (Step(off.path, off.span, f"`{off.name}` begins: nothing is recorded"),) if off is not None else ()
        return [(state, making.new_tensor(state, place, f"`{thing.name}`", unrecorded=steps if grad else lost))]
    if row.result == "maybe":
        made = making.alias(state, value, grad=grad, perhaps=True)
        tensor = state.tensor(made)
        if tensor is not None and tensor.inference is not state.modes.inference:
            state.change(made, inference=None)
        return [(state, made)]
    made = making.new_tensor(
        state,
        place,
        f"`{thing.name}`",
        grad=grad,
        hazards=(*making.hazards_of(value, state), *hazards),
        unrecorded=lost,
    )
    return [(state, made)]


def unknown_parameters(layer: Value, state: State) -> Value:
    """The layer as one that comes from elsewhere: how its parameters were made isn't known."""
    thing = state.thing(layer)
    if isinstance(thing, Instance) and isinstance(layer, Ref):
        for value in thing.attributes.values():
            if isinstance(value, Ref) and state.tensor(value) is not None:
                # One source for all: a layer is trained or it isn't.
                state.change(value, inference=None, grad=frozenset((layer.number,)), made=(), guard=None)
    return layer
