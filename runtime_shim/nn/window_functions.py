"""Pooling over windows of one to three dimensions: what `aten.pooling` has no kernel for, made of other ops.

A window is a row of positions in the flattened input. Inputs are (batch, channels, *size) or (channels, *size).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..aten.convolution import per_dimension
from ..core import dtypes
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor

Positions = Any
"""An array (output positions, positions in a window) of indices."""


def _index(positions: Positions) -> Tensor:
    found: Tensor = FUNCTIONS["from_numpy"](np.ascontiguousarray(positions, dtype=np.int64))
    return found


def _steps(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows a dimension has."""
    if stride == 0:
        raise RuntimeError("stride should not be zero")
    span = size + 2 * padding - dilation * (kernel - 1) - 1 + (stride - 1 if ceil_mode else 0)
    found = span // stride + 1
    if ceil_mode and (found - 1) * stride >= size + padding:
        found -= 1
    return found


class _Geometry:
    """Where the windows lie; the input is padded by `before` and `after`."""

    def __init__(
        self, size: Sequence[int], kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
    ) -> None:
        n = len(size)
        self.size = tuple(size)
        self.kernel = per_dimension(kernel, n)
        self.stride = per_dimension(kernel if stride is None or stride == [] else stride, n)
        self.before = per_dimension(padding, n)
        dilations = per_dimension(dilation, n)
        if any(2 * pad > k for pad, k in zip(self.before, self.kernel, strict=True)):
            raise RuntimeError("pad should be at most half of effective kernel size")
        each = list(zip(self.size, self.kernel, self.stride, self.before, dilations, strict=True))
        self.out = tuple(_steps(*one, ceil_mode) for one in each)
        if any(out < 1 for out in self.out):
            raise RuntimeError(
                f"Given input size: {self.size}. Calculated output size: {self.out}. Output size is too small"
            )
        self.after = tuple(
            max(pad, (out - 1) * s + d * (k - 1) + 1 - n - pad)
            for out, (n, k, s, pad, d) in zip(self.out, each, strict=True)
        )
        self.along = [
            np.arange(out)[:, None] * s + np.arange(k)[None, :] * d
            for out, (_, k, s, _, d) in zip(self.out, each, strict=True)
        ]
        """Per dimension (windows, kernel): positions in the padded input."""

    def padded_size(self) -> tuple[int, ...]:
        return tuple(n + a + b for n, a, b in zip(self.size, self.before, self.after, strict=True))

    def pad(self, input: Tensor, value: float) -> Tensor:
        sides = [side for pair in zip(reversed(self.before), reversed(self.after), strict=True) for side in pair]
        return FUNCTIONS["constant_pad_nd"](input, sides, value) if any(sides) else input


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


def _check_rank(name: str, input: Tensor, rank: int) -> None:
    if input.dim() not in (rank + 1, rank + 2):
        raise RuntimeError(
            f"{name}: Expected {rank + 1}D or {rank + 2}D (batch mode) tensor, but got input of size: "
            f"{list(input.size())}"
        )


def _max_of_windows(input: Tensor, along: Sequence[Any], positions: Positions, source: Any) -> tuple[Tensor, Tensor]:
    """The greatest of each window, and where in the input (`source` gives the place of each position) it stands."""
    out = tuple(rows.shape[0] for rows in along)
    values, where = _taken(input, positions, len(along)).max(-1)
    rows = np.arange(len(positions))
    places = _index(source[positions[rows, np.asarray(where.detach().numpy())]])
    return values.unflatten(-1, out), places.unflatten(-1, out)


def _max_pool(rank: int) -> Callable[..., tuple[Tensor, Tensor]]:
    def max_pool_with_indices(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = True,
    ) -> tuple[Tensor, Tensor]:
        """The greatest elements, and their indices in the flattened input."""
        _check_rank(f"max_pool{rank}d", input, rank)
        where = _Geometry(input.size()[-rank:], kernel_size, stride, padding, dilation, ceil_mode)
        lowest = -math.inf if input.is_floating_point() else np.iinfo(input.detach().numpy().dtype).min
        padded = where.pad(input, lowest)
        numbers = np.arange(math.prod(where.size)).reshape(where.size)
        source = np.pad(numbers, list(zip(where.before, where.after, strict=True))).reshape(-1)
        return _max_of_windows(padded, where.along, _windows(where.along, where.padded_size()), source)

    return max_pool_with_indices


