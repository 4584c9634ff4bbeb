"""`torch.autograd.graph`: hooks on saved tensors, version counters, nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..core.tensor import Tensor
from ..core.thread_state import tls
from ..tape.history import gradient_edge
from ..tape.nodes import Node

__all__ = ["GradientEdge", "Node", "get_gradient_edge", "increment_version", "save_on_cpu", "saved_tensors_hooks"]


class saved_tensors_hooks:
    """Inside, tensors saved for backward pass through `pack_hook`, and through `unpack_hook` when used."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.hooks = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        tls.state.saved_tensor_hooks.append(self.hooks)

    def __exit__(self, *exc: object) -> None:
        if tls.state.saved_tensor_hooks:
            tls.state.saved_tensor_hooks.pop()


class save_on_cpu(saved_tensors_hooks):
    """Tensors are on the CPU already."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda t: t, lambda t: t)


def increment_version(tensor: Any) -> None:
    """Count a write that PyTorch did not see; does nothing to an inference tensor."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tuple(tensor):
        if t._version_counter is not None:
            t._version_counter[0] += 1


class GradientEdge(NamedTuple):
    """Where a gradient goes: the node, and which of its inputs."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The node and input that receive the gradient of `tensor`; RuntimeError if it doesn't require grad."""
    edge = gradient_edge(tensor)
    if edge is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(*edge)
