"""Gradients of activations and losses that are ops themselves, so that they have gradients with PyTorch's names.

Derivatives as in derivatives.yaml and FunctionsManual.cpp. Each takes the gradient first, then what was saved.
Reductions are numbered as in ATen.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.array_kinds import elementwise, packed
from ...core.dtypes import Array
from ...core.function_table import FUNCTIONS
from ...core.memory_layout import laid_out_like
from ...core.tensor import Tensor
from ...dispatch.registration import inner_op
from ..elementwise import conj, mul_scalar


@inner_op(
    "sigmoid_backward",
    grad_output=lambda grad, output: sigmoid_backward(grad, conj(output)),
    output=lambda grad, grad_output, output: conj(grad) * grad_output * (-2 * conj(output) + 1),
)
def sigmoid_backward(grad_output: Array, output: Array) -> Array:
    return elementwise(grad_output * np.conjugate((1 - output) * output), grad_output, output)


@inner_op(
    "tanh_backward",
    grad_output=lambda grad, output: tanh_backward(grad, conj(output)),
    output=lambda grad, grad_output, output: conj(grad) * (-2 * conj(output) * grad_output),
)
def tanh_backward(grad_output: Array, output: Array) -> Array:
    return elementwise(grad_output * np.conjugate(1 - output * output), grad_output, output)


def _elu_twice(
    grad: Tensor,
    grad_output: Tensor,
    self_or_result: Tensor,
    alpha: float,
    scale: float,
    input_scale: float,
    is_result: bool,
) -> Tensor:
    below = (self_or_result < 0).to(grad.dtype)
    found = grad * grad_output * input_scale
    return (found if is_result else elu_backward(found, self_or_result, alpha, scale, input_scale, is_result)) * below


@inner_op(
    "elu_backward",
    grad_output=lambda grad, self_or_result, alpha, scale, input_scale, is_result: elu_backward(
        grad, self_or_result, alpha, scale, input_scale, is_result
    ),
    self_or_result=_elu_twice,
)
def elu_backward(
    grad_output: Array, self_or_result: Array, alpha: float, scale: float, input_scale: float, is_result: bool
) -> Array:
    x, number = self_or_result, self_or_result.dtype.type
    if is_result:
        below = grad_output * number(input_scale) * (x + number(alpha * scale))
    else:
        below = grad_output * number(input_scale * alpha * scale) * np.exp(np.minimum(x, 0) * number(input_scale))
    return elementwise(np.where(x <= 0, below, grad_output * number(scale)), grad_output, x)


def _gelu_twice(grad: Tensor, grad_output: Tensor, self: Tensor, approximate: str) -> Tensor:
    square = self * self
    if approximate == "none":
        density = (-0.5 * square).exp() * (1 / math.sqrt(2 * math.pi))
        return grad * grad_output * (2 * density - square * density)
    scale = math.sqrt(2 / math.pi)
    bent = (scale * (self + 0.044715 * square * self)).tanh()
    slope, steep = scale * (1 + 3 * 0.044715 * square), 1 - bent * bent
    twice = steep * slope - self * bent * steep * slope * slope + 3 * 0.044715 * scale * square * steep
    return grad * grad_output * twice


_ERF = np.vectorize(math.erf, otypes=[float])


@inner_op(
    "gelu_backward",
    grad_output=lambda grad, self, approximate: gelu_backward(grad, self, approximate),
    self=_gelu_twice,
)
def gelu_backward(grad_output: Array, self: Array, approximate: str) -> Array:
    number = self.dtype.type
    if approximate == "tanh":
        scale = number(math.sqrt(2 / math.pi))
        bent = np.tanh(scale * (self + number(0.044715) * self * self * self))
        slope = scale * (1 + number(3 * 0.044715) * self * self)
        found = number(0.5) * (1 + bent) + number(0.5) * self * (1 - bent * bent) * slope
    else:
        share = _ERF(self * number(math.sqrt(0.5))).astype(self.dtype) if self.size else self
        found = number(0.5) * (1 + share) + self * np.exp(number(-0.5) * self * self) / number(math.sqrt(2 * math.pi))
    return elementwise(grad_output * found, grad_output, self)


def _hardswish_twice(grad: Tensor, grad_output: Tensor, self: Tensor) -> Tensor:
    found: Tensor = FUNCTIONS["where"]((self > -3.0) & (self < 3.0), grad * grad_output / 3.0, 0.0)
    return found


@inner_op("hardswish_backward", grad_output=lambda grad, self: hardswish_backward(grad, self), self=_hardswish_twice)
def hardswish_backward(grad_output: Array, self: Array) -> Array:
    number = self.dtype.type
    between = grad_output * (self / number(3) + number(0.5))
    found = np.where(self <= -3, number(0), np.where(self < 3, between, grad_output))
    return elementwise(found, grad_output, self)


def _softplus_twice(grad: Tensor, grad_output: Tensor, self: Tensor, beta: float, threshold: float) -> Tensor:
    scaled = mul_scalar(self, beta)
    slope: Tensor = sigmoid_backward(grad * grad_output, scaled.sigmoid())
    return mul_scalar(slope * (scaled < threshold).to(grad.dtype), beta)


@inner_op(
    "softplus_backward",
    grad_output=lambda grad, self, beta, threshold: softplus_backward(grad, self, beta, threshold),
    self=_softplus_twice,
)
def softplus_backward(grad_output: Array, self: Array, beta: float, threshold: float) -> Array:
    scaled = self * self.dtype.type(beta)
    power = np.exp(scaled)
    return elementwise(np.where(scaled > threshold, grad_output, grad_output * power / (power + 1)), grad_output, self)


def _log_sigmoid_twice(grad: Tensor, grad_output: Tensor, self: Tensor) -> Tensor:
    share = self.sigmoid()
    return grad * grad_output * (share - 1) * share


@inner_op(
    "log_sigmoid_backward", grad_output=lambda grad, self: log_sigmoid_backward(grad, self), self=_log_sigmoid_twice
)
def log_sigmoid_backward(grad_output: Array, self: Array) -> Array:
    return laid_out_like(np.asarray(grad_output / (1 + np.exp(self))), grad_output)


def _softmax_twice(grad: Tensor, grad_output: Tensor, output: Tensor, dim: int) -> Tensor:
    return (
        grad_output * grad - (output * grad_output).sum(dim, True) * grad - grad_output * (output * grad).sum(dim, True)
    )


@inner_op(
    "softmax_backward",
    node="SoftmaxBackwardDataBackward0",
    grad_output=lambda grad, output, dim: softmax_backward(grad, output, dim),
    output=_softmax_twice,
)
def softmax_backward(grad_output: Array, output: Array, dim: int) -> Array:
    if not output.size:
        return packed(grad_output)
    common = (grad_output * output).sum(axis=dim if output.ndim else None, keepdims=True)
    return packed(output * (grad_output - common))


@inner_op(
    "log_softmax_backward",
    node="LogSoftmaxBackwardDataBackward0",
    grad_output=lambda grad, output, dim: grad - (grad * output.exp()).sum(dim, True),
    output=lambda grad, grad_output, output, dim: -grad_output.sum(dim, True) * output.exp() * grad,
)
def log_softmax_backward(grad_output: Array, output: Array, dim: int) -> Array:
    if not output.size:
        return packed(grad_output)
    return packed(grad_output - np.exp(output) * grad_output.sum(axis=dim if output.ndim else None, keepdims=True))


NONE, MEAN, SUM = 0, 1, 2


def spread_over(grad: Tensor, numel: int, reduction: int) -> Tensor:
    """The gradient of each element's loss."""
    return grad / numel if reduction == MEAN else grad