max_pool1d_with_indices, max_pool3d_with_indices = _max_pool(1), _max_pool(3)


def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    found = max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return found if return_indices else found[0]


def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window."""
    _check_rank("avg_pool3d", input, 3)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    where = _Geometry(input.size()[-3:], kernel_size, stride, padding, 1, ceil_mode)
    sums = _taken(where.pad(input, 0), _windows(where.along, where.padded_size()), 3).sum(-1).unflatten(-1, where.out)
    if divisor_override is not None:
        return sums / divisor_override
    counts: Any = 1
    for d, (rows, pad, n) in enumerate(zip(where.along, where.before, where.size, strict=True)):
        low, high = (0, n + 2 * pad) if count_include_pad else (pad, pad + n)
        shape = [1, 1, 1]
        shape[d] = len(rows)
        counts = counts * ((rows >= low) & (rows < high)).sum(1).reshape(shape)
    return sums / FUNCTIONS["from_numpy"](counts.astype(np.float64)).to(input.dtype)


def _adaptive(size: int, out: int) -> list[range]:
    """Which positions each of the `out` windows of a dimension has."""
    return [range(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]


def _wanted(output_size: Any, size: Sequence[int]) -> tuple[int, ...]:
    given = [output_size] * len(size) if output_size is None or isinstance(output_size, int) else list(output_size)
    if len(given) == 1:
        given *= len(size)
    return tuple(n if wanted is None else wanted for wanted, n in zip(given, size, strict=True))


def _adaptive_max_pool(rank: int) -> Callable[..., tuple[Tensor, Tensor]]:
    def adaptive_max_pool_with_indices(
        input: Tensor, output_size: Any, return_indices: bool = True
    ) -> tuple[Tensor, Tensor]:
        """Pooling to a given size, and the indices of the greatest elements in the flattened input."""
        _check_rank(f"adaptive_max_pool{rank}d", input, rank)
        size = input.size()[-rank:]
        along = []
        for n, out in zip(size, _wanted(output_size, size), strict=True):
            ranges = _adaptive(n, out)
            longest = max(len(one) for one in ranges)
            # A shorter window has its first position several times, which changes no maximum.
            along.append(np.array([[*one, *[one[0]] * (longest - len(one))] for one in ranges]))
        return _max_of_windows(input, along, _windows(along, size), np.arange(math.prod(size)))

    return adaptive_max_pool_with_indices


adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = (
    _adaptive_max_pool(rank) for rank in (1, 2, 3)
)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    found = adaptive_max_pool1d_with_indices(input, output_size)
    return found if return_indices else found[0]


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    found = adaptive_max_pool2d_with_indices(input, output_size)
    return found if return_indices else found[0]


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    found = adaptive_max_pool3d_with_indices(input, output_size)
    return found if return_indices else found[0]


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each window of a given number of windows."""
    _check_rank("adaptive_avg_pool3d", input, 3)
    found = input
    for d, (n, out) in enumerate(zip(input.size()[-3:], _wanted(output_size, input.size()[-3:]), strict=True), -3):
        weights = np.zeros((n, out))
        for column, rows in enumerate(_adaptive(n, out)):
            weights[rows, column] = 1 / len(rows)
        matrix = FUNCTIONS["from_numpy"](weights).to(input.dtype)
        found = found.transpose(d, -1).matmul(matrix).transpose(d, -1)
    return found


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
            output_size = [int(n * ratio) for n, ratio in zip(size, ratios, strict=True)]
        kernel, out = per_dimension(kernel_size, rank), per_dimension(output_size, rank)
        if any(o + k - 1 > n for o, k, n in zip(out, kernel, size, strict=True)):
            raise RuntimeError(f"{name}: kernel size {list(kernel)} is too large relative to input size {size}")
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
    def lp_pool(
        input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Tensor:
        """The `norm_type`-norm of each window."""
        where = _Geometry(input.size()[-rank:], kernel_size, stride, 0, 1, ceil_mode)
        powers = where.pad(input.pow(norm_type), 0)
        sums = _taken(powers, _windows(where.along, where.padded_size()), rank).sum(-1).unflatten(-1, where.out)
        return (sums.sign() * sums.abs().relu()).pow(1.0 / norm_type)

    return lp_pool


lp_pool1d, lp_pool2d, lp_pool3d = (_lp_pool(rank) for rank in (1, 2, 3))


__all__ = [
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]
