"""`torch.autograd.graph.allow_mutation_on_saved_tensors`: what was saved is copied before it is written to.

Source of the behaviour: torch/autograd/graph.py. As in PyTorch only those saved tensors are found that begin where the
written one begins: a write to a later part of a saved tensor changes its gradient.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from typing import Any

from ..core.gradient_modes import no_grad
from ..core.tensor import Tensor, address, alias
from ..core.thread_state import tls
from .graph import saved_tensors_hooks


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
