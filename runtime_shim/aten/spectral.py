"""The three transforms behind torch.fft: complex to complex, real to complex and back. Derivatives as in
derivatives.yaml and FunctionsManual.cpp."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import Array, NumpyDtype
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import RESIZED, Computes
from ..dispatch.registration import op
from .networks.unfolding import constant_pad_nd

NONE, BY_ROOT_N, BY_N = 0, 1, 2
"""Normalizations, by PyTorch's numbers."""


def _scaled(found: Array, count: int, normalization: int, like: NumpyDtype) -> Array:
    """In the precision of `like`, as numpy may compute in a higher one."""
    if normalization != NONE:
        found = found / (math.sqrt(count) if normalization == BY_ROOT_N else count)
    single = like in (np.float32, np.complex64)
    kind: Any = (np.complex64 if single else np.complex128) if found.dtype.kind == "c" else like
    if found.dtype.kind == "f":
        kind = np.float32 if single else np.float64
    return np.ascontiguousarray(found.astype(kind, copy=False))


def _size(shape: Sequence[int], dim: Sequence[int]) -> int:
    return math.prod(shape[d] for d in dim)


@op(
    "_fft_c2c",
    computes=Computes("c", "fft_c2c"),
    out=RESIZED,
    node="FftC2CBackward0",
    method=False,
    self=lambda grad, dim, normalization, forward: c2c(grad, dim, normalization, not forward),
)
def c2c(self: Array, dim: Sequence[int], normalization: int, forward: bool) -> Array:
    transform: Any = np.fft.fftn if forward else np.fft.ifftn
    found = transform(self, axes=tuple(dim), norm="backward" if forward else "forward")
    return _scaled(found, _size(self.shape, dim), normalization, self.dtype)


def _r2c_back(
    grad: Tensor, self_shape: tuple[int, ...], dim: Sequence[int], normalization: int, onesided: bool
) -> Tensor:
    last = dim[-1] % len(self_shape)
    if onesided:  # the other half of the spectrum got no gradient
        missing = self_shape[last] - grad._array.shape[last]
        padding = [0, 0] * (len(self_shape) - 1 - last) + [0, missing]
        grad = constant_pad_nd(grad, padding)
    found: Tensor = c2c(grad, dim, normalization, False).real
    return found


@op(
    "_fft_r2c",
    computes=Computes("f", "fft_r2c"),
    out=RESIZED,
    node="FftR2CBackward0",
    method=False,
    self=_r2c_back,
)
def r2c(self: Array, dim: Sequence[int], normalization: int, onesided: bool) -> Array:
    transform: Any = np.fft.rfftn if onesided else np.fft.fftn
    return _scaled(transform(self, axes=tuple(dim)), _size(self.shape, dim), normalization, self.dtype)


def _c2r_back(grad: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int) -> Tensor:
    found: Tensor = r2c(grad, dim, normalization, True)
    last = dim[-1]
    twice = last_dim_size - found._array.shape[last]
    if twice > 0:  # what stands for two elements of the spectrum
        weight = np.ones(found._array.shape[last], grad._array.dtype)
        weight[1 : 1 + twice] = 2
        shape = [1] * found._array.ndim
        shape[last] = -1
        found = found * FUNCTIONS["from_numpy"](weight.reshape(shape))
    return found


@op(
    "_fft_c2r",
    computes=Computes("c", "fft_c2r"),
    out=RESIZED,
    node="FftC2RBackward0",
    method=False,
    self=_c2r_back,
)
def c2r(self: Array, dim: Sequence[int], normalization: int, last_dim_size: int) -> Array:
    shape = [self.shape[d] for d in dim[:-1]] + [last_dim_size]
    found = np.fft.irfftn(self, s=shape, axes=tuple(dim), norm="forward")
    return _scaled(found, math.prod(shape), normalization, np.empty(0, self.dtype).real.dtype)
