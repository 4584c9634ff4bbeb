"""Pooling over windows of one to three dimensions: what `aten` has no kernel for, made of other ops.

A window is a row of positions in the flattened input. Inputs are (batch, channels, *size) or (channels, *size).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..aten.average_pooling import avg_pool1d, avg_pool2d, avg_pool3d
from ..aten.convolution import per_dimension
from ..core import dtypes
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor

Positions = Any
"""An array (output positions, positions in a window) of indices."""


def _index(positions: Positions) -> Tensor:
    found: Tensor = FUNCTIONS["from_numpy"](np.ascontiguousarray(positions, dtype=np.int64))
    return found


def _windows(along: Sequence[Any], size: Sequence[int]) -> Positions:
    """The positions of each window in an input of this size, flattened."""
    n = len(along)
    total: Any = 0
    for d, rows in enumerate(along):
        shape = [1] * (2 * n)
        shape[d], shape[n + d] = rows.shape
        total = total + rows.reshape(shape) * math.prod(size[d + 1 :])
    return total.reshape(math.prod(rows.shape[0] for rows in along), -1)


def _taken(input: Tensor, positions: Positions, rank: int) -> Tensor:
    """(..., windows, positions in a window)"""
    flat = input.flatten(-rank) if rank > 1 else input
    found: Tensor = flat.index_select(-1, _index(positions.reshape(-1))).unflatten(-1, positions.shape)
    return found


def _max_of_windows(input: Tensor, along: Sequence[Any], positions: Positions, source: Any) -> tuple[Tensor, Tensor]:
    """The greatest of each window, and where in the input (`source` gives the place of each position) it stands."""
    out = tuple(rows.shape[0] for rows in along)
    values, where = _taken(input, positions, len(along)).max(-1)
    rows = np.arange(len(positions))
    places = _index(source[positions[rows, np.asarray(where.detach().numpy())]])
    return values.unflatten(-1, out), places.unflatten(-1, out)


def _max_unpool(rank: int) -> Callable[..., Tensor]:
    def max_unpool(
        input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Tensor:
        """What max pooling had, where the indices say it stood; zeros elsewhere."""
        kernel = per_dimension(kernel_size, rank)
        strides = kernel if stride is None else per_dimension(stride, rank)
        pads = per_dimension(padding, rank)
        size = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(input.size()[-rank:], strides, pads, kernel, strict=True)]
        if output_size is not None:
            wanted = list(output_size)[-rank:]
            if len(output_size) not in (rank, rank + 2):
                raise ValueError(
                    f"output_size should be a sequence containing {rank} or {rank + 2} elements, but it has a "
                    f"length of '{len(output_size)}'"
                )
            for least, most, given in zip(
                (n - s for n, s in zip(size, strides, strict=True)),
                (n + s for n, s in zip(size, strides, strict=True)),
                wanted,
                strict=True,
            ):
                if not least < given < most:
                    raise ValueError(
                        f"invalid output_size {list(output_size)} (dim must be between {least} and {most})"
                    )
            size = wanted
        if indices.dtype is not dtypes.int64:
            raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype}")
        if list(input.size()) != list(indices.size()):
            raise RuntimeError(
                f"Expected shape of indices to be same as that of the input tensor ({list(input.size())}) but got "
                f"indices tensor with shape: {list(indices.size())}"
            )
        lead = list(input.size()[:-rank])
        flat = FUNCTIONS["zeros"](*lead, math.prod(size), dtype=input.dtype)
        rows = input.flatten(-rank) if rank > 1 else input
        places = indices.flatten(-rank) if rank > 1 else indices
        found: Tensor = flat.scatter(-1, places, rows).unflatten(-1, size)
        return found

    return max_unpool


max_unpool1d, max_unpool2d, max_unpool3d = (_max_unpool(rank) for rank in (1, 2, 3))


def _starts(size: int, kernel: int, out: int, sample: float) -> list[int]:
    if out == 1:
        return [size - kernel]
    alpha = (size - kernel) / (out - 1)
    return [int((i + sample) * alpha) - int(sample * alpha) for i in range(out - 1)] + [size - kernel]


def _fractional_max_pool(rank: int) -> Callable[..., tuple[Tensor, Tensor]]:
    def fractional_max_pool_with_indices(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = True,
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Windows of one size at pseudo-random distances, as many as `output_size` says."""
        name = f"fractional_max_pool{rank}d"
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        size = list(input.size()[-rank:])
        if output_size is None:
            ratios = [output_ratio] * rank if isinstance(output_ratio, float) else list(output_ratio)
            if len(ratios) != rank:
                raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
            output_size = [int(n * ratio) for n, ratio in zip(size, ratios, strict=True)]
        kernel, out = per_dimension(kernel_size, rank), per_dimension(output_size, rank)
        if any(o + k - 1 > n for o, k, n in zip(out, kernel, size, strict=True)):
            which = next(i for i, (o, k, n) in enumerate(zip(out, kernel, size, strict=True)) if o + k - 1 > n)
            side = ("time", "height", "width")[-rank:][which]
            raise RuntimeError(
                f"{name}(): pool {side} {kernel[which]} too large relative to input {side} {size[which]}"
            )
        batched = input if input.dim() == rank + 2 else input.unsqueeze(0)
        samples = _random_samples if _random_samples is not None else FUNCTIONS["rand"](*batched.size()[:2], rank)
        chosen = np.asarray(samples.detach().numpy())
        numbers, maxima, places = np.arange(math.prod(size)), [], []
        for i, j in itertools.product(*map(range, batched.size()[:2])):
            # PyTorch draws for the last dimension first.
            along = [
                np.array(_starts(n, k, o, float(chosen[i, j, rank - 1 - d])))[:, None] + np.arange(k)[None, :]
                for d, (n, k, o) in enumerate(zip(size, kernel, out, strict=True))
            ]
            value, place = _max_of_windows(batched[i, j], along, _windows(along, size), numbers)
            maxima.append(value)
            places.append(place)
        shape = (*input.size()[:-rank], *out)
        return FUNCTIONS["stack"](maxima).reshape(shape), FUNCTIONS["stack"](places).reshape(shape)

    return fractional_max_pool_with_indices


fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = (_fractional_max_pool(n) for n in (2, 3))


def fractional_max_pool2d(*args: Any, return_indices: bool = False, **kwargs: Any) -> Any:
    found = fractional_max_pool2d_with_indices(*args, **kwargs)
    return found if return_indices else found[0]


def fractional_max_pool3d(*args: Any, return_indices: bool = False, **kwargs: Any) -> Any:
    found = fractional_max_pool3d_with_indices(*args, **kwargs)
    return found if return_indices else found[0]


def _lp_pool(rank: int) -> Callable[..., Tensor]:
    average = (avg_pool1d, avg_pool2d, avg_pool3d)[rank - 1]

    def lp_pool(
        input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Tensor:
        """The `norm_type`-norm of each window."""
        if rank == 1:
            count = kernel_size
        elif rank == 2:
            width, height = _each(kernel_size, 2)
            count = width * height
        else:
            depth, width, height = _each(kernel_size, 3)
            count = depth * width * height
        found = average(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
        return (found.sign() * found.abs().relu()).mul(count).pow(1.0 / norm_type)

    return lp_pool


def _each(value: Any, count: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, Iterable) else (value,) * count


lp_pool1d, lp_pool2d, lp_pool3d = (_lp_pool(rank) for rank in (1, 2, 3))


__all__ = [
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]
