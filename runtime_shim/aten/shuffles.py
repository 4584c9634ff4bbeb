"""Channels that become pixels, pixels that become channels, channels in another order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtypes import Array, sizes
from ..core.memory_layout import in_format_of
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import op


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
