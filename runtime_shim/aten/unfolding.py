"""Windows of images as columns and back, and elements that move between channels and places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtypes import Array, Ints, sizes
from ..core.memory_layout import in_format_of
from ..core.tensor import Tensor, new_tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import op
from .convolution_kernels import _offsets, _windows, padded


def _check_geometry(kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> None:
    """RuntimeError for windows that don't move or have no size."""
    for name, (height, width) in (("kernel", kernel_size), ("dilation", dilation), ("stride", stride)):
        if height <= 0 or width <= 0:
            what = "kernel size" if name == "kernel" else name
            raise RuntimeError(
                f"{what} should be greater than zero, but got {name}_height: {height} {name}_width: {width}"
            )
    if min(padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: {padding[1]}")


def _positions(size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Ints:
    """How many windows there are along each dimension; 0 or less where none fits."""
    parts = zip(size, kernel_size, dilation, padding, stride, strict=True)
    return tuple((n + 2 * p - (d * (k - 1) + 1)) // s + 1 for n, k, d, p, s in parts)


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
    _check_geometry(kernel_size, dilation, padding, stride)
    if self.ndim not in (3, 4) or 0 in self.shape[1:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {sizes(self.shape)}"
        )
    if self.ndim == 3:
        return im2col(new_tensor(self[None]), kernel_size, dilation, padding, stride)._array[0]
    out = _positions(self.shape[2:], kernel_size, dilation, padding, stride)
    if min(out) < 1:
        shown = ", ".join(
            f"{name}={tuple(values)}"
            for name, values in (("kernel_size", kernel_size), ("dilation", dilation), ("padding", padding))
        )
        raise RuntimeError(
            f"Given input with spatial size {tuple(self.shape[2:])}, {shown}, calculated shape of the array of sliding "
            f"blocks as {out}, but its components must be at least one."
        )
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
    _check_geometry(kernel_size, dilation, padding, stride)
    if self.ndim not in (2, 3) or 0 in self.shape[1:] or (self.ndim == 2 and not self.shape[0]):
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {sizes(self.shape)}"
        )
    if self.ndim == 2:
        return col2im(new_tensor(self[None]), output_size, kernel_size, dilation, padding, stride)._array[0]
    if self.shape[1] % math.prod(kernel_size):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={self.shape[1]} and kernel_size={tuple(kernel_size)}."
        )
    out = _positions(output_size, kernel_size, dilation, padding, stride)
    if self.shape[2] != math.prod(out) or min(out) < 1:
        raise RuntimeError(
            f"Given output_size={tuple(output_size)}, kernel_size={tuple(kernel_size)}, dilation={tuple(dilation)}, "
            f"padding={tuple(padding)}, stride={tuple(stride)}, expected size of input's dimension 2 to match the "
            f"calculated number of sliding blocks {out[0]} * {out[1]} = {math.prod(out)}, but got "
            f"input.size(2)={self.shape[2]}."
        )
    channels = self.shape[1] // math.prod(kernel_size)
    columns = self.reshape(self.shape[0], channels, *kernel_size, *out)
    wide = [n + 2 * p for n, p in zip(output_size, padding, strict=True)]
    found = np.zeros((self.shape[0], channels, *wide), self.dtype)
    for position, where in _offsets(kernel_size, stride, dilation, out):
        at = (slice(None), slice(None), *position)
        found[where] += columns[at]
    cut: Any = (..., *(slice(p, p + n) for p, n in zip(padding, output_size, strict=True)))
    return np.ascontiguousarray(found[cut])


def _check_pixels(name: str, self: Array, factor: int, which: str) -> None:
    if self.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {self.ndim} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {which}_factor, but got {factor}")


@op(
    "pixel_shuffle",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    leak=1,
    self=lambda grad, upscale_factor: pixel_unshuffle(grad, upscale_factor),
)
def pixel_shuffle(self: Any, upscale_factor: int) -> Array:
    """(..., c * r * r, h, w) to (..., c, h * r, w * r)"""
    _check_pixels("pixel_shuffle", self, upscale_factor, "upscale")
    r = upscale_factor
    *lead, channels, height, width = self.shape
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {r * r}"
        )
    blocks = self.reshape(math.prod(lead), channels // (r * r), r, r, height, width).transpose(0, 1, 4, 2, 5, 3)
    found = np.array(blocks, order="C").reshape(*lead, channels // (r * r), height * r, width * r)
    return in_format_of(found, self)


@op(
    "pixel_unshuffle",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    leak=1,
    self=lambda grad, downscale_factor: pixel_shuffle(grad, downscale_factor),
)
def pixel_unshuffle(self: Any, downscale_factor: int) -> Array:
    """(..., c, h * r, w * r) to (..., c * r * r, h, w)"""
    _check_pixels("pixel_unshuffle", self, downscale_factor, "downscale")
    r = downscale_factor
    *lead, channels, height, width = self.shape
    for what, size, axis in (("height", height, -2), ("width", width, -1)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {what} to be divisible by downscale_factor, but input.size({axis})={size} is "
                f"not divisible by {r}"
            )
    blocks = self.reshape(math.prod(lead), channels, height // r, r, width // r, r).transpose(0, 1, 3, 5, 2, 4)
    found = np.array(blocks, order="C").reshape(*lead, channels * r * r, height // r, width // r)
    return in_format_of(found, self)


def _shuffle_back(grad: Tensor, groups: int) -> Tensor:
    made: Tensor = channel_shuffle(grad, grad.size(1) // groups)
    return made


@op("channel_shuffle", computes=ANY_DTYPE, out=RESIZED, method=False, leak=1, self=_shuffle_back)
def channel_shuffle(self: Any, groups: int) -> Array:
    """The channels of the groups in turn."""
    if self.ndim <= 2:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {sizes(self.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    batch, channels, *rest = self.shape
    if channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."
        )
    found = np.array(self.reshape(batch, groups, channels // groups, *rest).swapaxes(1, 2), order="C").reshape(
        self.shape
    )
    return in_format_of(found, self)
