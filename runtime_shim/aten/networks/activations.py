"""Activation functions and softmax."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.array_kinds import elementwise, in_order_of, packed
from ...core.dtypes import Array, wrap_dim
from ...core.error_texts import MISSING, wrong_type
from ...core.function_table import FUNCTIONS
from ...core.memory_layout import laid_out_like
from ...core.tensor import Tensor
from ...dispatch.op_description import (
    EXPECTED_OUT,
    RESIZED,
    Computes,
    DtypeRefusal,
    OutRule,
    not_for_complex,
)
from ...dispatch.op_node import recorded_write
from ...dispatch.registration import composite, inner_op, op
from ..elementwise import mul_scalar
from ..ufunc_makers import unary
from .backward_kernels import (
    elu_backward,
    gelu_backward,
    hardswish_backward,
    log_sigmoid_backward,
    log_softmax_backward,
    softmax_backward,
    softplus_backward,
)


def require_floating(array: Any, kernel: str) -> None:
    """NotImplementedError, in the words of PyTorch's kernel, unless the array has floating dtype."""
    if array.dtype.kind not in "fV":
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.of(array).scalar_name}'")


def _relu(a: Any) -> Any:
    # A number takes numpy longer than an array without dimensions; other classes of arrays look at their operands.
    zero: Any = _ZERO.get(a.dtype.char, 0) if type(a) is np.ndarray else 0
    # A zero keeps its sign; `where` has strides of its own for dimensions of size 1.
    return elementwise(np.where(a < zero, zero, a), a) if a.dtype.kind == "f" else np.maximum(a, zero)


_ZERO: dict[str, Any] = {"f": np.zeros((), np.float32), "d": np.zeros((), np.float64)}


@inner_op(
    "threshold_backward",
    grad_output=lambda grad, self, threshold: threshold_backward(grad, self, threshold),
    self=lambda grad: FUNCTIONS["zeros_like"](grad),
)
def threshold_backward(grad_output: Array, self: Array, threshold: float) -> Array:
    return np.where(self <= threshold, grad_output.dtype.type(0), grad_output)


unary(
    "relu",
    _relu,
    computes=Computes(
        "if",
        refusals=(
            DtypeRefusal("b", RuntimeError, "Boolean inputs not supported for relu"),
            not_for_complex("clamp is not supported for complex types"),
        ),
    ),
    self=lambda grad, result: threshold_backward(grad, result, 0),
)


def _leaky_relu_kernel(self: Tensor, negative_slope: float = 0.01) -> Array:
    require_floating(self, "leaky_relu_cpu")
    return elementwise(np.where(self > 0, self, self * self.dtype.type(negative_slope)), self)


@inner_op(
    "leaky_relu_backward",
    grad_output=lambda grad, self, slope: leaky_relu_backward(grad, self, slope),
    self=lambda grad: FUNCTIONS["zeros_like"](grad),
)
def leaky_relu_backward(grad_output: Array, self: Array, slope: float) -> Array:
    return np.where(self > 0, grad_output, grad_output * grad_output.dtype.type(slope))


def _elu_kernel(self: Tensor, alpha: float = 1.0, scale: float = 1, input_scale: float = 1) -> Array:
    require_floating(self, "elu_cpu")
    above = self > 0
    below = alpha * np.expm1(np.where(above, 0, self) * self.dtype.type(input_scale))  # -0.0 stays
    return elementwise((np.where(above, self, below) * scale).astype(self.dtype, copy=False), self)


def _elu_back(grad: Tensor, self: Tensor, alpha: float, scale: float, input_scale: float) -> Tensor:
    found: Tensor = elu_backward(grad, self, alpha, scale, input_scale, False)
    return found


_WRITTEN_NEGATIVE = (
    "In-place {} backward calculation is triggered with a negative slope which is not supported. This is caused by "
    "calling in-place forward function with a negative slope, please call out-of-place version instead."
)


