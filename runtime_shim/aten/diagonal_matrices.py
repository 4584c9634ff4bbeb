"""Matrices from diagonals, matrices upside down, inner products."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import Array, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE
from ..dispatch.registration import composite, op
from .parts import diagonal_backward, diagonal_of


@op(
    "diag_embed",
    computes=ANY_DTYPE,
    self=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
)
def diag_embed(self: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """Zeros with the last dimension of `self` on the diagonal of `dim1` and `dim2`."""
    n = self.ndim + 1
    first, second = wrap_dim(dim1, n), wrap_dim(dim2, n)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    length = self.shape[-1]
    size = length + abs(offset)
    made = np.zeros((*self.shape[:-1], size, size), self.dtype)
    rows = np.arange(length) + max(-offset, 0)
    made[..., rows, rows + offset] = self
    return np.ascontiguousarray(np.moveaxis(made, (-2, -1), (first, second)))


@op(
    "diagonal_copy",
    computes=ANY_DTYPE,
    method=False,
    node="DiagonalBackward0_copy",
    self=lambda grad, self_shape, offset, dim1, dim2: diagonal_backward(grad, self_shape, offset, dim1, dim2),
)
def diagonal_copy(self: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """The diagonal, as a tensor of its own."""
    return np.ascontiguousarray(diagonal_of(self, offset, dim1, dim2))


@composite("diag")
def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """The matrix with this diagonal, or a copy of the diagonal of a matrix."""
    dims = self._array.ndim
    if dims not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {dims}D")
    made: Tensor = diag_embed(self, diagonal) if dims == 1 else diagonal_copy(self, diagonal)
    return made


@composite("flipud")
def flipud(self: Tensor) -> Tensor:
    if self._array.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return self.flip((0,))


@composite("fliplr")
def fliplr(self: Tensor) -> Tensor:
    if self._array.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return self.flip((1,))


@composite("inner")
def inner(self: Tensor, other: Tensor) -> Tensor:
    """Sums of products along the last dimensions of both; with a number, the product."""
    a, b = self._array, other._array
    if a.ndim == 0 or b.ndim == 0:
        return self * other
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(a.shape)} and "
            f"{list(b.shape)}"
        )
    rows = self.reshape(-1, a.shape[-1])
    columns = other.reshape(-1, b.shape[-1])
    product: Tensor = FUNCTIONS["mm"](rows, columns.t())
    return product.reshape([*a.shape[:-1], *b.shape[:-1]])
