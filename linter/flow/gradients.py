"""Gradients that a program sets by hand: `p.grad = …` of an inference tensor, which what adds to it can't change."""

from __future__ import annotations

from . import making, tensor_writes
from .paths import Interpreter, Place
from .state import State
from .values import Ref, Tensor, Value

CLIPS = frozenset({"clip_grad_norm_", "clip_grad_norm", "clip_grad_value_"})
"""Functions of `torch.nn.utils` that write to the gradients of the parameters that they are given."""


def give_gradient(machine: Interpreter, leaf: Ref, value: Value, state: State) -> None:
    """`leaf.grad = value`."""
    is_inference = making.is_inference(value, state) is True and making.is_tensor(value, state)
    machine.gives_gradients = machine.gives_gradients or is_inference
    state.change(leaf, gradient=value if is_inference else None, awaits_gradient=False)


def forget_gradients(machine: Interpreter, state: State) -> None:
    """`zero_grad`: whose gradients it takes away isn't looked at."""
    for ref, _ in _given(machine, state):
        state.change(ref, gradient=None)


def add_gradients(machine: Interpreter, state: State, place: Place) -> None:
    """`backward` adds to the gradients of all leaves that recorded ops have computed with since these were given."""
    for ref, tensor in _given(machine, state):
        if tensor.awaits_gradient:
            _write(machine, tensor, state, place, "backward")
            state.change(ref, gradient=None)


def clip_gradients(machine: Interpreter, parameters: Value, state: State, place: Place, name: str) -> None:
    """`clip_grad_norm_(parameters, …)`."""
    for ref in making.tensors_in(parameters, state):
        tensor = state.tensor(ref)
        if tensor is not None:
            _write(machine, tensor, state, place, name)


def _given(machine: Interpreter, state: State) -> list[tuple[Ref, Tensor]]:
    if not machine.gives_gradients:
        return []
    things = ((Ref(number), thing) for number, thing in state.heap.items())
    return [(ref, one) for ref, one in things if isinstance(one, Tensor) and one.gradient is not None]


def _write(machine: Interpreter, leaf: Tensor, state: State, place: Place, name: str) -> None:
    if isinstance(leaf.gradient, Ref):
        tensor_writes.write_tensor(machine, leaf.gradient, state, place, name, recorded=False)
