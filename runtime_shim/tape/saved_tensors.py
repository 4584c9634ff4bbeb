"""Tensors and numbers saved for backward (torch/csrc/autograd/saved_variable.cpp)."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ..core import error_texts
from ..core.dtypes import sizes
from ..core.tensor import Tensor, alias, current_version, history, meta_of, raw_is_leaf
from ..core.thread_state import AUTOGRAD, NORMAL_KEYS, tls
from .history import grad_fn_of, gradient_edge
from .nodes import AccumulateGrad, Edge, Node, short_name


class SavedNumber:
    """A Python number that the op wrapped in a tensor: it is freed as a saved tensor is."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def unpack(self, node: Node) -> Any:
        if self.value is None:
            raise RuntimeError(error_texts.BACKWARD_TWICE)
        return self.value

    def release(self) -> None:
        self.value = None


def _twin(t: Tensor) -> Tensor:
    """The tensor without its history."""
    return alias(t, t._array, t._keys, t._version_counter)


class Saved:
    """A tensor saved for backward, with the version it had. Raises on unpacking if it was written to since.

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
            if not tls.state.transforms:
                raise RuntimeError(error_texts.SAVED_INFERENCE)
            t = alias(t, t._array, NORMAL_KEYS, [0])  # a transform wraps what it meets
        counter = t._version_counter
        if counter is None:
            raise RuntimeError(error_texts.NO_VERSION)
        self.version = counter[0]
        self.tensor: Any = t
        meta = t._meta
        self.is_leaf = meta is None or meta.grad_fn is None
        if meta is not None and meta.output_nr:
            self.output_nr = meta.output_nr
        if is_output:
            self.is_output = True
            if meta is not None and meta.grad_fn is not None:
                # The node must not own its own output; unpack() gives the alias the node as its grad_fn again.
                self.original = False
                self.output_nr = meta.output_nr
                if meta.base is not None:  # written through a view, whose own node is AsStridedBackward0
                    node = grad_fn_of(t)
                    self.view_node = None if node is None else weakref.ref(node)
                self.tensor = _twin(t)
        state = tls.state
        if state.tracer is not None:
            self.seen = state.tracer.saved(t)
        if state.saved_tensor_hooks:
            self._pack(t, *state.saved_tensor_hooks[-1])

    def register_hooks(self, pack_hook: Callable[[Tensor], object], unpack_hook: Callable[[object], Tensor]) -> None:
        """Pack what is saved, as if the hooks had been there when it was saved. RuntimeError if there are hooks, or if
        it was freed.
        """
        if self.tensor is None:
            raise RuntimeError(error_texts.SAVED_HOOKS_FREED)
        if self.unpack_hook is not None:
            raise RuntimeError(error_texts.SAVED_HOOKS_TWICE)
        self._pack(self.tensor, pack_hook, unpack_hook)

    def _pack(self, t: Tensor, pack_hook: Callable[[Tensor], Any], unpack_hook: object) -> None:
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
            raise RuntimeError(error_texts.PACK_HOOK_WRITES)

    def unpack(self, node: Node) -> Tensor:
        t = self.tensor
        if t is None:
            raise RuntimeError(error_texts.BACKWARD_TWICE)
        if self.unpack_hook is not None:
            t = self.unpack_hook(t)
            if not isinstance(t, Tensor):
                kind = type(t).__name__
                raise TypeError(
                    f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {kind}"
                )
            return self._reconnected(t, node)
        counter = t._version_counter
        if counter[0] != self.version:
            raise RuntimeError(self._modified(t, node))
        if self.seen is not None and tls.state.tracer is not None:
            tls.state.tracer.unpacked(t, self.seen, node)
        if not self.original:
            made = _twin(t)
            made._meta = history(self._node_of_output(node), self.output_nr)
            return made
        if not self.is_leaf and not self.is_output and raw_is_leaf(t):
            raise RuntimeError(error_texts.SAVED_DETACHED)
        return t

    def _reconnected(self, t: Tensor, node: Node) -> Tensor:
        """What the unpack hook returned, with the place in the graph that the saved tensor had."""
        edge = self.edge if self.original else (self._node_of_output(node), self.output_nr)
        if edge is None:
            return t
        made = _twin(t)
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
            raise RuntimeError(error_texts.SAVED_DETACHED)
        which = f", which is output {self.output_nr} of {short_name(grad_fn)}," if grad_fn is not None else ""
        hint = error_texts.HINT_ANOMALY_ON if tls.state.anomaly else error_texts.HINT_ANOMALY_OFF
        return (
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[{t.dtype.type_text} {sizes(t._array.shape)}]{which} is at version "
            f"{current_version(t)}; expected version {self.version} instead. {hint}"
        )

    def release(self) -> None:
        self.tensor = None


class _SavedTensorMeta(type):
    def __call__(cls, *args: object, **kwargs: object) -> object:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")


class SavedTensor(metaclass=_SavedTensorMeta):
    """Where a node saves a tensor, as `grad_fn._raw_saved_…` shows it; `saved` is None where there is none."""

    saved: Saved | None

    def register_hooks(self, pack_hook: object, unpack_hook: object = None) -> None:
        """Call `pack_hook` with the saved tensor, keep what it returns, and give that to `unpack_hook` in backward."""
        if not callable(pack_hook) or not callable(unpack_hook):
            raise TypeError(
                "register_hooks(): incompatible function arguments. The following argument types are supported:\n"
                "    1. (self: torch._C._autograd.SavedTensor, arg0: Callable, arg1: Callable) -> None"
            )
        if self.saved is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        self.saved.register_hooks(pack_hook, unpack_hook)


SavedTensor.__module__ = "torch._C._autograd"


def shown_raw(saved: Saved | None) -> SavedTensor:
    """A saved tensor as Python sees it before it is unpacked."""
    made = object.__new__(SavedTensor)
    made.saved = saved
    return made
