"""Diagonals, triangles, and other matrices that are made of parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.device import check_device
from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor, new_tensor
from ..dispatch.op_description import RESIZED, Computes
from ..dispatch.registration import composite, op
from .creation import numpy_dtype


def _wrapped(dim: int, ndim: int) -> int:
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    return dim % ndim


@composite("diag_embed")
def diag_embed(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices whose diagonal is the last dimension; the others are 0."""
    ndim = self.dim() + 1
    first, second = _wrapped(dim1, ndim), _wrapped(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    size = self.size(-1) + abs(offset)
    shape = list(self.shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, size)
    made = self.new_zeros(shape)
    made.diagonal(offset, first, second).copy_(self)
    return made


@composite("diag", out=RESIZED)
def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix as a copy, or a matrix with a vector as its diagonal."""
    if self.dim() == 1:
        return diag_embed(self, diagonal)
    if self.dim() == 2:
        return FUNCTIONS["diagonal"](self, diagonal).clone()
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.dim()}D")


@composite("diagflat")
def diagflat(self: Tensor, offset: int = 0) -> Tensor:
    return diag_embed(self.reshape(-1), offset)


def _triangle(name: str, upper: bool) -> None:
    @composite(name, method=False)
    def indices(
        row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None, layout: Any = None
    ) -> Tensor:
        """The indices of a triangle of a (row, col) matrix, row by row, as a (2, n) tensor."""
        check_device(device)
        found = np.triu_indices(row, offset, col) if upper else np.tril_indices(row, offset, col)
        return new_tensor(np.stack(found).astype(numpy_dtype(dtype or dtypes.int64)))


_triangle("triu_indices", True)
_triangle("tril_indices", False)


def _trace_back(grad: Tensor, self_shape: tuple[int, ...]) -> Tensor:
    rows, columns = self_shape
    places = FUNCTIONS["arange"](0, rows * columns, columns + 1)[: min(self_shape)]
    return FUNCTIONS["zeros"](rows * columns, dtype=grad.dtype).index_fill_(0, places, grad).view(self_shape)


@op("trace", computes=Computes("ifc", "trace"), out=RESIZED, function=False, self=_trace_back)
def trace(self: Any) -> Array:
    """The sum of a matrix's diagonal."""
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    return np.asarray(np.trace(self, dtype=np.int64 if self.dtype.kind in "iu" else self.dtype))


@composite("fill_diagonal_", function=False)
def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Fills the main diagonal in place."""
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    if wrap and self.dim() == 2 and self.size(0) > self.size(1):
        raise NotImplementedError("the shim has no fill_diagonal_(wrap=True) of tall matrices; supported: wrap=False")
    shortest = min(self.shape)
    self.as_strided((shortest,), (sum(self.stride()),), self.storage_offset()).fill_(fill_value)
    return self


@composite("block_diag", method=False)
def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with these along its diagonal."""
    if not tensors:
        return FUNCTIONS["empty"](1, 0)
    blocks = [t.reshape(1, -1) if t.dim() < 2 else t for t in tensors]
    for i, block in enumerate(blocks):
        if block.dim() > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                f"Input {i} has {block.dim()} dimensions"
            )
    columns, rows, before = sum(block.size(1) for block in blocks), [], 0
    for block in blocks:
        pad = (before, columns - before - block.size(1))
        rows.append(FUNCTIONS["cat"]([block.new_zeros(block.size(0), n) if n else block[:, :0] for n in pad[:1]]
                                     + [block] + [block.new_zeros(block.size(0), pad[1])], 1))  # fmt: skip
        before += block.size(1)
    return FUNCTIONS["cat"](rows)


# -- copies with a part replaced
# -------------------------------------------------------------------------------------------------


@composite("select_scatter")
def select_scatter(self: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy in which `src` stands at one index of a dimension."""
    made = self.clone()
    made.select(dim, index).copy_(src)
    return made


@composite("diagonal_scatter")
def diagonal_scatter(self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy in which `src` stands on the diagonal."""
    made = self.clone()
    made.diagonal(offset, dim1, dim2).copy_(src)
    return made


@composite("slice_scatter")
def slice_scatter(
    self: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy in which `src` stands in a slice of a dimension."""
    made = self.clone()
    made[(slice(None),) * _wrapped(dim, self.dim()) + (slice(start, end, step),)].copy_(src)
    return made
