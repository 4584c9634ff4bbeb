"""Means of windows. Divisors as in AvgPoolKernel.cpp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.argument_errors import wrong_type
from ..core.dtypes import Array, Ints
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import in_format_of
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import composite, op
from .convolution_kernels import padded
from .pooling_windows import Windows, check_pooled_rank, check_two_or_three, one_int, per_window


def _divisors(where: Windows, count_include_pad: bool, divisor_override: int | None) -> Any:
    """What each window's sum is divided by: an array of the output's last dimensions."""
    if divisor_override is not None:
        return divisor_override
    rank = len(where.size)
    found: Any = 1
    for d, (start, n, k, p) in enumerate(zip(where.starts(), where.size, where.kernel, where.padding, strict=True)):
        end = np.minimum(start + k, n + p)
        count = end - start if count_include_pad else np.minimum(end, n) - np.maximum(start, 0)
        shape = [1] * rank
        shape[d] = len(count)
        found = found * count.reshape(shape)
    return found


def _divided(total: Array, divisors: Any) -> Array:
    if total.dtype.kind == "i":  # toward zero, as in C++
        signs = np.sign(total) * np.sign(divisors)
        return np.asarray(signs * (np.abs(total) // np.abs(divisors)), total.dtype)
    return np.true_divide(total, np.asarray(divisors, total.dtype), out=total)


def _register(rank: int) -> Callable[..., Tensor]:
    name = f"avg_pool{rank}d"
    ones = (1,) * rank
    options: Any = {"computes": ANY_DTYPE, "out": RESIZED, "method": False, "function": False}

    @op(
        name,
        node=f"AvgPool{rank}DBackward0",
        self=lambda grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: backward(
            grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        ),
        **options,
    )
    def forward(
        self: Any,
        kernel_size: Ints,
        stride: Ints,
        padding: Ints,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Array:
        where = Windows(self.shape[-rank:], kernel_size, stride, padding, ones, ceil_mode)
        wide = padded(self, where.padding, 0, where.after)
        total: Array = np.zeros((*self.shape[:-rank], *where.out), self.dtype)
        for _, window in where.offsets():
            total += wide[window]
        found = _divided(total, _divisors(where, count_include_pad, divisor_override))
        return in_format_of(found, self) if rank == 2 else found

    @op(
        f"{name}_backward",
        node=f"AvgPool{rank}DBackwardBackward0",
        grad_output=lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: forward(
            grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        ),
        self=lambda grad: FUNCTIONS["zeros_like"](grad),
        **options,
    )
    def backward(
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
        where = Windows(shape[-rank:], kernel_size, stride, padding, ones, ceil_mode)
        divisors = np.asarray(_divisors(where, count_include_pad, divisor_override), grad_output.dtype)
        share = grad_output / divisors
        wide = [n + p + q for n, p, q in zip(where.size, where.padding, where.after, strict=True)]
        found = np.zeros((*shape[:-rank], *wide), grad_output.dtype)
        for _, window in where.offsets():
            found[window] += share
        return np.ascontiguousarray(found[where.interior()])

    return forward


_FORWARD = {rank: _register(rank) for rank in (2, 3)}


def _averaged(
    rank: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    name = f"avg_pool{rank}d"
    if not isinstance(input, Tensor):
        raise wrong_type(name, "input", 1, input)
    be = "must be" if rank == 3 else "must either be"
    kernel = per_window(kernel_size, rank, f"{name}: kernel_size {be}")
    omitted = stride is None or stride in ((), [])
    steps = kernel if omitted else per_window(stride, rank, f"{name}: stride {be} omitted,")
    pads = per_window(padding, rank, f"{name}: padding {be}")
    shape = input._array.shape
    if rank == 3:
        check_pooled_rank(shape, rank, refuses_empty=False)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    check_pooled_rank(shape, rank, refuses_empty=False)
    where = Windows(shape[-rank:], kernel, steps, pads, (1,) * rank, ceil_mode)
    where.check(shape, "avg_pool3d()", whole_kernel=True)
    dtype = input._array.dtype
    taken = dtype == np.int64 or (dtype.kind in "fV" and (rank == 2 or dtype in (np.float32, np.float64)))
    if not taken:
        label = name if rank == 2 else "avg_pool3d_out_frame"
        raise NotImplementedError(f"\"{label}\" not implemented for '{input.dtype.scalar_name}'")
    return _FORWARD[rank](input, kernel, steps, pads, ceil_mode, count_include_pad, divisor_override)


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
    return _averaged(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@composite("avg_pool3d", method=False, function=False)
def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The means of windows over the last three dimensions."""
    return _averaged(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@composite("avg_pool1d", method=False)
def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    check_two_or_three("avg_pool1d", input)
    kernel = one_int(kernel_size, "avg_pool1d", "kernel_size")
    steps = kernel if stride is None or stride in ((), []) else one_int(stride, "avg_pool1d", "stride")
    pads = one_int(padding, "avg_pool1d", "padding")
    found = avg_pool2d(input.unsqueeze(-2), (1, kernel), (1, steps), (0, pads), ceil_mode, count_include_pad)
    return found.squeeze(-2)
