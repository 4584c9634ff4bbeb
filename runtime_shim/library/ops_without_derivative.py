"""The history of ops without a derivative: what the boxed fallbacks that a C++ program registers leave.

Follows torch/csrc/autograd/autograd_not_implemented_fallback.h.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core.tensor import DEFAULT, INFERENCE_MODE, MULTI_OUTPUT_NODE, NO_GRAD_MODE, Tensor, requires_grad
from ..core.thread_state import tls
from ..dispatch.view_layers import track
from ..tape.history import check_inplace, gradient_edge, rebase_history, set_history
from ..tape.nodes import Edge, Grads, Node


class NoDerivative(Node):
    """Raises RuntimeError in backward."""

    def __init__(self, op: str, edges: list[Edge | None]) -> None:
        super().__init__(edges)
        self.op = op

    def name(self) -> str:
        return "torch::autograd::NotImplemented"

    def apply(self, grads: Grads) -> Grads:
        raise RuntimeError(f"derivative for {self.op} is not implemented")


def node_without_derivative(op: str, inputs: Sequence[Tensor], written: Sequence[Tensor]) -> NoDerivative | None:
    """The node for a call that is about to write to some of its inputs; None if nothing is recorded.

    Raises RuntimeError if the call may not write to one of them.
    """
    if not tls.state.grad_mode or not any(map(requires_grad, inputs)):
        return None
    for tensor in written:
        check_inplace(tensor)
    return NoDerivative(op, [gradient_edge(t) for t in inputs if requires_grad(t)])


def record_without_derivative(node: NoDerivative, outputs: Sequence[Tensor], written: Sequence[Tensor]) -> None:
    """Make the node the history of fresh results, and of the tensors that were written to."""
    for nr, tensor in enumerate(t for t in outputs if t._array.dtype.kind in "fcV"):
        set_history(tensor, node, nr)
    for tensor in (t for t in written if t._array.dtype.kind in "fcV"):
        rebase_history(tensor, node)


def track_without_derivative(op: str, base: Tensor, views: Sequence[Tensor], several: bool) -> None:
    """Make `views` tracked views of `base`. What is made again after a write to one has no derivative either."""
    state = tls.state
    made_in = MULTI_OUTPUT_NODE if several else DEFAULT
    if state.inference_mode:
        made_in = INFERENCE_MODE
    elif not state.grad_mode:
        made_in = NO_GRAD_MODE
    if base.is_inference():
        return
    for view in views:
        track(view, base, made_in)
        meta = view._meta
        assert meta is not None
        assert meta.base is not None
        meta.view_fn = _replay(op, meta.base, view)


def _replay(op: str, base: Tensor, view: Tensor) -> Callable[[Tensor], Tensor]:
    shape, strides, shift = view._array.shape, view.stride(), view.storage_offset() - base.storage_offset()

    def replay(root: Tensor) -> Tensor:
        window: Tensor = root.as_strided(shape, strides, root.storage_offset() + shift)
        if requires_grad(root):
            set_history(window, NoDerivative(op, [gradient_edge(root)]))
        return window

    return replay
