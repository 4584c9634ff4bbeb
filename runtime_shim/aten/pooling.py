"""Pooling. Output sizes and divisors as in ATen/native/Pool.h and AvgPoolKernel.cpp."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import Array, Ints, sizes, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import in_format_of
from ..core.tensor import Tensor, new_tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import composite, op
from .convolution_kernels import padded


def _pair(value: Any, name: str, function: str) -> Ints:
    if isinstance(value, int):
        return value, value
    found = tuple(int(v) for v in value)
    if len(found) == 1:
        return found * 2
    if len(found) != 2:
        raise RuntimeError(f"{function}: {name} must either be a single int, or a tuple of two ints")
    return found


def _output_size(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    if stride == 0:
        raise RuntimeError("stride should not be zero")
    span = size + 2 * padding - dilation * (kernel - 1) - 1 + (stride - 1 if ceil_mode else 0)
    found = span // stride + 1
    # A last window that would start beyond the input and its left padding is not taken.
    if ceil_mode and (found - 1) * stride >= size + padding:
        found -= 1
    return found


class _Windows:
    """Where the windows of a pooling op lie: sizes of the output, slices of the padded input."""

    def __init__(
        self, size: Sequence[int], kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
    ) -> None:
        self.size, self.kernel, self.stride, self.padding = tuple(size), kernel, stride, padding
        self.dilation = dilation
        self.out = tuple(
            _output_size(n, k, s, p, d, ceil_mode)
            for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
        )
        self.after = tuple(
            max(0, (o - 1) * s + d * (k - 1) + 1 - p - n)
            for o, s, d, k, p, n in zip(self.out, stride, dilation, kernel, padding, size, strict=True)
        )

    def offsets(self) -> Iterator[tuple[Ints, Any]]:
        for position in np.ndindex(*self.kernel):
            yield (
                position,
                (
                    ...,
                    *(
                        slice(i * d, i * d + (o - 1) * s + 1, s)
                        for i, d, o, s in zip(position, self.dilation, self.out, self.stride, strict=True)
                    ),
                ),
            )

    def interior(self) -> Any:
        return (..., *(slice(p, p + n) for p, n in zip(self.padding, self.size, strict=True)))

    def check(self, shape: Sequence[int], function: str) -> None:
        if any(k <= 0 for k in self.kernel):
            height, width = self.kernel
            raise RuntimeError(f"kernel size should be greater than zero, but got kH: {height} kW: {width}")
        for pad, kernel, dilation in zip(self.padding, self.kernel, self.dilation, strict=True):
            if pad < 0:
                raise RuntimeError(f"pad must be non-negative, but got pad: {pad}")
            if pad > (dilation * (kernel - 1) + 1) // 2:
                raise RuntimeError(
                    "pad should be at most half of effective kernel size, but got "
                    f"pad={pad}, kernel_size={kernel} and dilation={dilation}"
                )
        if len(shape) not in (3, 4) or 0 in shape[-3:]:
            if function == "max_pool2d":
                raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
            if len(shape) < 3:
                wrap_dim(-3, len(shape))
            raise RuntimeError(
                "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but "
                f"got:{sizes(shape)}"
            )
        if any(o < 1 for o in self.out):
            channels = shape[-3]
            raise RuntimeError(
                f"Given input size: ({channels}x{self.size[0]}x{self.size[1]}). Calculated output size: "
                f"({channels}x{self.out[0]}x{self.out[1]}). Output size is too small"
            )


def _pool_arguments(
    name: str,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any = 1,
) -> tuple[Ints, Ints, Ints, Ints]:
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    kernel = _pair(kernel_size, "kernel_size", name)
    steps = kernel if stride is None or stride == () else _pair(stride, "stride", name)
    return kernel, steps, _pair(padding, "padding", name), _pair(dilation, "dilation", name)


# -- maximum
# ---------------------------------------------------------------------------------------------------


def _maxima(x: Array, where: _Windows) -> Array:
    """Flat indices of the maxima of the windows; the first of equal ones, NaN before all."""
    lowest: Any = -np.inf if x.dtype.kind in "fV" else np.iinfo(x.dtype).min
    wide = padded(x, where.padding, lowest, where.after)
    rows = np.arange(where.out[0]) * where.stride[0] - where.padding[0]
    columns = np.arange(where.out[1]) * where.stride[1] - where.padding[1]
    best = np.full((*x.shape[:-2], *where.out), lowest, x.dtype)
    # Where nothing beats the start value, PyTorch names the first element inside the input.
    first = [
        np.where(starts < 0, starts + -(starts // d) * d, starts)
        for starts, d in ((rows, where.dilation[0]), (columns, where.dilation[1]))
    ]
    indices = np.empty(best.shape, np.int64)
    indices[...] = first[0][:, None] * where.size[1] + first[1]
    for (i, j), window in where.offsets():
        value = wide[window]
        better = value > best
        if x.dtype.kind in "fV":
            better |= np.isnan(value)
        np.copyto(best, value, where=better)
        flat = (rows[:, None] + i * where.dilation[0]) * where.size[1] + columns + j * where.dilation[1]
        np.copyto(indices, flat, where=better)
    return indices


@op(
    "max_pool2d_with_indices",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="MaxPool2DWithIndicesBackward0",
    method=False,
    function=False,
    self=lambda grad, self, result1: _max_backward(grad, self, result1),
)
def _max_pool(
    self: Any,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    result1: Any,
) -> Array:
    """Picks the maxima whose indices (batch, channels, height, width) `result1` holds."""
    return in_format_of(_picked(self, result1), self)


def _picked(values: Array, indices: Array) -> Array:
    lead = values.shape[:-2]
    flat = np.take_along_axis(
        values.reshape(*lead, math.prod(values.shape[-2:])),
        indices.reshape(*lead, math.prod(indices.shape[-2:])),
        -1,
    )
    return flat.reshape(indices.shape)


@op(
    "max_pool2d_with_indices_backward",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    node="MaxPool2DWithIndicesBackwardBackward0",
    grad_output=lambda grad, indices: _pick(grad, indices),
    self=lambda grad: FUNCTIONS["zeros_like"](grad),
)
def _max_backward(grad_output: Any, self: Any, indices: Any) -> Array:
    shape = self.shape
    lead = shape[:-2]
    count = math.prod(lead)
    size, picks = shape[-2] * shape[-1], math.prod(indices.shape[-2:])
    found = np.zeros((count, size), grad_output.dtype)
    rows = np.arange(count)[:, None]
    np.add.at(found, (rows, indices.reshape(count, picks)), grad_output.reshape(count, picks))
    return found.reshape(shape)


@op(
    "max_pool2d_pick",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="MaxPool2DWithIndicesBackwardBackward0",
    method=False,
    function=False,
    self=lambda grad, self_shape, indices: _max_backward(grad, FUNCTIONS["zeros"](self_shape), indices),
)
def _pick(self: Any, indices: Any) -> Array:
    return _picked(self, indices)


@composite("max_pool2d_with_indices", method=False, function=False)
def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    kernel, steps, pads, dilations = _pool_arguments("max_pool2d", input, kernel_size, stride, padding, dilation)
    shape = input._array.shape
    where = _Windows(shape[-2:] if len(shape) > 1 else (1, 1), kernel, steps, pads, dilations, ceil_mode)
    where.check(shape, "max_pool2d")
    if input._array.dtype.kind in "bc":
        raise NotImplementedError(f"\"max_pool2d\" not implemented for '{input.dtype.scalar_name}'")
    indices = new_tensor(in_format_of(_maxima(input._array, where), input._array))
    return _max_pool(input, kernel, steps, pads, dilations, ceil_mode, indices), indices


@composite("max_pool2d", method=False)
def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maxima of windows over the last two dimensions of (batch, channels, height, width)."""
    found = max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return found if return_indices else found[0]


