"""Formulas that raise: of ops for which PyTorch has no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor


def no_derivative(name: str) -> Callable[[Any], Tensor]:
    """What derivatives.yaml has as `not_implemented("name")`."""

    def refuse(grads: Any) -> Tensor:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return refuse


def no_autograd_kernel(name: str) -> Callable[[Any], Tensor]:
    """The formula of an op that derivatives.yaml doesn't have; the node is called NotImplemented."""

    def refuse(grads: Any) -> Tensor:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return refuse
