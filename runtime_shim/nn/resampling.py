"""Resampling, and pooling that aten has no kernel for.

Source of the behaviour: ATen/native/UpSample.h, cpu/UpSampleKernel.cpp, torch/nn/functional.py.

Inputs are (batch, channels, *size) or (channels, *size).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..aten.networks.adaptive_pooling import adaptive_avg_pool2d, adaptive_avg_pool3d
from ..aten.networks.convolution import per_dimension
from ..core import dtypes
from ..core.dtypes import Array, Ints
from ..core.function_table import FUNCTIONS, AnyFunction
from ..core.tensor import Tensor
from ..dispatch.registration import inner_op


def _matrix(size: int, out: int, mode: str, align_corners: bool, scale: float | None, dtype: Any) -> Array:
    """The (out, size) matrix that resamples one dimension."""
    matrix = np.zeros((out, size), dtype)
    rows = np.arange(out)
    ratio = 1 / scale if scale else size / out
    if mode in ("nearest", "exact"):
        at = rows * ratio if mode == "nearest" else (rows + 0.5) * ratio
        matrix[rows, np.minimum(np.floor(at), size - 1).astype(int)] = 1
        return matrix
    if align_corners:
        ratio = (size - 1) / (out - 1) if out > 1 else 0.0
    if mode.endswith("smooth"):
        return _smooth(matrix, ratio, mode.removesuffix(" smooth"))
    at = rows * ratio if align_corners else (rows + 0.5) * ratio - 0.5
    if mode == "linear":
        at = np.maximum(at, 0)
    low = np.floor(at).astype(int)
    for step, weight in _taps(mode, at - low):
        np.add.at(matrix, (rows, np.clip(low + step, 0, size - 1)), weight)
    return matrix


def _taps(mode: str, part: Array) -> list[tuple[int, Array]]:
    """The weights of the elements around a place, by their distance from the one before it."""
    if mode == "linear":
        return [(0, 1 - part), (1, part)]
    return [(step, _cubic(part - step, -0.75)) for step in (-1, 0, 1, 2)]


def _cubic(distance: Array, a: float) -> Array:
    x = np.abs(distance)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    found: Array = np.where(x <= 1, near, np.where(x < 2, far, 0.0))
    return found


def _smooth(matrix: Array, ratio: float, mode: str) -> Array:
    """Resampling that averages over all elements between two places, where it makes fewer of them."""
    out, size = matrix.shape
    wide = max(ratio, 1.0)
    support = (1 if mode == "linear" else 2) * wide
    for row in range(out):
        center = ratio * (row + 0.5)
        low, high = max(int(center - support + 0.5), 0), min(int(center + support + 0.5), size)
        distance = (np.arange(low, high) - center + 0.5) / wide
        weights = np.maximum(1 - np.abs(distance), 0) if mode == "linear" else _cubic(distance, -0.5)
        matrix[row, low:high] = weights / weights.sum()
    return matrix


def _apply(array: Array, matrices: Sequence[Array]) -> Array:
    lead = array.ndim - len(matrices)
    for d, matrix in enumerate(matrices, lead):
        array = np.moveaxis(np.tensordot(array, matrix, axes=(d, 1)), -1, d)
    return np.ascontiguousarray(array)


def _matrices(size: Sequence[int], out: Sequence[int], how: Any, dtype: Any) -> list[Array]:
    mode, align_corners, scales = how
    return [_matrix(n, o, mode, align_corners, s, dtype) for n, o, s in zip(size, out, scales, strict=True)]


@inner_op(
    "upsample_backward",
    grad_output=lambda grad, output_size, how: _KINDS[how[0], len(output_size)](grad, output_size, how),
)
def _upsample_backward(grad_output: Any, shape: Ints, output_size: Ints, how: Any) -> Array:
    found = _matrices(shape[2:], output_size, how, grad_output.dtype)
    return _apply(grad_output, [m.T for m in found])


def _register(name: str, node: str) -> AnyFunction:
    def kernel(self: Any, output_size: Ints, how: Any) -> Array:
        return _apply(self, _matrices(self.shape[2:], output_size, how, self.dtype))

    return inner_op(
        name,
        node=node,
        leak=1,
        self=lambda grad, self_shape, output_size, how: _upsample_backward(grad, self_shape, output_size, how),
    )(kernel)


#: The op for each way to resample and number of dimensions.
_KINDS: dict[tuple[str, int], AnyFunction] = {
    **{("nearest", d): _register(f"upsample_nearest{d}d", f"UpsampleNearest{d}DBackward0") for d in (1, 2, 3)},
    **{
        ("exact", d): _register(f"_upsample_nearest_exact{d}d", f"UpsampleNearestExact{d}DBackward0") for d in (1, 2, 3)
    },
    ("linear", 1): _register("upsample_linear1d", "UpsampleLinear1DBackward0"),
    ("linear", 2): _register("upsample_bilinear2d", "UpsampleBilinear2DBackward0"),
    ("linear", 3): _register("upsample_trilinear3d", "UpsampleTrilinear3DBackward0"),
    ("cubic", 2): _register("upsample_bicubic2d", "UpsampleBicubic2DBackward0"),
    ("linear smooth", 2): _register("_upsample_bilinear2d_aa", "UpsampleBilinear2DAaBackward0"),
    ("cubic smooth", 2): _register("_upsample_bicubic2d_aa", "UpsampleBicubic2DAaBackward0"),
}
#: What programs call them.
_MODES = {
    **{("nearest", d): "nearest" for d in (1, 2, 3)},
    **{("nearest-exact", d): "exact" for d in (1, 2, 3)},
    ("linear", 1): "linear",
    ("bilinear", 2): "linear",
    ("trilinear", 3): "linear",
    ("bicubic", 2): "cubic",
}
_NEEDS = {"linear": "3D", "bilinear": "4D", "trilinear": "5D", "bicubic": "4D"}


def interpolate(
    input: Tensor,
    size: object = None,
    scale_factor: object = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resample (batch, channels, ...) to `size` or by `scale_factor`."""
    if mode in ("nearest", "nearest-exact", "area") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    dims = input._array.ndim - 2
    out, scales = _target(input, dims, size, scale_factor, bool(recompute_scale_factor) or mode == "area")
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and dims == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if mode == "area" and dims in (1, 2, 3):
        return _averaged(input, out)
    kind = _MODES.get((mode, dims))
    if kind is None:
        _refuse(mode, dims)
    if any(n <= 0 for n in out) or 0 in input._array.shape[1:]:
        letters = ("D", "H", "W")[-dims:]
        given, wanted = (
            ", ".join(f"{letter}: {n}" for letter, n in zip(letters, sizes, strict=True))
            for sizes in (input._array.shape[2:], out)
        )
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({given}) output ({wanted})"
        )
    how = (f"{kind} smooth" if antialias else kind, bool(align_corners), scales)
    resampled: Tensor = _KINDS[how[0], dims](input, out, how)  # type: ignore[index]
    return resampled