def _elu_written_back(grad: Tensor, result: Tensor, alpha: float, scale: float, input_scale: float) -> Tensor:
    if alpha < 0:
        raise RuntimeError(_WRITTEN_NEGATIVE.format("elu"))
    found: Tensor = elu_backward(grad, result, alpha, scale, input_scale, True)
    return found


def _leaky_relu_written_back(grad: Tensor, result: Tensor, negative_slope: float) -> Tensor:
    if negative_slope < 0:
        raise RuntimeError(
            _WRITTEN_NEGATIVE.format("leakyReLu")
            + " File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu "
            "backward calculation with negative slope"
        )
    found: Tensor = leaky_relu_backward(grad, result, negative_slope)
    return found


# Written in place these save what they wrote, so that nothing need be kept of what was there.
_leaky_relu_written = inner_op(
    "leaky_relu", computes=Computes("f"), node="LeakyReluBackward1", inplace=True, self=_leaky_relu_written_back
)(_leaky_relu_kernel)
_elu_written = inner_op("elu", computes=Computes("f"), node="EluBackward1", inplace=True, self=_elu_written_back)(
    _elu_kernel
)

leaky_relu = inner_op(
    "leaky_relu",
    computes=Computes("f"),
    self=lambda grad, self, negative_slope: leaky_relu_backward(grad, self, negative_slope),
)(_leaky_relu_kernel)
leaky_relu.inplace = _leaky_relu_written.inplace  # type: ignore[attr-defined]
elu = inner_op("elu", computes=Computes("f"), self=_elu_back)(_elu_kernel)
elu.inplace = _elu_written.inplace  # type: ignore[attr-defined]


@op(
    "celu",
    computes=Computes("f", "elu_cpu"),
    out=RESIZED,
    inplace=True,
    recorded_in_place=recorded_write(
        "celu",
        "CeluBackward1",
        lambda self, alpha: self,
        self=lambda grad, result, alpha: elu_backward(grad, result, alpha, 1, 1.0 / alpha, True),
    ),
    method=False,
    self=lambda grad, self, alpha: elu_backward(grad, self, alpha, 1, 1.0 / alpha, False),
)
def celu(self: Array, alpha: float = 1.0) -> Array:
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    require_floating(self, "elu_cpu")
    above = self > 0
    below = alpha * np.expm1(np.where(above, 0, self) / self.dtype.type(alpha))
    return elementwise(np.where(above, self, below).astype(self.dtype, copy=False), self)


@inner_op(
    "hardtanh_backward",
    grad_output=lambda grad, self, min_val, max_val: hardtanh_backward(grad, self, min_val, max_val),
    self=lambda grad: FUNCTIONS["zeros_like"](grad),
)
def hardtanh_backward(grad_output: Array, self: Array, min_val: float, max_val: float) -> Array:
    return np.where((self <= min_val) | (self >= max_val), grad_output.dtype.type(0), grad_output)


