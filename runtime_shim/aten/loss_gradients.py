"""Gradients of losses that are ops themselves, so that they have gradients with PyTorch's names.

Derivatives as in derivatives.yaml and FunctionsManual.cpp. Reductions are numbered as in ATen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.reordered_array import packed
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import op

NONE, MEAN, SUM = 0, 1, 2


def spread_over(grad: Tensor, numel: int, reduction: int) -> Tensor:
    """The gradient of each element's loss."""
    return grad / numel if reduction == MEAN else grad


def _mse_twice(grad: Tensor, grad_output: Tensor, input: Tensor, reduction: int) -> Tensor:
    return spread_over(2 * (grad * grad_output), input.numel(), reduction)


@op(
    "mse_loss_backward",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    grad_output=lambda grad, self, target, reduction: mse_loss_backward(grad, self, target, reduction),
    self=lambda grad, grad_output, self, reduction: _mse_twice(grad, grad_output, self, reduction),
    target=lambda grad, grad_output, target, reduction: -_mse_twice(grad, grad_output, target, reduction),
)
def mse_loss_backward(grad_output: Any, self: Any, target: Any, reduction: int) -> Array:
    difference = self - target
    share = difference.dtype.type(2 / max(difference.size, 1) if reduction == MEAN else 2)
    return packed(np.asarray(share * difference * grad_output))


def _huber_twice(
    grad: Tensor, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float
) -> Tensor:
    return spread_over(grad * grad_output * ((self - target).abs() < delta), self.numel(), reduction)


def _huber_output(grad: Tensor, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float) -> Any:
    if reduction == NONE:
        return huber_loss_backward(grad, self, target, reduction, delta)
    slope = huber_loss_backward(FUNCTIONS["ones_like"](grad_output), self, target, reduction, delta)
    return (slope * grad).sum()


@op(
    "huber_loss_backward",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    grad_output=_huber_output,
    self=_huber_twice,
    target=lambda grad, grad_output, self, target, reduction, delta: (
        -_huber_twice(grad, grad_output, self, target, reduction, delta)
    ),
)
def huber_loss_backward(grad_output: Any, self: Any, target: Any, reduction: int, delta: float) -> Array:
    if self.dtype != target.dtype:
        found, wanted = (dtypes.of(array).scalar_name for array in (target, self))
        raise RuntimeError(f"Found dtype {found} but expected {wanted}")
    difference = self - target
    number = difference.dtype.type
    share = number(1 / max(difference.size, 1) if reduction == MEAN else 1)
    return packed(np.asarray(share * np.clip(difference, number(-delta), number(delta)) * grad_output))


def _smooth_l1_twice(
    grad: Tensor, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float
) -> Tensor:
    if not beta:
        return FUNCTIONS["zeros_like"](grad * grad_output)
    near = ((self - target).abs() < beta).to(grad.dtype)
    return spread_over(grad * grad_output * near / beta, self.numel(), reduction)


@op(
    "smooth_l1_loss_backward",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="SmoothL1LossBackwardBackward0",
    method=False,
    function=False,
    grad_output=lambda grad, self, target, reduction, beta: smooth_l1_loss_backward(
        grad, self, target, reduction, beta
    ),
    self=_smooth_l1_twice,
    target=lambda grad, grad_output, self, target, reduction, beta: (
        -_smooth_l1_twice(grad, grad_output, self, target, reduction, beta)
    ),
)
def smooth_l1_loss_backward(grad_output: Any, self: Any, target: Any, reduction: int, beta: float) -> Array:
    difference = self - target
    number = difference.dtype.type
    slope = np.clip(difference / number(beta), -1, 1) if beta else np.sign(difference)
    share = number(1 / max(difference.size, 1) if reduction == MEAN else 1)
    return packed(np.asarray(share * slope * grad_output))
