"""`torch.utils.module_tracker`: which modules are running, in forward and in backward."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable
from typing import Any

from ..autograd.graph import register_multi_grad_hook
from ..autograd.variable import Variable
from ..core.tensor import Tensor
from ..core.thread_state import tls
from ..nn.module_hooks import register_module_forward_hook, register_module_forward_pre_hook
from ._pytree import tree_leaves

__all__ = ["ModuleTracker"]

_logger = logging.getLogger(__name__)


class ModuleTracker:
    """Inside, `parents` has the dotted names of the modules that are running, and always "Global".

    A module that no other contains is called by its class.
    """

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._visited: weakref.WeakSet[Any] = weakref.WeakSet()
        self._handles: list[Any] = []
        self._will_end = False

    @property
    def is_bw(self) -> bool:
        """Whether a backward is running."""
        return bool(tls.state.backward_id)

    def __enter__(self) -> ModuleTracker:
        self._handles = [
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after),
        ]
        return self

    def __exit__(self, *exc: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _name_of(self, module: Any) -> str:
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._visited:
            self._visited.add(module)
            for child_name, child in module.named_children():
                self._names[child] = f"{name}.{child_name}"
                self._name_of(child)
        return name

    def _before(self, module: Any, args: Any) -> None:
        name = self._name_of(module)
        self._enter(name)
        self._in_backward(args, lambda *_: self._leave(name))

    def _after(self, module: Any, args: Any, output: Any) -> None:
        name = self._name_of(module)
        self._leave(name)
        self._in_backward(output, lambda *_: self._enter_backward(name))

    def _in_backward(self, values: Any, hook: Callable[..., None]) -> None:
        """Call the hook when backward has the gradients of all the tensors."""
        tensors = [t for t in tree_leaves(values) if isinstance(t, Tensor) and t.requires_grad]
        if tensors:
            self._handles.append(register_multi_grad_hook(tensors, hook))

    def _enter_backward(self, name: str) -> None:
        if not self._will_end:
            self._will_end = True
            Variable._execution_engine.queue_callback(self._end_backward)
        self._enter(name)

    def _end_backward(self) -> None:
        self._will_end = False
        self.parents = {"Global"}

    def _enter(self, name: str) -> None:
        if name in self.parents:
            _logger.info("%s was entered, and is running already", name)
        self.parents.add(name)

    def _leave(self, name: str) -> None:
        if name not in self.parents:
            _logger.info("%s was left, and isn't running", name)
        self.parents.discard(name)
