"""Dimensions and elements in another order: transposes, rotations, diagonals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.array_kinds import ReorderedArray, marked
from ..core.device import check_device
from ..core.dtypes import Array, sizes, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.gradient_modes import no_grad
from ..core.tensor import Tensor, attach, new_tensor
from ..dispatch.op_description import ANY_DTYPE, OPS, RESIZED, Computes, DtypeRefusal, Op
from ..dispatch.op_node import OpNode, make_node
from ..dispatch.registration import composite, op
from ..dispatch.view_layers import view_op
from ..tape.history import set_history
from .copies import clone
from .creation import filled, numpy_dtype
from .slicing_views import diagonal_of
from .views import some_ints


def _rot90_below(self: Tensor, k: int, dims: object) -> Tensor:
    first, second = _rotated(self._array, dims)
    if k % 4 == 0:
        return self.clone(memory_format="contiguous")
    if k % 4 == 2:
        return self.flip((first, second))
    return self.flip((second if k % 4 == 1 else first,)).transpose_(first, second)


@op("rot90", computes=ANY_DTYPE, out=RESIZED, below=_rot90_below, self=lambda grad, k, dims: grad.rot90(-k, dims))
def rot90(self: Array, k: int = 1, dims: Any = (0, 1)) -> Any:
    """Rotated by `k` quarter turns, from the first of the two dimensions to the second."""
    flip, turns = OPS["flip"].kernel, k % 4
    first, second = _rotated(self, dims)
    if turns == 0:
        return self.copy(order="C")
    if turns == 2:
        return flip(self, (first, second))
    return marked(flip(self, (second if turns == 1 else first,)).swapaxes(first, second))


def _rotated(array: Any, dims: Any) -> tuple[int, int]:
    """The two dimensions; RuntimeError as PyTorch checks them."""
    found = tuple(dims)
    if len(found) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(found)}")
    if array.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {array.ndim}")
    first, second = (wrap_dim(d, array.ndim) for d in found)
    if first == second:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {found[0]} and dim1 = {found[1]}")
    return first, second


@composite("fliplr")
def fliplr(self: Tensor) -> Tensor:
    if self.dim() < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return self.flip(1)


@composite("flipud")
def flipud(self: Tensor) -> Tensor:
    if self.dim() < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return self.flip(0)


@composite("argwhere")
def argwhere(self: Tensor) -> Tensor:
    return self.nonzero()


@composite("is_nonzero")
def is_nonzero(self: Tensor) -> bool:
    """Whether the one element is not 0."""
    if self.numel() != 1:
        raise RuntimeError(
            "Boolean value of Tensor with "
            + ("no values is ambiguous" if not self.numel() else "more than one value is ambiguous")
        )
    return bool(self)


@composite("is_same_size")
def is_same_size(self: Tensor, other: Tensor) -> bool:
    return self.shape == other.shape


@composite("range", method=False)
def range_(start: float, end: float | None = None, step: float = 1, **options: Any) -> Tensor:
    """Numbers from `start` to `end`, which is among them; deprecated, with a warning."""
    import warnings

    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=3,
    )
    if end is None:
        start, end = 0, start
    if step == 0:
        raise RuntimeError("step must be nonzero")
    count = math.floor((end - start) / step) + 1
    out = options.pop("out", None)
    options.setdefault("dtype", dtypes.get_default_dtype() if out is None else out.dtype)
    found = FUNCTIONS["arange"](count, **options) * step + start
    return found if out is None else filled(out, found._array)


# -- windows of signals


def _window(name: str, shape: Any) -> None:
    @composite(name, method=False)
    def window(window_length: int, periodic: bool = True, *args: Any, dtype: Any = None, **options: Any) -> Tensor:
        """The window as a vector; periodic ones are one longer, without the last."""
        check_device(options.get("device"))
        target = dtype or dtypes.get_default_dtype()
        if window_length <= 1:
            return FUNCTIONS["ones"](max(window_length, 0), dtype=target, **options)
        n = np.arange(window_length, dtype=np.float64)
        found = shape(n / (window_length if periodic else window_length - 1), *args)
        made = new_tensor(np.asarray(found, target.numpy))
        return made.requires_grad_() if options.get("requires_grad") else made


_window("hann_window", lambda x: 0.5 - 0.5 * np.cos(2 * np.pi * x))
_window("hamming_window", lambda x, alpha=0.54, beta=0.46: alpha - beta * np.cos(2 * np.pi * x))
_window("blackman_window", lambda x: 0.42 - 0.5 * np.cos(2 * np.pi * x) + 0.08 * np.cos(4 * np.pi * x))
_window("bartlett_window", lambda x: 1 - np.abs(2 * x - 1))


@view_op("t", self=lambda grad: grad.t())
def t(self: Any) -> Array:
    array: Array = self
    if array.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {array.ndim}D")
    return array.T.view(ReorderedArray)


@view_op("transpose", self=lambda grad, dim0, dim1: grad.transpose(dim0, dim1))
def transpose(self: Any, dim0: int, dim1: int) -> Array:
    array: Array = self
    if array.ndim == 0:
        wrap_dim(dim0, 0), wrap_dim(dim1, 0)
        return array.view()
    return array.swapaxes(wrap_dim(dim0, array.ndim), wrap_dim(dim1, array.ndim)).view(ReorderedArray)


def _permute_back(grad: Tensor, dims: Sequence[int]) -> Tensor:
    n = len(dims)
    back = [0] * n
    for i, d in enumerate(dims):
        back[d % n] = i
    return _permute(grad, tuple(back))


@view_op("permute", method=False, function=False, self=_permute_back)
def _permute(self: Any, dims: tuple[int, ...]) -> Array:
    array: Array = self
    if len(dims) != array.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {array.ndim} is not equal to len(dims) = {len(dims)}"
        )
    wrapped = [wrap_dim(d, array.ndim) for d in dims]
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return array.transpose(wrapped).view(ReorderedArray)


@composite("permute")
def permute(self: Tensor, *order: object, dims: object = None) -> Tensor:
    return _permute(self, some_ints(order, "dims", dims))


@composite("movedim")
def movedim(self: Tensor, source: Any, destination: Any) -> Tensor:
    n = self._array.ndim
    src = [wrap_dim(d, n) for d in ([source] if isinstance(source, int) else source)]
    dst = [wrap_dim(d, n) for d in ([destination] if isinstance(destination, int) else destination)]
    if len(src) != len(dst):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({sizes(src)} dims) should contain the same number of dims as destination ({sizes(dst)} dims)"
        )
    for name, dims in (("source", src), ("destination", dst)):
        if len(set(dims)) != len(dims):
            given = source if name == "source" else destination
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({sizes(given)})")
    if n == 0:
        return FUNCTIONS["alias"](self)
    order = [d for d in range(n) if d not in src]
    for place, d in sorted(zip(dst, src, strict=True)):
        order.insert(place, d)
    return _permute(self, tuple(order))


FUNCTIONS["moveaxis"] = movedim
attach("moveaxis", movedim)
FUNCTIONS["swapdims"] = FUNCTIONS["transpose"]
setattr(Tensor, "swapdims", vars(Tensor)["transpose"])  # noqa: B010  Tensor's methods are unknown to the type checker


@composite("swapaxes")
def swapaxes(self: Tensor, axis0: int, axis1: int) -> Tensor:
    return transpose(self, axis0, axis1)


def _numpy_t(self: Tensor) -> Tensor:
    return _permute(self, tuple(range(self._array.ndim - 1, -1, -1)))


def _matrix_t(self: Tensor, name: str) -> Tensor:
    if self._array.ndim == 1:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return transpose(self, -2, -1) if self._array.ndim else self


def _h(self: Tensor) -> Tensor:
    ndim = self._array.ndim
    if ndim not in (0, 2):
        batched = " For batches of matrices, consider using tensor.mH" if ndim > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.{batched}")
    return _matrix_t(self, "H").conj()


attach("T", property(_numpy_t))
attach("mT", property(lambda self: _matrix_t(self, "mT")))
attach("mH", property(lambda self: _matrix_t(self, "mH").conj()))
attach("H", property(_h))


@composite("adjoint")
def adjoint(self: Tensor) -> Tensor:
    return _matrix_t(self, "adjoint()").conj()


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
def diag_embed(self: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """Matrices whose diagonal is the last dimension; the others are 0."""
    shape, first, second = _embedded(self.shape, offset, dim1, dim2)
    found: Array = np.zeros(shape, self.dtype)
    diagonal_of(found, offset, first, second)[...] = self
    return found


#: By the op of a diagonal, what a copy of one is recorded as.
_COPIED: dict[Op, Op] = {}


@composite("diagonal_copy", method=False, out=RESIZED)
def diagonal_copy(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A diagonal as a copy. The view's kernel and gradient are used; the node has its own name."""
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
def trace(self: Array) -> Array:
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
