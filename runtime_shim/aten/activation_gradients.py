"""Gradients that are ops themselves, so that they have gradients with PyTorch's names (TanhBackwardBackward0).

Derivatives as in derivatives.yaml and FunctionsManual.cpp. Each takes the gradient first, then what was saved.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import laid_out_like
from ..core.reordered_array import elementwise, packed
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import op
from .elementwise import conj, mul_scalar

_KIND: dict[str, Any] = {"computes": ANY_DTYPE, "out": RESIZED, "method": False, "function": False}


@op(
    "sigmoid_backward",
    **_KIND,
    grad_output=lambda grad, output: sigmoid_backward(grad, conj(output)),
    output=lambda grad, grad_output, output: conj(grad) * grad_output * (-2 * conj(output) + 1),
)
def sigmoid_backward(grad_output: Any, output: Any) -> Array:
    return elementwise(grad_output * np.conjugate((1 - output) * output), grad_output, output)


@op(
    "tanh_backward",
    **_KIND,
    grad_output=lambda grad, output: tanh_backward(grad, conj(output)),
    output=lambda grad, grad_output, output: conj(grad) * (-2 * conj(output) * grad_output),
)
def tanh_backward(grad_output: Any, output: Any) -> Array:
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


@op(
    "elu_backward",
    **_KIND,
    grad_output=lambda grad, self_or_result, alpha, scale, input_scale, is_result: elu_backward(
        grad, self_or_result, alpha, scale, input_scale, is_result
    ),
    self_or_result=_elu_twice,
)
def elu_backward(
    grad_output: Any, self_or_result: Any, alpha: float, scale: float, input_scale: float, is_result: bool
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


@op(
    "gelu_backward",
    **_KIND,
    grad_output=lambda grad, self, approximate: gelu_backward(grad, self, approximate),
    self=_gelu_twice,
)
def gelu_backward(grad_output: Any, self: Any, approximate: str) -> Array:
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


@op(
    "hardswish_backward",
    **_KIND,
    grad_output=lambda grad, self: hardswish_backward(grad, self),
    self=_hardswish_twice,
)
def hardswish_backward(grad_output: Any, self: Any) -> Array:
    number = self.dtype.type
    between = grad_output * (self / number(3) + number(0.5))
    found = np.where(self <= -3, number(0), np.where(self < 3, between, grad_output))
    return elementwise(found, grad_output, self)


def _softplus_twice(grad: Tensor, grad_output: Tensor, self: Tensor, beta: float, threshold: float) -> Tensor:
    scaled = mul_scalar(self, beta)
    slope: Tensor = sigmoid_backward(grad * grad_output, scaled.sigmoid())
    return mul_scalar(slope * (scaled < threshold).to(grad.dtype), beta)


@op(
    "softplus_backward",
    **_KIND,
    grad_output=lambda grad, self, beta, threshold: softplus_backward(grad, self, beta, threshold),
    self=_softplus_twice,
)
def softplus_backward(grad_output: Any, self: Any, beta: float, threshold: float) -> Array:
    scaled = self * self.dtype.type(beta)
    power = np.exp(scaled)
    return elementwise(np.where(scaled > threshold, grad_output, grad_output * power / (power + 1)), grad_output, self)


def _log_sigmoid_twice(grad: Tensor, grad_output: Tensor, self: Tensor) -> Tensor:
    share = self.sigmoid()
    return grad * grad_output * (share - 1) * share


@op(
    "log_sigmoid_backward",
    **_KIND,
    grad_output=lambda grad, self: log_sigmoid_backward(grad, self),
    self=_log_sigmoid_twice,
)
def log_sigmoid_backward(grad_output: Any, self: Any) -> Array:
    return laid_out_like(np.asarray(grad_output / (1 + np.exp(self))), grad_output)


def _softmax_twice(grad: Tensor, grad_output: Tensor, output: Tensor, dim: int) -> Tensor:
    return (
        grad_output * grad - (output * grad_output).sum(dim, True) * grad - grad_output * (output * grad).sum(dim, True)
    )


@op(
    "softmax_backward",
    **_KIND,
    node="SoftmaxBackwardDataBackward0",
    grad_output=lambda grad, output, dim: softmax_backward(grad, output, dim),
    output=_softmax_twice,
)
def softmax_backward(grad_output: Any, output: Any, dim: int) -> Array:
    if not output.size:
        return packed(grad_output)
    common = (grad_output * output).sum(axis=dim if output.ndim else None, keepdims=True)
    return packed(output * (grad_output - common))


@op(
    "log_softmax_backward",
    **_KIND,
    node="LogSoftmaxBackwardDataBackward0",
    grad_output=lambda grad, output, dim: grad - (grad * output.exp()).sum(dim, True),
    output=lambda grad, grad_output, output, dim: -grad_output.sum(dim, True) * output.exp() * grad,
)
def log_softmax_backward(grad_output: Any, output: Any, dim: int) -> Array:
    if not output.size:
        return packed(grad_output)
    return packed(grad_output - np.exp(output) * grad_output.sum(axis=dim if output.ndim else None, keepdims=True))