def _mse_twice(grad: Tensor, grad_output: Tensor, input: Tensor, reduction: int) -> Tensor:
    return spread_over(2 * (grad * grad_output), input.numel(), reduction)


@inner_op(
    "mse_loss_backward",
    grad_output=lambda grad, self, target, reduction: mse_loss_backward(grad, self, target, reduction),
    self=lambda grad, grad_output, self, reduction: _mse_twice(grad, grad_output, self, reduction),
    target=lambda grad, grad_output, target, reduction: -_mse_twice(grad, grad_output, target, reduction),
)
def mse_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int) -> Array:
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


@inner_op(
    "huber_loss_backward",
    grad_output=_huber_output,
    self=_huber_twice,
    target=lambda grad, grad_output, self, target, reduction, delta: (
        -_huber_twice(grad, grad_output, self, target, reduction, delta)
    ),
)
def huber_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int, delta: float) -> Array:
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


@inner_op(
    "smooth_l1_loss_backward",
    grad_output=lambda grad, self, target, reduction, beta: smooth_l1_loss_backward(
        grad, self, target, reduction, beta
    ),
    self=_smooth_l1_twice,
    target=lambda grad, grad_output, self, target, reduction, beta: (
        -_smooth_l1_twice(grad, grad_output, self, target, reduction, beta)
    ),
)
def smooth_l1_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int, beta: float) -> Array:
    difference = self - target
    number = difference.dtype.type
    slope = np.clip(difference / number(beta), -1, 1) if beta else np.sign(difference)
    share = number(1 / max(difference.size, 1) if reduction == MEAN else 1)
    return packed(np.asarray(share * slope * grad_output))
