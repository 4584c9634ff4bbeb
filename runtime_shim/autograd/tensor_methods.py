"""What Tensor shows of the tape: `grad_fn`, `is_leaf`, hooks, `backward()`. Attached when this is imported."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor, attach, meta_of, read_only, requires_grad
from ..tape.history import grad_fn_of, register_hook, retain_grad
from ..tape.nodes import HookHandle, Node
from . import backward


def _grad_fn(self: Tensor) -> Node | None:
    """The node that made this tensor; reading it regenerates that of a view whose base was written to."""
    return None if self._meta is None else grad_fn_of(self)


def _is_leaf(self: Tensor) -> bool:
    return self._meta is None or grad_fn_of(self) is None


def _retain_grad(self: Tensor) -> None:
    """Make backward fill `.grad` of this non-leaf."""
    retain_grad(self)


def _register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> HookHandle:
    """Call `hook` with the gradient of this tensor when backward computes it; its result replaces it."""
    return register_hook(self, hook)


def _register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> HookHandle:
    """Call `hook` with this leaf after backward has accumulated into its `.grad`."""
    if not requires_grad(self):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not _is_leaf(self):
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    meta = meta_of(self)
    if meta.post_accumulate_hooks is None:
        meta.post_accumulate_hooks = {}
    return HookHandle(meta.post_accumulate_hooks, hook)


def _backward(
    self: Tensor,
    gradient: object = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: object = None,
) -> None:
    """Accumulate the gradients of this tensor into the `.grad` of the leaves it depends on."""
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def _refuse_deletion(message: str) -> Callable[[Tensor], None]:
    def delete(self: Tensor) -> None:
        raise RuntimeError(message)

    return delete


def _backward_hooks(self: Tensor) -> object:
    return None if self._meta is None else self._meta.hooks


def _set_backward_hooks(self: Tensor, hooks: Any) -> None:
    """Replace a leaf's table of hooks. The node of another tensor doesn't learn of it, as in PyTorch."""
    meta_of(self).hooks = hooks


def _volatile(self: Tensor) -> bool:
    warnings.warn("volatile was removed (Variable.volatile is always False)", stacklevel=2)
    return False


def _ignored(self: Tensor, value: object) -> None:
    warnings.warn("volatile was removed. Use `with torch.no_grad():` instead.", stacklevel=2)


attach("grad_fn", read_only(_grad_fn))
attach(
    "_grad_fn", property(_grad_fn, None, _refuse_deletion("Deletion of _grad_fn not allowed. Detach tensor instead!"))
)
attach(
    "_backward_hooks",
    property(_backward_hooks, _set_backward_hooks, _refuse_deletion("Deletion of _backwards_hooks not allowed!")),
)
attach("volatile", property(_volatile, _ignored))
attach("is_leaf", read_only(_is_leaf))
attach("retain_grad", _retain_grad)
attach("register_hook", _register_hook)
attach("register_post_accumulate_grad_hook", _register_post_accumulate_grad_hook)
attach("backward", _backward)
