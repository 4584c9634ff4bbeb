"""Padding and resampling. Resampling is a product with one matrix per dimension, and so is its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import Array, Ints, sizes
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import in_format_of
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import composite, op


def _pairs(pad: Sequence[int]) -> list[tuple[int, int]]:
    """(before, after) of the last dimensions, in the order of the dimensions."""
    return [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]


@op(
    "constant_pad_nd",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="ConstantPadNdBackward0",
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
# --------------------------------------------------------------------------------------


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

    backward = op(
        f"{name}_backward",
        computes=ANY_DTYPE,
        out=RESIZED,
        method=False,
        function=False,
        node=node.replace("Backward0", "BackwardBackward0"),
        grad_output=again,
        self=lambda grad: FUNCTIONS["zeros_like"](grad),
    )(backward_kernel)
    forward: Any = op(
        name,
        computes=ANY_DTYPE,
        out=RESIZED,
        node=node,
        method=False,
        function=False,
        leak=leak,
        self=lambda grad, self, padding: backward(grad, self, padding),
    )(kernel)
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
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Tensor:
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
            f"Padding size {len(amounts)} is not supported for {x.ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode == "circular":
        return _circular(input, amounts)
    if (mode, dims) not in _BORDER:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if mode == "reflect":
        for (a, b), d in zip(_pairs(amounts)[::-1], range(x.ndim - 1, -1, -1), strict=False):
            if a >= x.shape[d] or b >= x.shape[d]:
                raise RuntimeError(
                    "Argument #4: Padding size should be less than the corresponding input "
                    "dimension, but got: "
                    f"padding ({a}, {b}) at dimension {d} of input {sizes(x.shape)}"
                )
    return _BORDER[mode, dims](input, amounts)


# -- resampling
# -------------------------------------------------------------------------------------------------


def _matrix(size: int, out: int, mode: str, align_corners: bool, scale: float | None, dtype: Any) -> Array:
    """The (out, size) matrix that resamples one dimension."""
    matrix = np.zeros((out, size), dtype)
    rows = np.arange(out)
    ratio = 1 / scale if scale else size / out
    if mode == "nearest":
        matrix[rows, np.minimum(np.floor(rows * ratio), size - 1).astype(int)] = 1
        return matrix
    if align_corners:
        at = rows * ((size - 1) / (out - 1) if out > 1 else 0.0)
    else:
        at = np.maximum((rows + 0.5) * ratio - 0.5, 0)
    low = np.minimum(np.floor(at).astype(int), size - 1)
    high = np.minimum(low + 1, size - 1)
    part = at - low
    np.add.at(matrix, (rows, low), 1 - part)
    np.add.at(matrix, (rows, high), part)
    return matrix


def _apply(array: Array, matrices: Sequence[Array]) -> Array:
    lead = array.ndim - len(matrices)
    for d, matrix in enumerate(matrices, lead):
        array = np.moveaxis(np.tensordot(array, matrix, axes=(d, 1)), -1, d)
    return np.ascontiguousarray(array)


def _matrices(size: Sequence[int], out: Sequence[int], how: Any, dtype: Any) -> list[Array]:
    mode, align_corners, scales = how
    return [_matrix(n, o, mode, align_corners, s, dtype) for n, o, s in zip(size, out, scales, strict=True)]


@op(
    "upsample_backward",
    computes=ANY_DTYPE,
    out=RESIZED,
    method=False,
    function=False,
    grad_output=lambda grad, output_size, how: _upsample(grad, output_size, how),
)
def _upsample_backward(grad_output: Any, shape: Ints, output_size: Ints, how: Any) -> Array:
    found = _matrices(shape[2:], output_size, how, grad_output.dtype)
    return _apply(grad_output, [m.T for m in found])


def _register_upsample(name: str, node: str) -> Any:
    def kernel(self: Any, output_size: Ints, how: Any) -> Array:
        return _apply(self, _matrices(self.shape[2:], output_size, how, self.dtype))

    return op(
        name,
        computes=ANY_DTYPE,
        out=RESIZED,
        node=node,
        method=False,
        function=False,
        leak=1,
        self=lambda grad, self_shape, output_size, how: _upsample_backward(grad, self_shape, output_size, how),
    )(kernel)


_UPSAMPLE = {
    ("nearest", d): _register_upsample(f"upsample_nearest{d}d", f"UpsampleNearest{d}DBackward0") for d in (1, 2, 3)
} | {
    ("linear", 1): _register_upsample("upsample_linear1d", "UpsampleLinear1DBackward0"),
    ("bilinear", 2): _register_upsample("upsample_bilinear2d", "UpsampleBilinear2DBackward0"),
    ("trilinear", 3): _register_upsample("upsample_trilinear3d", "UpsampleTrilinear3DBackward0"),
}


def _upsample(input: Tensor, output_size: Ints, how: Any) -> Tensor:
    dims = len(output_size)
    names = {1: "linear", 2: "bilinear", 3: "trilinear"}
    return _UPSAMPLE["nearest" if how[0] == "nearest" else names[dims], dims](input, output_size, how)


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resample (batch, channels, ...) to `size` or by `scale_factor`; nearest or (bi-, tri-)linear."""
    if mode == "nearest" and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    dims = input._array.ndim - 2
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "only one of size or scale_factor should be defined"
            if size is not None
            else "either size or scale_factor should be defined"
        )
    if antialias or (mode, dims) not in _UPSAMPLE:
        supported = ", ".join(sorted({m for m, d in _UPSAMPLE}))
        raise NotImplementedError(
            f"the shim has no interpolate(mode={mode!r}) of {dims + 2}D input"
            f"{' with antialias' if antialias else ''}; supported: {supported}"
        )
    scales: tuple[float | None, ...] = (None,) * dims
    if size is not None:
        out = (size,) * dims if isinstance(size, int) else tuple(int(n) for n in size)
        if len(out) != dims:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input "
                "with spatial "
                f"dimensions of {list(input._array.shape[2:])} and output size of {size}. Please "
                f"provide input "
                "tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format."
            )
    else:
        factors = (
            tuple(map(float, scale_factor)) if isinstance(scale_factor, tuple | list) else (float(scale_factor),) * dims
        )
        out = tuple(int(np.floor(n * f)) for n, f in zip(input._array.shape[2:], factors, strict=True))
        if not recompute_scale_factor:
            scales = factors
    how = ("nearest" if mode == "nearest" else "linear", bool(align_corners), scales)
    return _UPSAMPLE[mode, dims](input, out, how)
