"""The tape: nodes, edges, saved tensors, and how views and in-place writes rewrite history.

Follows torch/csrc/autograd: function.h (Node), saved_variable.cpp (Saved), variable.cpp (grad_fn_of,
handle_view_on_rebase), VariableTypeUtils.h (check_inplace), accumulate_grad.h, CopySlices in
custom_function / functions/tensor.cpp.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from guardfix.runtime_shim import errors
from guardfix.runtime_shim._tensor import (
    DEFAULT,
    IN_CUSTOM_FUNCTION,
    INFERENCE_MODE,
    MULTI_OUTPUT_NODE,
    NO_GRAD_MODE,
    AutogradMeta,
    Tensor,
    address,
    alias,
    current_version,
    history,
    meta_of,
    raw_is_leaf,
    requires_grad,
)
from guardfix.runtime_shim.dtypes import sizes
from guardfix.runtime_shim.state import AUTOGRAD, tls

#: Where a gradient goes: (node, which of its inputs); None where no gradient is needed.
Edge = tuple["Node", int]
Grads = list["Tensor | None"]

_LAST = 1 << 62  # accumulators run before anything else that is ready


class HookHandle:
    """Returned when a hook is registered; `remove()` takes it off. Usable as a context manager."""

    _next = 0

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        self.hooks = hooks
        HookHandle._next += 1
        self.id = HookHandle._next
        hooks[self.id] = hook

    def remove(self) -> None:
        self.hooks.pop(self.id, None)

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Node:
    """A step of backward. Subclasses are named as PyTorch's are; `outputs` describes what forward made."""

    tensor_hooks: list[tuple[int, dict[int, Any]]] | None = None
    retained: dict[int, weakref.ref[Tensor]] | None = None
    pre_hooks: dict[int, Any] | None = None
    post_hooks: dict[int, Any] | None = None
    sequence: int  # the engine runs later nodes first
    next_edges: list[Edge | None]
    outputs: list[tuple[tuple[int, ...], Any]]  # shape and dtype

    def __init__(self, next_edges: list[Edge | None]) -> None:
        state = tls.state
        self.sequence = state.sequence
        state.sequence += 1
        self.next_edges = next_edges
        self.outputs = []

    def apply(self, grads: Grads) -> Grads:
        raise NotImplementedError

    def release(self) -> None:
        """Drop what was saved for backward."""

    def name(self) -> str:
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        return tuple((None, 0) if edge is None else edge for edge in self.next_edges)

    @property
    def metadata(self) -> dict[str, Any]:
        return self.__dict__.setdefault("_metadata", {})

    def _sequence_nr(self) -> int:
        return self.sequence

    def register_hook(self, hook: Callable[[Any, Any], Any]) -> HookHandle:
        """Call `hook(grad_inputs, grad_outputs)` after this node; its result replaces grad_inputs."""
        if self.post_hooks is None:
            self.post_hooks = {}
        return HookHandle(self.post_hooks, hook)

    def register_prehook(self, hook: Callable[[Any], Any]) -> HookHandle:
        """Call `hook(grad_outputs)` before this node; its result replaces them."""
        if self.pre_hooks is None:
            self.pre_hooks = {}
        return HookHandle(self.pre_hooks, hook)

    def __call__(self, *grads: Tensor | None) -> Any:
        if len(grads) != len(self.outputs):
            raise TypeError(f"expected {len(self.outputs)} arguments, got {len(grads)} instead")
        found = self.apply(list(grads))
        return found[0] if len(found) == 1 else tuple(found)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


def short_name(node: Node) -> str:
    """The node's name as error messages print it: without `Backward0`."""
    return re.sub(r"Backward0?(\d*)$", r"\1", node.name())


_classes: dict[str, type[Node]] = {}


def node_class(name: str, base: type[Node]) -> type[Node]:
    """The class of nodes called `name`, made on first use: most programs record few kinds of op."""
    found = _classes.get(name)
    if found is None:
        found = _classes[name] = type(name, (base,), {"__module__": "torch.autograd"})
    return found