@inner_op(
    "hardtanh",
    computes=Computes(
        "if",
        refusals=(
            DtypeRefusal("b", RuntimeError, "Bool inputs not supported for hardtanh"),
            not_for_complex("clamp is not supported for complex types"),
        ),
    ),
    inplace=True,
    leak=1,
    self=lambda grad, self, min_val, max_val: hardtanh_backward(grad, self, min_val, max_val),
)
def hardtanh(self: Array, min_val: float = -1.0, max_val: float = 1.0) -> Array:
    if self.dtype.kind == "u" and (min_val < 0 or max_val < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return laid_out_like(np.clip(self, min_val, max_val).astype(self.dtype, copy=False), self)


def _no_second_derivative() -> Tensor:
    raise RuntimeError("derivative for aten::hardsigmoid_backward is not implemented")


@inner_op(
    "hardsigmoid_backward",
    node="NotImplemented",
    grad_output=lambda grad: _no_second_derivative(),
    self=lambda grad: _no_second_derivative(),
)
def hardsigmoid_backward(grad_output: Array, self: Array) -> Array:
    return np.where((self > -3) & (self < 3), grad_output / grad_output.dtype.type(6), grad_output.dtype.type(0))


@inner_op("hardsigmoid", computes=Computes("f"), inplace=True, self=lambda grad, self: hardsigmoid_backward(grad, self))
def hardsigmoid(self: Array) -> Array:
    return elementwise(np.clip(self + 3, 0, 6) / self.dtype.type(6), self)


@inner_op("hardswish", computes=Computes("f"), inplace=True, self=lambda grad, self: hardswish_backward(grad, self))
def hardswish(self: Array) -> Array:
    return elementwise(self * np.clip(self + 3, 0, 6) / self.dtype.type(6), self)


def _mish_back(grad: Tensor, self: Tensor) -> Tensor:
    t = softplus(self).tanh()
    return grad * (t + self * self.sigmoid() * (1 - t * t))


@inner_op("mish", computes=Computes("f"), inplace=True, self=_mish_back)
def mish(self: Array) -> Array:
    return elementwise(self * np.tanh(np.logaddexp(0, self)).astype(self.dtype), self)


@inner_op("log_sigmoid", computes=Computes("f"), self=lambda grad, self: log_sigmoid_backward(grad, self))
def logsigmoid(self: Array) -> Array:
    return packed((np.minimum(self, 0) - np.log1p(np.exp(-np.abs(self)))).astype(self.dtype, copy=False))


@op(
    "threshold",
    computes=Computes("if"),
    out=RESIZED,
    inplace=True,
    recorded_in_place=recorded_write(
        "threshold",
        "ThresholdBackward1",
        lambda self, threshold, value: self,
        self=lambda grad, self, threshold: threshold_backward(grad, self, threshold),
    ),
    method=False,
    self=lambda grad, self, threshold: threshold_backward(grad, self, threshold),
)
def threshold(self: Array, threshold: float, value: float) -> Array:
    return elementwise(np.where(self <= threshold, value, self).astype(self.dtype, copy=False), self)


def _glu_back(grad: Tensor, self: Tensor, dim: int) -> Tensor:
    a, b = self.chunk(2, dim)
    gate = b.sigmoid()
    return FUNCTIONS["cat"]([grad * gate, grad * a * gate * (1 - gate)], dim)


@inner_op("glu", computes=Computes("f"), self=_glu_back)
def glu(self: Array, dim: int = -1) -> Array:
    if self.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    d = wrap_dim(dim, self.ndim)
    if self.shape[d] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {d} is size {self.shape[d]}")
    a, b = np.split(self, 2, axis=d)
    return (a / (1 + np.exp(-b))).astype(self.dtype, copy=False)


@inner_op(
    "_prelu_kernel",
    self=lambda grad, self, weight: FUNCTIONS["where"](self >= 0, grad, grad * weight),
    weight=lambda grad, self, weight: FUNCTIONS["where"](self >= 0, 0.0, grad * self),
)
def _prelu_kernel(self: Array, weight: Array) -> Array:
    return np.where(self >= 0, self, self * weight)


@composite("prelu")
def prelu(self: Tensor, weight: Tensor) -> Tensor:
    """Slope 1 above 0, and `weight` (one, or one per channel of dimension 1) below."""
    count, ndim = weight.numel(), self._array.ndim
    channels = self._array.shape[1] if ndim > 1 else 1
    if count not in (1, channels):
        raise RuntimeError(
            f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} and "
            f"channel size = {channels}."
        )
    shape = [1] * ndim
    if ndim > 1:
        shape[1] = count
    if ndim != 1 or weight._array.ndim != 1:
        weight = weight.reshape(shape)
    return _prelu_kernel(self, weight)


_ERF = np.vectorize(math.erf, otypes=[float])


@op(
    "erf",
    computes=Computes("bif", "erf_vml_cpu"),
    out=RESIZED,
    inplace=True,
    self=lambda grad, self: mul_scalar((-self.pow(2)).exp(), 2 / math.sqrt(math.pi)) * grad,
)
def erf(self: Array) -> Array:
    if self.dtype.kind in "biu":
        self = self.astype(dtypes.get_default_dtype().numpy)
    return in_order_of(_ERF(self).astype(self.dtype), [self]) if self.size else self.copy()


