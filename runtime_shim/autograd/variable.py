"""`Variable`: what tensors with a history were called before PyTorch 0.4."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor

__all__ = ["Variable"]


class _VariableMeta(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor)


class Variable(metaclass=_VariableMeta):
    """Calling it gives a tensor; every tensor is an instance."""

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        if data is None:
            return Tensor()
        made = data.detach()
        return made.requires_grad_() if requires_grad else made
