"""im2col and col2im: the windows of an image as columns, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtypes import Array, Ints
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import op
from .convolution_kernels import _offsets, _windows, convolved_size, padded


@op(
    "im2col",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="Im2ColBackward0",
    method=False,
    function=False,
    leak=1,
    self=lambda grad, self_shape, kernel_size, dilation, padding, stride: col2im(
        grad, self_shape[-2:], kernel_size, dilation, padding, stride
    ),
)
def im2col(self: Any, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Array:
    """(batch, channels, height, width) to (batch, channels * kernel, positions)."""
    out = convolved_size(self.shape[2:], kernel_size, stride, padding, dilation)
    found = _windows(padded(self, padding), kernel_size, stride, dilation, out)
    columns = found.reshape(self.shape[0], self.shape[1] * math.prod(kernel_size), math.prod(out))
    return columns.copy() if np.may_share_memory(columns, self) else columns


@op(
    "col2im",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="Col2ImBackward0",
    method=False,
    function=False,
    leak=1,
    self=lambda grad, kernel_size, dilation, padding, stride: im2col(grad, kernel_size, dilation, padding, stride),
)
def col2im(self: Any, output_size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Array:
    """The adjoint of im2col: overlapping positions are summed."""
    out = convolved_size(tuple(output_size), kernel_size, stride, padding, dilation)
    channels = self.shape[1] // math.prod(kernel_size)
    columns = self.reshape(self.shape[0], channels, *kernel_size, *out)
    wide = [n + 2 * p for n, p in zip(output_size, padding, strict=True)]
    found = np.zeros((self.shape[0], channels, *wide), self.dtype)
    for position, where in _offsets(kernel_size, stride, dilation, out):
        at = (slice(None), slice(None), *position)
        found[where] += columns[at]
    cut: Any = (..., *(slice(p, p + n) for p, n in zip(padding, output_size, strict=True)))
    return np.ascontiguousarray(found[cut])