@inner_op(
    "gelu",
    computes=Computes("f", "GeluKernelImpl"),
    self=lambda grad, self, approximate: gelu_backward(grad, self, approximate),
)
def gelu(self: Array, approximate: str = "none") -> Array:
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    require_floating(self, "GeluKernelImpl")
    one = self.dtype.type
    if approximate == "tanh":
        inner = one(math.sqrt(2 / math.pi)) * (self + one(0.044715) * self * self * self)
        return elementwise(one(0.5) * self * (1 + np.tanh(inner)), self)
    return elementwise(one(0.5) * self * (1 + _ERF(self * one(math.sqrt(0.5))).astype(self.dtype)), self)


@inner_op(
    "softplus",
    computes=Computes("f"),
    self=lambda grad, self, beta, threshold: softplus_backward(grad, self, beta, threshold),
)
def softplus(self: Array, beta: float = 1, threshold: float = 20) -> Array:
    found = np.where(self * beta > threshold, self, np.log1p(np.exp(self * beta)) / self.dtype.type(beta))
    return elementwise(found, self)


@inner_op(
    "silu",
    computes=Computes("fc"),
    inplace=True,
    self=lambda grad, self: grad * self.sigmoid() * (1 + self * (1 - self.sigmoid())),
)
def silu(self: Array) -> Array:
    return self / (1 + np.exp(-self))


# numpy's stubs don't know that a reduction takes all its arguments by position, which takes it less time.
_add: Any = np.add
_maximum: Any = np.maximum


@inner_op("softmax_", self=lambda grad, result, dim: softmax_backward(grad, result, dim))
def _softmax(self: Array, dim: int) -> Array:
    d = dim if 0 <= dim < self.ndim else wrap_dim(dim, self.ndim)
    if not self.size:
        return self.copy()
    if self.dtype.kind != "f":
        require_floating(self, "softmax{}_kernel_impl".format("_lastdim" if d == max(self.ndim - 1, 0) else ""))
    if self.ndim == 0:
        return np.asarray(np.where(np.isfinite(self), 1, np.nan), self.dtype)
    self = packed(self)
    e: Array = np.exp(self - _maximum.reduce(self, d, None, None, True))
    e /= _add.reduce(e, d, None, None, True)
    return e


@inner_op("log_softmax_", self=lambda grad, result, dim: log_softmax_backward(grad, result, dim))
def _log_softmax(self: Array, dim: int) -> Array:
    d = wrap_dim(dim, self.ndim)
    if not self.size:
        return self.copy()
    if self.dtype.kind != "f":
        require_floating(self, "log_softmax{}_kernel_impl".format("_lastdim" if d == max(self.ndim - 1, 0) else ""))
    if self.ndim == 0:
        return np.asarray(self - self)
    self = packed(self)
    shifted: Array = self - _maximum.reduce(self, d, None, None, True)
    return shifted - np.log(_add.reduce(np.exp(shifted), d, None, None, True))


def _given_dim(name: str, dim: object, axis: object) -> Any:
    if dim is axis:
        raise wrong_type(name, "dim", 2, MISSING)
    return axis if dim is MISSING else dim


@composite("softmax", out=OutRule(EXPECTED_OUT))
def softmax(
    self: Tensor, dim: object = MISSING, dtype: dtypes.dtype | None = None, *, axis: object = MISSING
) -> Tensor:
    return _softmax(self if dtype is None else self.to(dtype), _given_dim("softmax", dim, axis))


@composite("log_softmax", out=OutRule(EXPECTED_OUT))
def log_softmax(
    self: Tensor, dim: object = MISSING, dtype: dtypes.dtype | None = None, *, axis: object = MISSING
) -> Tensor:
    return _log_softmax(self if dtype is None else self.to(dtype), _given_dim("log_softmax", dim, axis))
