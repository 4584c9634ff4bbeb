"""`Variable`: what tensors with a history were called before PyTorch 0.4."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..core.thread_state import tls

__all__ = ["Variable"]


class _Engine:
    """What runs backward."""

    def queue_callback(self, callback: Callable[[], None]) -> None:
        """Call this when the backward that is running has ended. RuntimeError outside a backward."""
        if not tls.state.backward_id:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        tls.state.backward_callbacks.append(callback)


class _VariableMeta(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor)


class Variable(metaclass=_VariableMeta):
    """Calling it gives a tensor; every tensor is an instance."""

    _execution_engine = _Engine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        if data is None:
            return Tensor()
        made = data.detach()
        return made.requires_grad_() if requires_grad else made