class Error(Node):
    """Gradient of something that has none; raises when backward reaches it."""

    def __init__(self, next_edges: list[Edge | None], message: str) -> None:
        Node.__init__(self, next_edges)
        self.message = message

    def apply(self, grads: Grads) -> Grads:
        raise RuntimeError(self.message)


class AccumulateGrad(Node):
    """Where gradients of a leaf end."""

    sequence = _LAST

    def __init__(self, variable: Tensor) -> None:
        self.next_edges = []
        self.variable = variable
        self.outputs = [(variable._array.shape, variable._array.dtype)]

    def apply(self, grads: Grads) -> Grads:
        raise AssertionError("the engine accumulates")

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"


def accumulator_of(t: Tensor) -> Node:
    meta = t._meta or meta_of(t)
    found = None if meta.accumulator is None else meta.accumulator()
    if found is None:
        found = AccumulateGrad(t)
        meta.accumulator = weakref.ref(found)
    return found


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


# -- saved tensors
# ----------------------------------------------------------------------------------------------


class SavedNumber:
    """A Python number that the op wrapped in a tensor: it is freed as a saved tensor is."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def unpack(self, node: Node) -> Any:
        if self.value is None:
            raise RuntimeError(errors.BACKWARD_TWICE)
        return self.value

    def release(self) -> None:
        self.value = None


class Saved:
    """A tensor saved for backward, with the version it had. Raises on unpacking if it was written to
    since.

    Most are saved inputs without hooks, so the other defaults live on the class, as AutogradMeta's do.
    """

    is_output = False
    original = True
    output_nr = 0
    seen: Any = None
    unpack_hook: Any = None
    edge: Edge | None = None  # of a tensor that went through hooks
    view_node: weakref.ref[Node] | None = None

    def __init__(self, t: Tensor, is_output: bool = False, node: Node | None = None) -> None:
        if not t._keys & AUTOGRAD:
            raise RuntimeError(errors.SAVED_INFERENCE)
        counter = t._version_counter
        if counter is None:
            raise RuntimeError(errors.NO_VERSION)
        self.version = counter[0]
        self.tensor: Any = t
        meta = t._meta
        self.is_leaf = meta is None or meta.grad_fn is None
        if is_output:
            self.is_output = True
            if meta is not None and meta.grad_fn is not None:
                # The node must not own its own output; unpack() gives the alias the node as its grad_fn again.
                self.original = False
                self.output_nr = meta.output_nr
                if meta.base is not None:  # written through a view, whose own node is AsStridedBackward0
                    node = grad_fn_of(t)
                    self.view_node = None if node is None else weakref.ref(node)
                self.tensor = alias(t, t._array, t._keys, counter)
        state = tls.state
        if state.tracer is not None:
            self.seen = state.tracer.saved(t)
        if state.saved_tensor_hooks:
            self._pack(t, *state.saved_tensor_hooks[-1])

    def _pack(self, t: Tensor, pack_hook: Callable[[Tensor], Any], unpack_hook: Any) -> None:
        if self.original:
            self.edge = gradient_edge(t)
        self.unpack_hook = unpack_hook
        state = tls.state
        grad_mode, state.grad_mode = state.grad_mode, False
        try:
            self.tensor = pack_hook(t)
        finally:
            state.grad_mode = grad_mode
        if t._version_counter is not None and t._version_counter[0] != self.version:
            raise RuntimeError(errors.PACK_HOOK_WRITES)

    def unpack(self, node: Node) -> Tensor:
        t = self.tensor
        if t is None:
            raise RuntimeError(errors.BACKWARD_TWICE)
        if self.unpack_hook is not None:
            t = self.unpack_hook(t)
            if not isinstance(t, Tensor):
                raise TypeError(
                    f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(t)}"
                )
            return self._reconnected(t, node)
        counter = t._version_counter
        if counter[0] != self.version:
            raise RuntimeError(self._modified(t, node))
        if self.seen is not None and tls.state.tracer is not None:
            tls.state.tracer.unpacked(t, self.seen, node)
        if not self.original:
            made = alias(t, t._array, t._keys, t._version_counter)
            made._meta = history(self._node_of_output(node), self.output_nr)
            return made
        if not self.is_leaf and not self.is_output and raw_is_leaf(t):
            raise RuntimeError(errors.SAVED_DETACHED)
        return t

    def _reconnected(self, t: Tensor, node: Node) -> Tensor:
        """What the unpack hook returned, with the place in the graph that the saved tensor had."""
        edge = self.edge if self.original else (self._node_of_output(node), self.output_nr)
        if edge is None:
            return t
        made = alias(t, t._array, t._keys, t._version_counter)
        if isinstance(edge[0], AccumulateGrad):
            meta = meta_of(made)
            meta.requires_grad, meta.accumulator = True, weakref.ref(edge[0])
        else:
            made._meta = history(*edge)
        return made

    def _node_of_output(self, node: Node) -> Node:
        return (None if self.view_node is None else self.view_node()) or node

    def _modified(self, t: Tensor, node: Node) -> str:
        grad_fn = t.grad_fn if self.original else self._node_of_output(node)
        if not self.is_leaf and grad_fn is None:
            raise RuntimeError(errors.SAVED_DETACHED)
        output_nr = t.output_nr if self.original else self.output_nr
        which = f", which is output {output_nr} of {short_name(grad_fn)}," if grad_fn is not None else ""
        hint = errors.HINT_ANOMALY_ON if tls.state.anomaly else errors.HINT_ANOMALY_OFF
        return (
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[{t.dtype.type_text} {sizes(t._array.shape)}]{which} is at version "
            f"{current_version(t)}; expected version {self.version} instead. {hint}"
        )

    def release(self) -> None:
        self.tensor = None


# -- views and in-place
# -----------------------------------------------------------------------------------------


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
        MULTI_OUTPUT_NODE: errors.TAIL_MULTI_OUTPUT,
        NO_GRAD_MODE: errors.TAIL_NO_GRAD,
        INFERENCE_MODE: errors.TAIL_INFERENCE,
        IN_CUSTOM_FUNCTION: errors.TAIL_CUSTOM,
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
    """History of a view that is no window of strides onto its base: the view is made once more."""
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
            raise RuntimeError(errors.LEAF_VIEW_INPLACE)
    if meta.grad_fn is None and requires_grad(t):
        raise RuntimeError(errors.LEAF_INPLACE)


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
        from guardfix.runtime_shim.kernels.strided import as_strided_backward

        return [as_strided_backward(grad, self.base_geometry, self.window)]


#: (shape, strides, storage offset), strides and offset in elements
Geometry = tuple[tuple[int, ...], tuple[int, ...], int]


def geometry(t: Tensor) -> Geometry:
    return t._array.shape, t.stride(), t.storage_offset()


class CopySlices(Node):
    """History of a base after a write through a view: `node` applies to the window, the rest passes
    through.
    """

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
            raise RuntimeError(errors.BACKWARD_TWICE)
        from guardfix.runtime_shim.kernels.creation import empty_strided

        result = empty_strided(grad._array.shape, self.base_array_like, dtype=grad.dtype)
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


# -- hooks
# ------------------------------------------------------------------------------------------------------


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


def obeys_layout(grad: Tensor, variable: Tensor) -> bool:
    """Whether `grad` is laid out as `.grad` of `variable` is to be, so that it need not be copied."""
    if not non_overlapping_and_dense(variable):
        return grad._array.flags.c_contiguous
    for n, mine, wanted in zip(grad._array.shape, grad.stride(), variable.stride(), strict=True):
        if (mine != wanted) if n != 1 else (mine == 0):
            return False
    return True


def non_overlapping_and_dense(t: Tensor) -> bool:
    array = t._array
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return True
    expected = array.itemsize
    for stride, size in sorted(zip(array.strides, array.shape, strict=True)):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


def same_memory(a: Tensor, b: Tensor) -> bool:
    return a._storage is b._storage and address(a._array) == address(b._array)


def byte_range(t: Tensor) -> tuple[int, int]:
    """First byte and one past the last of a dense tensor."""
    low, high = np.lib.array_utils.byte_bounds(t._array)
    return int(low), int(high)
