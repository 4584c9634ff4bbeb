"""Convolution of arrays in any number of dimensions: the product with im2col, its adjoint, the gradient of the weight.

The three are the sides of one trilinear form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...core.dtypes import Array, Ints, NumpyDtype

# Elements of the column matrix that is made at a time: bounds memory while keeping the products large.
_CHUNK = 1 << 22


def padded(x: Array, padding: Sequence[int], fill: object = 0, after: Sequence[int] | None = None) -> Array:
    """`x` with its last dimensions padded by `padding` before and `after` (default: the same) after."""
    after = padding if after is None else after
    if not any(padding) and (after is padding or not any(after)):
        return x
    lead = x.ndim - len(padding)
    inner = x.shape[lead:]
    shape = [n + p + q for n, p, q in zip(inner, padding, after, strict=True)]
    made = np.full((*x.shape[:lead], *shape), fill, x.dtype)
    interior: Any = (..., *(slice(p, p + n) for p, n in zip(padding, inner, strict=True)))
    made[interior] = x
    return made


def convolved_size(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Ints:
    return tuple(
        [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
        ]
    )


def _windows(x: Array, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Array:
    """A window onto padded `x`: (batch, channels, *kernel, *out), without a copy."""
    inner = x.strides[2:]
    shape = (*x.shape[:2], *kernel, *out)
    strides = (
        *x.strides[:2],
        *[a * d for a, d in zip(inner, dilation, strict=True)],
        *[a * s for a, s in zip(inner, stride, strict=True)],
    )
    return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=False)


def _offsets(kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Iterator[tuple[Ints, Any]]:
    """Each element of the kernel, with the slice of padded input that it meets."""
    for position in np.ndindex(*kernel):
        yield (
            position,
            (
                ...,
                *(
                    slice(i * d, i * d + (o - 1) * s + 1, s)
                    for i, d, o, s in zip(position, dilation, out, stride, strict=True)
                ),
            ),
        )


def _chunks(batch: int, columns: int) -> Iterator[slice]:
    step = max(1, _CHUNK // max(1, columns))
    for start in range(0, batch, step):
        yield slice(start, start + step)


def _columns(x: Array, rows: slice, groups: int, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Array:
    """im2col: (batch, groups, channels per group times kernel, positions)."""
    part = x[rows]
    shape = (len(part), groups, x.shape[1] // groups * math.prod(kernel), math.prod(out))
    return _windows(part, kernel, stride, dilation, out).reshape(shape)


def _wide(*operands: Array) -> tuple[tuple[Array, ...], NumpyDtype]:
    """float16 operands as float32: sums of products need the width."""
    dtype = operands[0].dtype
    if dtype.char == "e":
        return tuple(a.astype(np.float32) for a in operands), dtype
    return operands, dtype


def correlate(x: Array, w: Array, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Array:
    """(batch, in, *size) and (out, in / groups, *kernel) to (batch, out, *size)."""
    (x, w), dtype = _wide(x, w)
    kernel = w.shape[2:]
    out = convolved_size(x.shape[2:], kernel, stride, padding, dilation)
    x = padded(x, padding)
    weights = w.reshape(groups, w.shape[0] // groups, -1)
    found = np.empty((x.shape[0], w.shape[0], *out), x.dtype)
    flat = found.reshape(x.shape[0], groups, w.shape[0] // groups, math.prod(out))
    size = x.shape[1] * math.prod(kernel) * math.prod(out)
    for rows in _chunks(x.shape[0], size):
        np.matmul(weights, _columns(x, rows, groups, kernel, stride, dilation, out), out=flat[rows])
    return found if found.dtype is dtype else found.astype(dtype, copy=False)


def spread(g: Array, w: Array, stride: Ints, padding: Ints, dilation: Ints, groups: int, size: Ints) -> Array:
    """The adjoint of `correlate`: (batch, out, *positions) to (batch, in, *size)."""
    (g, w), dtype = _wide(g, w)
    kernel, out = w.shape[2:], g.shape[2:]
    weights = w.reshape(groups, w.shape[0] // groups, -1).transpose(0, 2, 1)
    channels = w.shape[1] * groups
    # Wide enough for every window, then cut to what was asked for.
    wide = [
        max(n + 2 * p, (o - 1) * s + d * (k - 1) + 1)
        for n, p, o, s, d, k in zip(size, padding, out, stride, dilation, kernel, strict=True)
    ]
    found = np.zeros((g.shape[0], channels, *wide), g.dtype)
    flat = g.reshape(g.shape[0], groups, w.shape[0] // groups, math.prod(out))
    for rows in _chunks(g.shape[0], channels * math.prod(kernel) * math.prod(out)):
        columns = np.matmul(weights, flat[rows])
        columns = columns.reshape(len(columns), channels, *kernel, *out)
        part = found[rows]
        for position, where in _offsets(kernel, stride, dilation, out):
            at = (slice(None), slice(None), *position)
            part[where] += columns[at]
    cut: Any = (..., *(slice(p, p + n) for p, n in zip(padding, size, strict=True)))
    return np.ascontiguousarray(found[cut]).astype(dtype, copy=False)


def weight_gradient(x: Array, g: Array, shape: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Array:
    """The gradient of the weight: (batch, in, *size) and (batch, out, *positions) to `shape`."""
    (x, g), dtype = _wide(x, g)
    kernel, out = shape[2:], g.shape[2:]
    x = padded(x, padding)
    flat = g.reshape(g.shape[0], groups, shape[0] // groups, math.prod(out))
    found = np.zeros((groups, shape[0] // groups, shape[1] * math.prod(kernel)), x.dtype)
    for rows in _chunks(x.shape[0], x.shape[1] * math.prod(kernel) * math.prod(out)):
        columns = _columns(x, rows, groups, kernel, stride, dilation, out)
        found += np.matmul(flat[rows], columns.swapaxes(-1, -2)).sum(0)
    return found.reshape(shape).astype(dtype, copy=False)
