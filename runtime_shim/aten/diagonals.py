"""Diagonals, triangles, and other matrices that are made of parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.device import check_device
from ..core.dtypes import Array, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.gradient_modes import no_grad
from ..core.tensor import Tensor, new_tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED, Computes, DtypeRefusal, Op
from ..dispatch.op_node import OpNode, make_node
from ..dispatch.registration import composite, op
from ..tape.history import set_history
from .copies import clone
from .creation import numpy_dtype
from .parts import diagonal_of


def _diag_embed_below(self: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    made = self.new_zeros(_embedded(self._array.shape, offset, dim1, dim2)[0])
    made.diagonal(offset, dim1, dim2).copy_(self)
    return made


def _embedded(shape: tuple[int, ...], offset: int, dim1: int, dim2: int) -> tuple[list[int], int, int]:
    """The shape of the matrices, and where in it their two dimensions are."""
    ndim = len(shape) + 1
    first, second = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    wrap_dim(-1, len(shape))
    size = (shape[-1] if shape else 1) + abs(offset)
    found = list(shape[:-1])
    for dim in sorted((first, second)):
        found.insert(dim, size)
    return found, first, second


@op(
    "diag_embed",
    computes=ANY_DTYPE,
    out=RESIZED,
    below=_diag_embed_below,
    self=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
)
def diag_embed(self: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """Matrices whose diagonal is the last dimension; the others are 0."""
    shape, first, second = _embedded(self.shape, offset, dim1, dim2)
    found: Array = np.zeros(shape, self.dtype)
    diagonal_of(found, offset, first, second)[...] = self
    return found


#: By the op of a diagonal, what a copy of one is recorded as.
_COPIED: dict[Op, Op] = {}


@composite("diagonal_copy", method=False, out=RESIZED)
def diagonal_copy(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A diagonal as a copy. The view's kernel and gradient are used; the node has a name of its own."""
    view = self.diagonal(offset, dim1, dim2)
    recorded = None if view._meta is None else view._meta.grad_fn
    with no_grad():
        made = clone(view, memory_format="contiguous")
    if isinstance(recorded, OpNode):
        described = _COPIED.get(recorded.op)
        if described is None:
            described = _COPIED[recorded.op] = replace(recorded.op, node_name=f"{recorded.op.node_name}_copy")
        set_history(made, make_node(described, recorded.next_edges, recorded.saved), 0)
    return made


@composite("diag", out=RESIZED)
def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix as a copy, or a matrix with a vector as its diagonal."""
    if self.dim() not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.dim()}D")
    made: Tensor = diag_embed(self, diagonal) if self.dim() == 1 else diagonal_copy(self, diagonal)
    return made


@composite("diagflat")
def diagflat(self: Tensor, offset: int = 0) -> Tensor:
    return diag(self.contiguous().view(-1), offset)


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


_NO_TRACE = DtypeRefusal("b", NotImplementedError, "\"trace\" not implemented for '{}'")


def _trace_back(grad: Tensor, self_shape: tuple[int, ...]) -> Tensor:
    rows, columns = self_shape
    places = FUNCTIONS["arange"](0, rows * columns, columns + 1)[: min(self_shape)]
    return FUNCTIONS["zeros"](rows * columns, dtype=grad.dtype).index_fill_(0, places, grad).view(self_shape)


@op("trace", computes=Computes("ifc", refusals=(_NO_TRACE,)), out=RESIZED, self=_trace_back, function=False)
def trace(self: Any) -> Array:
    """The sum of a matrix's diagonal."""
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    total = diagonal_of(self, 0, 0, 1).sum(dtype=np.int64 if self.dtype.kind in "iu" else None)
    return np.asarray(total, None if self.dtype.kind in "iu" else self.dtype)


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
