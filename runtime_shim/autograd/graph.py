"""`torch.autograd.graph`: hooks on saved tensors, version counters, nodes."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..core.function_table import AnyFunction
from ..core.gradient_modes import _Guard, no_grad
from ..core.tensor import Tensor, address, alias, requires_grad
from ..core.thread_state import AUTOGRAD, tls
from ..tape import nodes
from ..tape.history import gradient_edge
from .backward_engine import will_execute


class _NodeMeta(type):
    """What is a node says the tape, whose classes don't inherit from this one."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, nodes.Node)

    def __subclasscheck__(cls, other: type) -> bool:
        return other is cls or issubclass(other, nodes.Node)


class Node(metaclass=_NodeMeta):
    """Every `grad_fn`, and every `ctx` of a custom Function, is an instance; it is in no class's bases."""


class saved_tensors_hooks:
    """Inside, tensors saved for backward pass through `pack_hook`, and through `unpack_hook` when used."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.hooks = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        if tls.state.no_saved_tensor_hooks is not None:
            raise RuntimeError(tls.state.no_saved_tensor_hooks)
        tls.state.saved_tensor_hooks.append(self.hooks)

    def __exit__(self, *exc: object) -> None:
        if tls.state.saved_tensor_hooks:
            tls.state.saved_tensor_hooks.pop()


class save_on_cpu(saved_tensors_hooks):
    """Tensors are on the CPU already."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda t: t, lambda t: t)


class disable_saved_tensors_hooks(_Guard):
    """Inside, hooks on saved tensors are refused with this message."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message
        self.before: str | None = None

    def clone(self) -> disable_saved_tensors_hooks:
        return type(self)(self.error_message)

    def __enter__(self) -> None:
        state = tls.state
        if state.saved_tensor_hooks and state.no_saved_tensor_hooks is None:
            raise RuntimeError(self.error_message)
        self.before, state.no_saved_tensor_hooks = state.no_saved_tensor_hooks, self.error_message

    def __exit__(self, *exc: object) -> None:
        tls.state.no_saved_tensor_hooks = self.before


class _MultiHandle:
    """Takes several hooks off at once."""

    def __init__(self, handles: tuple[Any, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(tensors: Any, fn: AnyFunction, *, mode: str = "all") -> _MultiHandle:
    """Call `fn` once a backward with the gradients of all tensors, or with the first (mode "any")."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = tuple(tensors)
    lock = threading.Lock()
    if mode == "any":
        called: dict[int, bool] = {}

        def first(grad: Tensor) -> None:
            number = tls.state.backward_id
            with lock:
                if called.get(number):
                    return
                called[number] = True
            fn(grad)

        return _MultiHandle(tuple(t.register_hook(first) for t in tensors if t.requires_grad))
    counts: dict[int, int] = {}
    reached: dict[int, int] = {}
    grads: dict[int, list[Tensor | None]] = {}

    def hook_of(i: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            number = tls.state.backward_id
            with lock:
                if number not in reached:
                    reached[number] = sum(map(will_execute, functions))
                    grads[number] = [None] * len(tensors)
                counts[number] = counts.get(number, 0) + 1
                grads[number][i] = grad
                complete = counts[number] == reached[number]
            if complete:
                fn(grads.pop(number))
                del counts[number], reached[number]

        return hook

    functions = [_function_of(t) for t in tensors]  # asks each for `requires_grad`, whatever it is
    return _MultiHandle(tuple(t.register_hook(hook_of(i)) for i, t in enumerate(tensors)))


def _function_of(t: Tensor) -> nodes.Node:
    """The node that a gradient of the tensor goes to. A leaf's is found by way of a view, as in PyTorch."""
    if t.requires_grad and t.grad_fn is None and not t._keys & ~tls.state.excluded & AUTOGRAD:
        raise AttributeError("'NoneType' object has no attribute 'next_functions'")
    edge = gradient_edge(t)
    assert edge is not None, "Expected gradient function to be set"
    return edge[0]


def increment_version(tensor: Tensor) -> None:
    """Count a write that PyTorch did not see; does nothing to an inference tensor."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tuple(tensor):
        if t._version_counter is not None and not t.is_inference():
            t._version_counter[0] += 1


class GradientEdge(NamedTuple):
    """Where a gradient goes: the node, and which of its inputs."""

    node: nodes.Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The node and input that receive the gradient of `tensor`; RuntimeError if it doesn't require grad."""
    if not requires_grad(tensor):
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(_function_of(tensor), tensor.output_nr)


class _Handle:
    """Stands in a node for a tensor that it saved; what the context knows of that goes with it."""


class MutationContext:
    """What was saved within the block: tensors as they are, and copies of those that were written to since."""

    def __init__(self) -> None:
        self.cloned: weakref.WeakKeyDictionary[_Handle, Tensor] = weakref.WeakKeyDictionary()
        self.original: weakref.WeakKeyDictionary[_Handle, Tensor] = weakref.WeakKeyDictionary()
        self.tid_to_weakhandle: weakref.WeakValueDictionary[Any, _Handle] = weakref.WeakValueDictionary()

    def clear(self) -> None:
        for known in (self.cloned, self.original, self.tid_to_weakhandle):
            known.clear()

    def pack(self, t: Tensor) -> _Handle:
        array = t._array
        version = None if t._version_counter is None else t._version_counter[0]
        key = id(t._storage), address(array), array.shape, array.strides, version
        handle = self.tid_to_weakhandle.get(key)
        if handle is None:
            handle = self.tid_to_weakhandle[key] = _Handle()
            self.original[handle] = alias(t, array, t._keys, t._version_counter)
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        found = self.cloned.get(handle)
        if found is None:
            found = self.original.get(handle)
        assert found is not None, (
            "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was "
            "originally recorded."
        )
        return found

    def before_write(self, target: Tensor) -> None:
        for handle, saved in list(self.original.items()):
            if saved._storage is target._storage and address(saved._array) == address(target._array):
                with no_grad():
                    self.cloned[handle] = saved.clone()
                del self.original[handle]


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[MutationContext]:
    """Within the block, tensors that were saved for backward may be written to: backward, which has to run within it,
    gets what they were. RuntimeError if such a block is entered within another.
    """
    state = tls.state
    if state.before_write is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = MutationContext()
    with saved_tensors_hooks(context.pack, context.unpack):
        state.before_write = context.before_write
        try:
            yield context
        finally:
            state.before_write = None
            context.clear()


__all__ = [
    "GradientEdge", "Node", "disable_saved_tensors_hooks", "get_gradient_edge", "increment_version",
    "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip
