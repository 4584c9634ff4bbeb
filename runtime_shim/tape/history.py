"""How views and in-place writes rewrite history, and the hooks of tensors.

Follows torch/csrc/autograd: variable.cpp (grad_fn_of, handle_view_on_rebase), VariableTypeUtils.h
(check_inplace), CopySlices in custom_function / functions/tensor.cpp.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

from ..core import error_texts
from ..core.function_table import FUNCTIONS, INTERNAL
from ..core.memory_layout import Geometry, geometry
from ..core.tensor import (
    DEFAULT,
    IN_CUSTOM_FUNCTION,
    INFERENCE_MODE,
    MULTI_OUTPUT_NODE,
    NO_GRAD_MODE,
    AutogradMeta,
    Tensor,
    current_version,
    history,
    meta_of,
    raw_is_leaf,
    requires_grad,
)
from ..core.thread_state import tls
from .nodes import Edge, Grads, HookHandle, Node, accumulator_of, short_name


def gradient_edge(t: Tensor) -> Edge | None:
    """Where a gradient of `t` goes; for a view this may regenerate its grad_fn, or raise."""
    meta = t._meta
    if meta is None:
        return None
    node = meta.grad_fn if meta.base is None else grad_fn_of(t)
    if node is not None:
        return node, meta.output_nr
    if meta.requires_grad:
        return accumulator_of(t), 0
    return None


def handle_view_on_rebase(meta: AutogradMeta, indirect: bool = False) -> None:
    """Raise if a view with this creation meta may not be written to (or its base may not have been)."""
    creation_meta = meta.creation_meta
    if creation_meta == DEFAULT:
        return
    node = meta.grad_fn
    modified = "its base or another view of its base has been" if indirect else "is being"
    if creation_meta in (INFERENCE_MODE, NO_GRAD_MODE) or node is None:
        what = (
            f"Output {meta.output_nr} of {short_name(node)} is a view of a view which was created in"
            if node is not None
            else "A view was created in"
        )
        if creation_meta == INFERENCE_MODE:
            message = f"{what} inference mode and {modified} modified inplace in normal mode."
        else:
            message = f"{what} no_grad mode and {modified} modified inplace with grad mode enabled."
    else:
        message = f"Output {meta.output_nr} of {short_name(node)} is a view and {modified} modified inplace."
    tail = {
        MULTI_OUTPUT_NODE: error_texts.TAIL_MULTI_OUTPUT,
        NO_GRAD_MODE: error_texts.TAIL_NO_GRAD,
        INFERENCE_MODE: error_texts.TAIL_INFERENCE,
        IN_CUSTOM_FUNCTION: error_texts.TAIL_CUSTOM,
    }[creation_meta]
    raise RuntimeError(f"{message} {tail}")


def grad_fn_of(t: Tensor) -> Node | None:
    """The stored grad_fn, or for a view written to since, a regenerated AsStridedBackward0."""
    meta = t._meta
    if meta is None:
        return None
    base = meta.base
    if base is None or (meta.grad_fn is None and not requires_grad(base)):
        return meta.grad_fn
    version = current_version(t)
    if meta.attr_version != version:
        handle_view_on_rebase(meta, indirect=True)
        node = AsStridedBackward0(base, t) if meta.view_fn is None else _replayed(base, meta.view_fn)
        meta.grad_fn = node
        meta.output_nr = 0
        meta.attr_version = version
        meta.hooks = None  # they stay with the history that was
        if meta.retains_grad and node is not None:
            _retain(t, node)
    return meta.grad_fn


def _replayed(base: Tensor, view_fn: Callable[[Tensor], Tensor]) -> Node | None:
    """History of a view that is not a window of strides onto its base: the view is made once more."""
    state = tls.state
    grad_mode, state.grad_mode = state.grad_mode, True
    try:
        return view_fn(base).grad_fn
    finally:
        state.grad_mode = grad_mode


def check_inplace(t: Tensor) -> None:
    """Raise if a write that would be recorded may not touch `t`. Call when any input requires grad."""
    meta = t._meta
    if meta is None:
        return
    base = meta.base
    if base is not None:
        handle_view_on_rebase(meta)
        if raw_is_leaf(base) and requires_grad(t):
            raise RuntimeError(error_texts.LEAF_VIEW_INPLACE)
    if meta.grad_fn is None and requires_grad(t):
        raise RuntimeError(error_texts.LEAF_INPLACE)


def set_gradient_edge(t: Tensor, node: Node, output_nr: int) -> None:
    meta = meta_of(t)
    meta.grad_fn = node
    meta.output_nr = output_nr
    if meta.base is not None:
        # Keeps grad_fn_of from regenerating over it; only custom Functions write before they set the edge.
        meta.attr_version = current_version(t)


def rebase_history(t: Tensor, node: Node) -> None:
    """Make `node` the history of `t`, which was just written to; of a view, that of its base."""
    meta = meta_of(t)
    node.outputs = [(t._array.shape, t._array.dtype)]
    base = meta.base
    if base is not None:
        required = requires_grad(t)
        old = base.grad_fn if required else None
        meta.output_nr = 0
        copied = CopySlices(base, t, node)
        set_gradient_edge(base, copied, 0)
        if required:
            _move_hooks(base, old, copied)
        grad_fn_of(t)
        return
    old = meta.grad_fn
    set_gradient_edge(t, node, 0)
    _move_hooks(t, old, node)


def reshape_history(t: Tensor, node: Node) -> None:
    """Make `node` the history of `t`, which now sees its memory otherwise; to its base nothing happened."""
    meta = meta_of(t)
    node.outputs = [(t._array.shape, t._array.dtype)]
    old = meta.grad_fn
    set_gradient_edge(t, node, 0)
    _move_hooks(t, old, node)


def set_history(t: Tensor, node: Node, output_nr: int = 0) -> None:
    """Make `node` the history of a fresh result."""
    node.outputs.append((t._array.shape, t._array.dtype))
    if t._meta is None:
        t._meta = history(node, output_nr)
    else:
        set_gradient_edge(t, node, output_nr)


def _move_hooks(t: Tensor, old: Node | None, new: Node) -> None:
    """After an in-place write, earlier hooks stay with the earlier value; retain_grad follows the tensor."""
    meta = meta_of(t)
    meta.hooks = None
    if meta.retains_grad:
        if old is not None and old.retained is not None:
            old.retained = {nr: ref for nr, ref in old.retained.items() if ref() is not t}
        _retain(t, new)


class AsStridedBackward0(Node):
    """History of a view, regenerated after its base was written to: a strided window onto the base."""

    def __init__(self, base: Tensor, view: Tensor) -> None:
        Node.__init__(self, [gradient_edge(base)])
        self.base_geometry = geometry(base)
        self.window = geometry(view)
        self.outputs = [(view._array.shape, view._array.dtype)]

    def apply(self, grads: Grads) -> Grads:
        grad = grads[0]
        if grad is None:
            return [None]
        return [INTERNAL["as_strided_backward"](grad, self.base_geometry, self.window)]


class CopySlices(Node):
    """History of a base after a write through a view: `node` applies to the window, the rest passes through."""

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def __init__(self, base: Tensor, view: Tensor, node: Node) -> None:
        Node.__init__(self, [gradient_edge(base), *node.next_edges[1:]])
        self.node: Node | None = node
        self.outputs = [(base._array.shape, base._array.dtype)]
        offset = view.storage_offset() - base.storage_offset()
        self.window: Geometry = (view._array.shape, view.stride(), offset)
        self.base_array_like = base.stride()
        self.view_fn = None if view._meta is None else view._meta.view_fn

    def apply(self, grads: Grads) -> Grads:
        grad = grads[0]
        if grad is None:
            return [None] * len(self.next_edges)
        if self.node is None:
            raise RuntimeError(error_texts.BACKWARD_TWICE)
        result: Tensor = FUNCTIONS["empty_strided"](grad._array.shape, self.base_array_like, dtype=grad.dtype)
        result.copy_(grad)
        window = result.as_strided(*self.window) if self.view_fn is None else self.view_fn(result)
        found = self.node.apply([window.clone()])
        grads_out: Grads = [None] * len(self.next_edges)
        for i, value in enumerate(found[: len(grads_out)]):
            if self.next_edges[i] is None:
                continue
            if i == 0:
                if value is not None:
                    window.copy_(value)
                grads_out[0] = result
            else:
                grads_out[i] = value
        return grads_out

    def release(self) -> None:
        self.node = None


def register_hook(t: Tensor, hook: Callable[[Tensor], Tensor | None]) -> HookHandle:
    if not requires_grad(t):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    meta = meta_of(t)
    node = grad_fn_of(t)
    if meta.hooks is None:
        meta.hooks = {}
        if node is not None:
            if node.tensor_hooks is None:
                node.tensor_hooks = []
            node.tensor_hooks.append((meta.output_nr, meta.hooks))
    return HookHandle(meta.hooks, hook)


def _retain(t: Tensor, node: Node) -> None:
    if node.retained is None:
        node.retained = {}
    node.retained[t.output_nr] = weakref.ref(t)


def retain_grad(t: Tensor) -> None:
    if not requires_grad(t):
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if raw_is_leaf(t):
        return
    meta = meta_of(t)
    if meta.retains_grad:
        return
    node = grad_fn_of(t)
    assert node is not None
    _retain(t, node)
    meta.retains_grad = True