def _single(value: Any) -> Any:
    return value if isinstance(value, int) or value is None else value[0]


@composite("max_pool1d", method=False)
def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    kernel, pads, dilations = _single(kernel_size), _single(padding), _single(dilation)
    steps = kernel if stride is None else _single(stride)
    values, indices = max_pool2d_with_indices(
        input.unsqueeze(-2), (1, kernel), (1, steps), (0, pads), (1, dilations), ceil_mode
    )
    return (values.squeeze(-2), indices.squeeze(-2)) if return_indices else values.squeeze(-2)


# -- mean
# ------------------------------------------------------------------------------------------------------


def _divisors(where: _Windows, count_include_pad: bool, divisor_override: int | None) -> Any:
    """What each window's sum is divided by: an array of the output's last two dimensions."""
    if divisor_override is not None:
        return divisor_override
    counts = []
    for axis in range(2):
        n, k, s, p = (x[axis] for x in (where.size, where.kernel, where.stride, where.padding))
        start = np.arange(where.out[axis]) * s - p
        end = np.minimum(start + k, n + p)
        counts.append(end - start if count_include_pad else np.minimum(end, n) - np.maximum(start, 0))
    return counts[0][:, None] * counts[1]


@op(
    "avg_pool2d",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="AvgPool2DBackward0",
    method=False,
    function=False,
    self=lambda grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: _avg_backward(
        grad,
        self,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
    ),
)
def _avg_pool(
    self: Any,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    where = _Windows(self.shape[-2:], kernel_size, stride, padding, (1, 1), ceil_mode)
    wide = padded(self, where.padding, 0, where.after)
    total: Array = np.zeros((*self.shape[:-2], *where.out), self.dtype)
    for _, window in where.offsets():
        total += wide[window]
    divisors = np.asarray(_divisors(where, count_include_pad, divisor_override), self.dtype)
    return in_format_of(np.true_divide(total, divisors, out=total), self)


@op(
    "avg_pool2d_backward",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    grad_output=lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: _avg_pool(
        grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    ),
    node="AvgPool2DBackwardBackward0",
    self=lambda grad: FUNCTIONS["zeros_like"](grad),
)
def _avg_backward(
    grad_output: Any,
    self: Any,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    shape = self.shape
    where = _Windows(shape[-2:], kernel_size, stride, padding, (1, 1), ceil_mode)
    divisors = np.asarray(_divisors(where, count_include_pad, divisor_override), grad_output.dtype)
    share = grad_output / divisors
    wide = [n + p + q for n, p, q in zip(where.size, where.padding, where.after, strict=True)]
    found = np.zeros((*shape[:-2], *wide), grad_output.dtype)
    for _, window in where.offsets():
        found[window] += share
    return np.ascontiguousarray(found[where.interior()])


@composite("avg_pool2d", method=False, function=False)
def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The means of windows over the last two dimensions of (batch, channels, height, width)."""
    kernel, steps, pads, _ = _pool_arguments("avg_pool2d", input, kernel_size, stride, padding)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    shape = input._array.shape
    where = _Windows(shape[-2:] if len(shape) > 1 else (1, 1), kernel, steps, pads, (1, 1), ceil_mode)
    where.check(shape, "avg_pool2d")
    if input._array.dtype.kind not in "fVi" or (input._array.dtype.kind == "i" and input._array.dtype != np.int64):
        raise NotImplementedError(f"\"avg_pool2d\" not implemented for '{input.dtype.scalar_name}'")
    return _avg_pool(input, kernel, steps, pads, ceil_mode, count_include_pad, divisor_override)


@composite("avg_pool1d", method=False)
def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    kernel, pads = _single(kernel_size), _single(padding)
    steps = kernel if stride is None or stride == () else _single(stride)
    found = avg_pool2d(input.unsqueeze(-2), (1, kernel), (1, steps), (0, pads), ceil_mode, count_include_pad)
    return found.squeeze(-2)


# -- a given output size
# ---------------------------------------------------------------------------------------


def _averaging(size: int, out: int, dtype: Any) -> Array:
    """The (out, size) matrix that takes the means of `out` nearly equal pieces."""
    matrix = np.zeros((out, size), dtype)
    for i in range(out):
        start, end = i * size // out, -(-(i + 1) * size // out)
        matrix[i, start:end] = 1 / (end - start)
    return matrix


@op(
    "adaptive_avg_pool2d",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="AdaptiveAvgPool2DBackward0",
    method=False,
    function=False,
    leak=1,
    self=lambda grad, self: _adaptive_backward(grad, self),
)
def _adaptive_avg(self: Any, output_size: Ints) -> Array:
    rows, columns = (_averaging(n, o, self.dtype) for n, o in zip(self.shape[-2:], output_size, strict=True))
    return in_format_of(np.matmul(np.matmul(rows, self), columns.T), self)


@op(
    "adaptive_avg_pool2d_backward",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    node="AdaptiveAvgPool2DBackwardBackward0",
    grad_output=lambda grad, grad_output_shape: _adaptive_avg(grad, grad_output_shape[-2:]),
    self=lambda grad: FUNCTIONS["zeros_like"](grad),
)
def _adaptive_backward(grad_output: Any, self: Any) -> Array:
    shape = self.shape
    rows, columns = (
        _averaging(n, o, grad_output.dtype) for n, o in zip(shape[-2:], grad_output.shape[-2:], strict=True)
    )
    return np.matmul(np.matmul(rows.T, grad_output), columns)


@composite("adaptive_avg_pool2d", method=False, function=False)
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over pieces of (batch, channels, height, width) so that the output has the given size."""
    shape = input._array.shape
    wanted = (output_size,) * 2 if isinstance(output_size, int) or output_size is None else tuple(output_size)
    size = tuple(n if o is None else o for o, n in zip(wanted, shape[-2:], strict=True))
    if len(shape) not in (3, 4):
        raise RuntimeError(f"adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got {sizes(shape)}")
    if size == (1, 1):
        return FUNCTIONS["mean"](input, [-1, -2], True)
    return _adaptive_avg(input, size)
