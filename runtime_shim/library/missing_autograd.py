"""What becomes of the results of an op without an autograd kernel: backward through them warns.

Source: basicAutogradNotImplementedFallbackImpl in torch/csrc/autograd/autograd_not_implemented_fallback.cpp.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any

from ..core.tensor import Tensor, requires_grad
from ..tape.history import gradient_edge, set_history
from ..tape.nodes import Grads, Node, node_class

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
        f"{op}: an autograd kernel was not registered to the Autograd key(s) but we are trying to "
        "backprop through it. This may lead to silently incorrect behavior. This behavior is deprecated and will "
        "be removed in a future version of PyTorch. If your operator is differentiable, please ensure you have "
        "registered an autograd kernel to the correct Autograd key (e.g. DispatchKey::Autograd, "
        "DispatchKey::CompositeImplicitAutograd). If your operator is not differentiable, or to squash this "
        "warning and use the previous behavior, please register torch::CppFunction::makeFallthrough() to "
        "DispatchKey::Autograd.",
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
