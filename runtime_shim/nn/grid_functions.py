"""Functions that move or sample pixels and channels, and random ones: what has no kernel, made of other ops."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from ..aten.function_forms import hardshrink, softshrink
from ..aten.networks.unfolding import channel_shuffle, pixel_shuffle, pixel_unshuffle
from ..core import dtypes
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor

# -- pixels


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = False) -> Tensor:
    """Where each output pixel is sampled: (batch, height, width, 2) or (batch, depth, height, width, 3)."""
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    size = [int(n) for n in size]
    rank = len(size) - 2
    if rank not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    if theta.dim() != 3 or theta.size(-2) != rank or theta.size(-1) != rank + 1:
        raise ValueError(
            f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1} for size {size}. Got "
            f"{theta.size()}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    axes = []
    for d, n in enumerate(size[2:]):
        steps = (
            FUNCTIONS["linspace"](-1, 1, n, dtype=theta.dtype) if n > 1 else FUNCTIONS["zeros"](1, dtype=theta.dtype)
        )
        if not align_corners:
            steps = steps * (n - 1) / n
        shape = [1] * rank
        shape[d] = n
        axes.append(steps.view(shape).expand(size[2:]))
    ones = FUNCTIONS["ones"](*size[2:], dtype=theta.dtype)
    base = FUNCTIONS["stack"]([*reversed(axes), ones], -1).view(1, -1, rank + 1)
    found: Tensor = base.expand(size[0], -1, -1).bmm(theta.transpose(1, 2)).view(size[0], *size[2:], rank)
    return found


def _unnormalized(at: Tensor, size: int, align_corners: bool) -> Tensor:
    return (at + 1) / 2 * (size - 1) if align_corners else ((at + 1) * size - 1) / 2


def _reflected(at: Tensor, size: int, align_corners: bool) -> Tensor:
    low, high = (0.0, size - 1.0) if align_corners else (-0.5, size - 0.5)
    span = high - low
    if span <= 0:
        return at * 0
    distance = (at - low).abs()
    rest = distance.remainder(span)
    turned = (distance / span).floor().remainder(2) == 1
    return FUNCTIONS["where"](turned, high - rest, rest + low).clamp(0, size - 1)


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """`input` (batch, channels, *size) at the places of `grid` (batch, *places, dimensions) between -1 and 1."""
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    rank = input.dim() - 2
    _check_sampling(input, grid, mode)
    if mode == "bicubic":
        raise NotImplementedError("the shim has no bicubic grid_sample; supported: bilinear, nearest")
    corners = bool(align_corners)
    size = list(input.size()[2:])
    places = []
    for d, n in enumerate(size):
        at = _unnormalized(grid.select(-1, rank - 1 - d), n, corners)
        if padding_mode == "border":
            at = at.clamp(0, n - 1)
        elif padding_mode == "reflection":
            at = _reflected(at, n, corners)
        places.append(at)
    flat = input.flatten(2)
    if mode == "nearest":
        return _sampled(flat, [at.detach().round() for at in places], size)
    lows = [at.detach().floor() for at in places]
    total: Any = None
    for corner in range(2**rank):
        chosen: list[Tensor] = []
        weight = None
        for d, (place, low) in enumerate(zip(places, lows, strict=True)):
            upper = bool(corner >> d & 1)
            share = place - low if upper else low + 1 - place
            weight = share if weight is None else weight * share
            chosen.append(low + 1 if upper else low)
        assert weight is not None
        part = _sampled(flat, chosen, size) * weight.unsqueeze(1)
        total = part if total is None else total + part
    found: Tensor = total
    return found


GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}


def _check_sampling(input: Tensor, grid: Tensor, mode: str) -> None:
    sizes = f"input with sizes {list(input.size())} and grid with sizes {list(grid.size())}"
    if input.size(0) != grid.size(0):
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but got {sizes}")
    if grid.size(-1) != input.dim() - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.dim() - 2} in last dimension, but got grid with sizes "
            f"{list(grid.size())}"
        )
    for i, n in enumerate(input.size()[2:], 2):
        if not n:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{list(input.size())} with dimension {i} being empty"
            )
    if input.dim() not in (4, 5) or input.dim() != grid.dim():
        raise RuntimeError(
            f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got {sizes}"
        )
    if mode == "bicubic" and input.dim() != 4:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if input.dtype is not grid.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.scalar_name} but found {grid.dtype.scalar_name}")


def _sampled(flat: Tensor, at: Sequence[Tensor], size: Sequence[int]) -> Tensor:
    """The elements at whole coordinates, zeros outside: (batch, channels, *places)."""
    inside: Any = None
    index: Any = 0
    for place, n in zip(at, size, strict=True):
        fits = (place >= 0) & (place <= n - 1)
        inside = fits if inside is None else inside & fits
        index = index * n + place.clamp(0, n - 1).to(dtypes.int64)
    shape = (*flat.size()[:2], *index.size()[1:])
    picked = flat.gather(2, index.flatten(1).unsqueeze(1).expand(-1, flat.size(1), -1)).view(shape)
    return picked * inside.unsqueeze(1).to(flat.dtype)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Each element over a power of the squares in the `size` channels around it."""
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)"
        )
    if input.numel() == 0:
        return input
    squares = input.mul(input)
    pad = [0, 0] * (input.dim() - 2) + [size // 2, (size - 1) // 2]
    means = FUNCTIONS["constant_pad_nd"](squares, pad, 0).unfold(1, size, 1).sum(-1) / size
    return input / means.mul(alpha).add(k).pow(beta)


# -- random


def _check(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _drop_channels(input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    x = input if batched else input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    found: Tensor = FUNCTIONS["feature_dropout_" if inplace else "feature_dropout"](x, p, training)
    return found if batched else found.squeeze_(0) if inplace else found.squeeze(0)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (batch, channels, length), or without the batch."""
    _check(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs)."
        )
    return _drop_channels(input, p, training, inplace, input.dim() == 3)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (batch, channels, depth, height, width), or without the batch."""
    _check(p)
    if input.dim() not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {input.dim()}-D input to dropout3d, which is deprecated and will result in an "
            "error in a future release. To retain the behavior and silence this warning, please use dropout instead. "
            "Note that dropout3d exists to provide channel-wise dropout on inputs with 3 spatial dimensions, a channel "
            "dimension, and an optional batch dimension (i.e. 4D or 5D inputs).",
            stacklevel=2,
        )
    return _drop_channels(input, p, training, inplace, input.dim() == 5)


_ALPHA = 1.7580993408473766
"""Minus what SELU tends to on the left."""


def _alpha_dropped(input: Tensor, p: float, training: bool, inplace: bool, shape: Sequence[int]) -> Tensor:
    _check(p)
    if not training or p == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    keep = FUNCTIONS["empty"](*shape, dtype=input.dtype).bernoulli_(1 - p)
    scale = 1 / math.sqrt((_ALPHA**2 * p + 1) * (1 - p))
    shift = (keep - 1) * (_ALPHA * scale) + _ALPHA * scale * p
    factor = keep * scale
    return input.mul_(factor).add_(shift) if inplace else input * factor + shift


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of what SELU gives."""
    return _alpha_dropped(input, p, training, inplace, input.size())


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """Samples of a relaxed categorical distribution; `hard` ones are one-hot with the gradient of the soft ones."""
    noise = -FUNCTIONS["empty"](*logits.size(), dtype=logits.dtype).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.argmax(dim, True)
    one_hot = FUNCTIONS["zeros_like"](logits).detach().scatter(dim, index, 1.0)
    return one_hot - soft.detach() + soft


__all__ = [
    "GRID_SAMPLE_INTERPOLATION_MODES", "GRID_SAMPLE_PADDING_MODES", "affine_grid", "alpha_dropout",
    "channel_shuffle", "dropout1d", "dropout3d", "grid_sample", "gumbel_softmax", "hardshrink",
    "local_response_norm", "pixel_shuffle", "pixel_unshuffle", "softshrink",
]  # fmt: skip
