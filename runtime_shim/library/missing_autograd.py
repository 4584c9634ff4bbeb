"""What becomes of the results of an op without an autograd kernel: backward through them warns.

Source: basicAutogradNotImplementedFallbackImpl in torch/csrc/autograd/autograd_not_implemented_fallback.cpp.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..core.tensor import DEFAULT, INFERENCE_MODE, MULTI_OUTPUT_NODE, NO_GRAD_MODE, Tensor, requires_grad
from ..core.thread_state import tls
from ..dispatch.view_layers import track
from ..tape.history import check_inplace, gradient_edge, rebase_history, set_history
from ..tape.nodes import Edge, Grads, Node, node_class

#: "warn", or "nothing": then results are what the kernel made of them.
MODE = "warn"


def set_mode(mode: str) -> None:
    """`torch._C._set_autograd_fallback_mode`. RuntimeError for another name."""
    global MODE
    if mode not in ("nothing", "warn", "error"):
        raise RuntimeError(f"{mode} is not a valid autograd fallback mode: nothing, warn, error")
    MODE = mode


def get_mode() -> str:
    return MODE


def _warn(op: str) -> None:
    warnings.warn(
        f"{op}: an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop through it. "
        "This may lead to silently incorrect behavior. This behavior is deprecated and will be removed in a future "
        "version of PyTorch. If your operator is differentiable, please ensure you have registered an autograd kernel "
        "to the correct Autograd key (e.g. DispatchKey::Autograd, DispatchKey::CompositeImplicitAutograd). If your "
        "operator is not differentiable, or to squash this warning and use the previous behavior, please register "
        "torch::CppFunction::makeFallthrough() to DispatchKey::Autograd.",
        UserWarning,
        stacklevel=2,
    )


class _WarnNotImplemented(Node):
    """History of what an op without an autograd kernel made: no gradient, and a warning."""

    def name(self) -> str:
        return "torch::autograd::WarnNotImplemented"

    def apply(self, grads: Grads) -> Grads:
        _warn(self.metadata["op"])
        return [None] * len(self.next_edges)


def mark(op: str, given: list[Tensor], results: Any, written: Collection[int]) -> None:
    """Make backward warn where it comes by a result: by a node if the result has no history, by a hook if it has one.
    `written` are the places of results that are inputs written to.
    """
    node: Node | None = None
    fresh = 0
    for place, value in enumerate(results or ()):
        for tensor in value if isinstance(value, (list, tuple)) else (value,):
            if not isinstance(tensor, Tensor) or tensor._array.dtype.kind not in "fcV" or tensor.is_inference():
                continue
            if requires_grad(tensor):
                tensor.register_hook(lambda grad: _warn(op))
                base = tensor._base
                if base is not None and place in written and requires_grad(base):
                    base.register_hook(lambda grad: _warn(op))
            elif place not in written:
                if node is None:
                    edges = [gradient_edge(t) if requires_grad(t) else None for t in given]
                    node = node_class("CppFunction", _WarnNotImplemented)(edges)
                    node.metadata["op"] = op
                set_history(tensor, node, fresh)
                fresh += 1


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
