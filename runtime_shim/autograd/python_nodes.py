"""`torch._C._functions`: the nodes that Python can put into a graph.

Source of the behaviour: torch/csrc/autograd/functions/basic_ops.cpp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor, requires_grad
from ..core.thread_state import tls
from ..tape.history import gradient_edge, set_history
from ..tape.nodes import AccumulateGrad, Edge, Error, Grads, Node

__all__ = ["AccumulateGrad", "DelayedError", "UndefinedGrad"]


class DelayedError(Node):
    """Passes tensors on; a backward that comes by raises RuntimeError with this message."""

    def __init__(self, message: str, num_inputs: int) -> None:
        super().__init__([])
        self.message = message
        self.num_inputs = num_inputs

    def __call__(self, *inputs: Any) -> Any:
        return _passed_on(inputs, [t.data for t in inputs], lambda edges: Error(edges, self.message))


class UndefinedGrad(Node):
    """Passes tensors on; what is before it gets no gradient (None) in backward."""

    def __init__(self) -> None:
        super().__init__([])

    def __call__(self, *inputs: Any) -> Any:
        return _passed_on(inputs, [t.detach().clone() for t in inputs], UndefinedGradBackward)


class UndefinedGradBackward(Node):
    """Turns every gradient into none."""

    def apply(self, grads: Grads) -> Grads:
        return [None] * len(self.next_edges)


def _passed_on(inputs: tuple[Tensor, ...], outputs: list[Tensor], node: Callable[[list[Edge | None]], Node]) -> Any:
    """The outputs, with a node of that kind as their history where an input requires grad."""
    if tls.state.grad_mode and any(map(requires_grad, inputs)):
        made = node([gradient_edge(t) for t in inputs])
        for nr, t in enumerate(outputs):
            set_history(t, made, nr)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)
