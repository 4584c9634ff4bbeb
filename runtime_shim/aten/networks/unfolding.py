"""Images at their edges: padding, and windows as columns and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import Array, Ints, sizes
from ...core.function_table import FUNCTIONS
from ...core.memory_layout import in_format_of
from ...core.tensor import Tensor, new_tensor
from ...dispatch.op_description import ANY_DTYPE, RESIZED
from ...dispatch.registration import composite, inner_op, op
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


@inner_op(
    "im2col",
    node="Im2ColBackward0",
    leak=1,
    self=lambda grad, self_shape, kernel_size, dilation, padding, stride: col2im(
        grad, self_shape[-2:], kernel_size, dilation, padding, stride
    ),
)
def im2col(self: Array, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Array:
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


@inner_op(
    "col2im",
    node="Col2ImBackward0",
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
def pixel_shuffle(self: Array, upscale_factor: int) -> Array:
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
def pixel_unshuffle(self: Array, downscale_factor: int) -> Array:
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
def channel_shuffle(self: Array, groups: int) -> Array:
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


def _pairs(pad: Sequence[int]) -> list[tuple[int, int]]:
    """(before, after) of the last dimensions, in the order of the dimensions."""
    return [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]


@op(
    "constant_pad_nd",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    leak=2,
    self=lambda grad, pad: FUNCTIONS["constant_pad_nd"](grad, [-p for p in pad], 0),
)
def constant_pad_nd(self: Any, pad: Sequence[int], value: Any = 0) -> Array:
    """`self` with `pad` = (last before, last after, second to last before, ...); negative sizes crop."""
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    pairs = _pairs(pad)
    lead = self.ndim - len(pairs)
    if lead < 0:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(pad)} and input of dimension {self.ndim}"
        )
    shape = [n + a + b for n, (a, b) in zip(self.shape[lead:], pairs, strict=True)]
    if any(wanted < 0 for wanted in shape):
        raise RuntimeError("narrow(): length must be non-negative.")
    found = np.full((*self.shape[:lead], *shape), value, self.dtype)
    source: list[slice] = []
    target: list[slice] = []
    for n, (a, b) in zip(self.shape[lead:], pairs, strict=True):
        source.append(slice(max(0, -a), n - max(0, -b)))
        target.append(slice(max(0, a), max(0, a) + n - max(0, -a) - max(0, -b)))
    into: Any = (..., *target)
    taken = (..., *source)
    found[into] = self[taken]
    return in_format_of(found, self)


# -- by copying the border


def _sources(size: int, before: int, after: int, mode: str) -> Array:
    """For each position along a padded dimension, the position that it copies."""
    at = np.arange(-before, size + after)
    if mode == "replicate":
        return np.clip(at, 0, size - 1)
    if mode == "circular":
        return at % size
    at = np.abs(at)
    return np.where(at > size - 1, 2 * (size - 1) - at, at)


def _border_kernel(array: Array, padding: Sequence[int], mode: str) -> Array:
    pairs = _pairs(padding)
    lead = array.ndim - len(pairs)
    found = array
    for d, (before, after) in enumerate(pairs, lead):
        found = np.take(found, _sources(array.shape[d], before, after, mode), axis=d)
    return found


def _fold_border(grad: Array, shape: Ints, padding: Sequence[int], mode: str) -> Array:
    pairs = _pairs(padding)
    lead = len(shape) - len(pairs)
    for d, (before, after) in enumerate(pairs, lead):
        folded = np.zeros((*grad.shape[:d], shape[d], *grad.shape[d + 1 :]), grad.dtype)
        where: Any = (*(slice(None),) * d, _sources(shape[d], before, after, mode))
        np.add.at(folded, where, grad)
        grad = folded
    return grad


def _register_border(name: str, mode: str, node: str, leak: int) -> Any:
    def kernel(self: Any, padding: Ints) -> Array:
        return _border_kernel(self, padding, mode)

    def backward_kernel(grad_output: Any, self: Any, padding: Ints) -> Array:
        return _fold_border(grad_output, self.shape, padding, mode)

    def again(grad: Tensor, padding: Ints) -> Tensor:
        return forward(grad, padding)

    backward = inner_op(
        f"{name}_backward",
        node=node.replace("Backward0", "BackwardBackward0"),
        grad_output=again,
        self=lambda grad: FUNCTIONS["zeros_like"](grad),
    )(backward_kernel)
    forward: Any = inner_op(name, node=node, leak=leak, self=lambda grad, self, padding: backward(grad, self, padding))(
        kernel
    )
    return forward


_BORDER = {
    ("reflect", d): _register_border(f"reflection_pad{d}d", "reflect", f"ReflectionPad{d}DBackward0", 1)
    for d in (1, 2, 3)
} | {
    ("replicate", d): _register_border(f"replication_pad{d}d", "replicate", f"ReplicationPad{d}DBackward0", 0)
    for d in (1, 2, 3)
}


def _circular(input: Tensor, pad: Sequence[int]) -> Tensor:
    """Made of slices and copies, as in PyTorch."""
    pairs = _pairs(pad)
    x = input._array
    lead = x.ndim - len(pairs)
    shape = [n + a + b for n, (a, b) in zip(x.shape[lead:], pairs, strict=True)]
    for n, (a, b) in zip(x.shape[lead:], pairs, strict=True):
        if a > n or b > n:
            raise RuntimeError("Padding value causes wrapping around more than once.")
    made: Tensor = FUNCTIONS["zeros"](*x.shape[:lead], *shape, dtype=input.dtype)
    window, source = made, input
    for d, (n, (a, b)) in enumerate(zip(x.shape[lead:], pairs, strict=True), lead):
        window = window.narrow(d, max(0, a), n + min(0, a) + min(0, b))
        source = source.narrow(d, max(0, -a), n + min(0, a) + min(0, b))
    window.copy_(source)
    for d, (n, (a, b)) in reversed(list(enumerate(zip(x.shape[lead:], pairs, strict=True), lead))):
        if a > 0:
            made.narrow(d, 0, a).copy_(made.narrow(d, n, a))
        if b > 0:
            made.narrow(d, a + n, b).copy_(made.narrow(d, a, b))
    return made


@composite("pad", method=False, function=False)
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: object = None) -> Tensor:
    """Widen the last dimensions: with a value, or by reflection, replication or wrapping around."""
    amounts = tuple(int(p) for p in pad)
    x = input._array
    if mode == "constant":
        return constant_pad_nd(input, amounts, 0 if value is None else value)
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    dims = len(amounts) // 2
    if len(amounts) % 2 or dims not in (1, 2, 3) or x.ndim not in (dims + 1, dims + 2):
        raise NotImplementedError(
            f"Padding size {len(amounts)} is not supported for {x.ndim}D input tensor.\nSupported combinations for "
            "non-constant padding:\n  - 2D or 3D input: padding size = 2 (pads last dimension)\n  - 3D or 4D input: "
            "padding size = 4 (pads last 2 dimensions)\n  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode == "circular":
        return _circular(input, amounts)
    if (mode, dims) not in _BORDER:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if 0 in x.shape[1 if x.ndim == dims + 2 else 0 :]:
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {sizes(x.shape)}"
        )
    if mode == "reflect":
        for (a, b), d in zip(_pairs(amounts)[::-1], range(x.ndim - 1, -1, -1), strict=False):
            if a >= x.shape[d] or b >= x.shape[d]:
                raise RuntimeError(
                    "Argument #4: Padding size should be less than the corresponding input dimension, but got: "
                    f"padding ({a}, {b}) at dimension {d} of input {sizes(x.shape)}"
                )
    return _BORDER[mode, dims](input, amounts)
