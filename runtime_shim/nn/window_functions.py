"""Pooling over windows of one to three dimensions: what `aten` has no kernel for, made of other ops.

Inputs are (batch, channels, *size) or (channels, *size).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from ..aten.average_pooling import avg_pool1d, avg_pool2d, avg_pool3d
from ..aten.convolution import per_dimension
from ..core import dtypes
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor


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
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]
