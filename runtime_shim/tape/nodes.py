"""The tape: nodes, edges, saved tensors, and how views and in-place writes rewrite history.

Follows torch/csrc/autograd: function.h (Node), saved_variable.cpp (Saved), variable.cpp (grad_fn_of,
handle_view_on_rebase), VariableTypeUtils.h (check_inplace), accumulate_grad.h, CopySlices in
custom_function / functions/tensor.cpp.
"""

from __future__ import annotations

import operator
import re
import sys
import weakref
from collections.abc import Callable
from typing import Any

from ..core.tensor import (
    Tensor,
    allocate,
    meta_of,
)
from ..core.thread_state import tls

#: Where a gradient goes: (node, which of its inputs); None where no gradient is needed.
Edge = tuple["Node", int]
Grads = list["Tensor | None"]

_LAST = 1 << 62  # accumulators run before anything else that is ready


class HookHandle:
    """Returned when a hook is registered; `remove()` takes it off. Usable as a context manager."""

    _next = 0

    def __init__(self, hooks: dict[int, Any], hook: object) -> None:
        self.hooks = hooks
        HookHandle._next += 1
        self.id = HookHandle._next
        hooks[self.id] = hook

    def hooks_dict_ref(self) -> dict[int, Any]:
        """The table that the hook is in until it is taken off."""
        return self.hooks

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

    #: How many threads are in anomaly mode: else the threads' state isn't looked at.
    remembers_forward = 0

    def __init__(self, next_edges: list[Edge | None]) -> None:
        state = tls.state
        if Node.remembers_forward and state.anomaly:
            self._remember_forward()
        self.sequence = state.sequence
        state.sequence += 1
        self.next_edges = next_edges
        self.outputs = []

    def _remember_forward(self) -> None:
        """Keep where the program is, for anomaly mode, and which node of a backward with a graph is running."""
        import traceback

        frame = sys._getframe(2)
        inside = (__name__.partition(".tape")[0], "importlib")
        while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith(inside):
            frame = frame.f_back
        self.metadata["traceback_"] = traceback.format_stack(frame)
        if tls.state.running_node is not None:
            self.metadata["parent_"] = tls.state.running_node

    def explain_anomaly(self) -> None:
        """Warn where forward made this node, and its parents if it came of another backward."""
        import warnings

        node: Node | None = self
        said = f"Error detected in {self.name()}. "
        happened = "caused the error"
        while node is not None:
            lines = node.metadata.get("traceback_")
            if lines is None:
                text = (
                    "No forward pass information available. Enable detect anomaly during forward pass for more "
                    "information."
                )
            else:
                text = f"Traceback of forward call that {happened}:\n" + "".join(lines)
            try:
                warnings.warn(said + text, UserWarning, stacklevel=2)
            except UserWarning:  # made an error by a filter: what backward raises goes before it
                print(said + text, file=sys.stderr)
            parent = node.metadata.get("parent_")
            if parent is not None:
                said = f"\n\nPrevious calculation was induced by {parent.name()}. "
                happened = "induced the previous calculation"
            node = parent

    def apply(self, grads: Grads) -> Grads:
        raise NotImplementedError

    def release(self) -> None:
        """Drop what was saved for backward."""

    def name(self) -> str:
        name = type(self).__name__
        return f"torch::autograd::{name}" if name in ("NotImplemented", "CopyBackwards") else name

    @property
    def edges_of_needed(self) -> bool:
        """Whether inputs that don't require grad have no edge at all."""
        return False

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        if self.edges_of_needed:
            return tuple(edge for edge in self.next_edges if edge is not None)
        return tuple((None, 0) if edge is None else edge for edge in self.next_edges)

    @property
    def metadata(self) -> dict[str, Any]:
        return self.__dict__.setdefault("_metadata", {})

    def _sequence_nr(self) -> int:
        return self.sequence

    def _set_sequence_nr(self, number: int) -> None:
        """Of the nodes that are ready, backward runs the one with the highest number first."""
        self.sequence = operator.index(number)

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
    next_edges: list[Edge | None] = []  # noqa: RUF012  always empty, so all of them share it

    variable: Tensor

    def apply(self, grads: Grads) -> Grads:
        raise AssertionError("the engine accumulates")

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"


def accumulator_of(t: Tensor) -> Node:
    meta = t._meta or meta_of(t)
    found = None if meta.accumulator is None else meta.accumulator()
    if found is None:
        found = allocate(AccumulateGrad)
        found.variable = t
        found.outputs = [(t._array.shape, t._array.dtype)]
        meta.accumulator = weakref.ref(found)
    return found