def _averaged(input: Tensor, out: tuple[int, ...]) -> Tensor:
    if len(out) == 1:
        found: Tensor = adaptive_avg_pool2d(input.unsqueeze(-2), (1, *out))
        return found.squeeze(-2)
    return adaptive_avg_pool2d(input, out) if len(out) == 2 else adaptive_avg_pool3d(input, out)


def _target(input: Tensor, dims: int, size: Any, scale_factor: Any, recompute: bool) -> Any:
    """The size of the result, and the factors that say where its elements come from."""
    spatial = list(input._array.shape[2:])
    nothing: tuple[float | None, ...] = (None,) * dims
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        sizes = size if isinstance(size, (list, tuple)) else [size] * dims
        if len(sizes) != dims:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {spatial} and output size of {size}. Please provide input tensor in (N, C, d1, d2, "
                "...,dK) format and output size in (o1, o2, ...,oK) format."
            )
        if not all(isinstance(n, (int, np.integer)) or hasattr(n, "_array") for n in sizes):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size "
                f"with types {[type(n) for n in sizes]}"
            )
        return tuple(int(n) for n in sizes), nothing
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    factors = scale_factor if isinstance(scale_factor, (list, tuple)) else [scale_factor] * dims
    if len(factors) != dims:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {spatial} and scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, "
            "d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format."
        )
    factors = tuple(float(f) for f in factors)
    return tuple(int(np.floor(n * f)) for n, f in zip(spatial, factors, strict=True)), (
        nothing if recompute else factors
    )


def _refuse(mode: str, dims: int) -> None:
    needs = _NEEDS.get(mode)
    if needs is not None and dims in (1, 2, 3):
        raise NotImplementedError(f"Got {dims + 2}D input, but {mode} mode needs {needs} input")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dims + 2}D) for the modes: nearest | linear | "
        f"bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


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


__all__ = ["max_unpool1d", "max_unpool2d", "max_unpool3d"]
