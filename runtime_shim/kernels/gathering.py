"""Ops that pick or place elements along a dimension: index_select, gather, scatter and the like."""

from __future__ import annotations

from typing import Any

import numpy as np

from guardfix.runtime_shim._tensor import Tensor
from guardfix.runtime_shim.dispatch import composite, op
from guardfix.runtime_shim.dtypes import Array, sizes, wrap_dim
from guardfix.runtime_shim.operation import FUNCTIONS, OPS


@op(
    "index_select",
    tensor_params=("self", "index"),
    self=lambda grad, self_shape, dim, index: FUNCTIONS["zeros"](self_shape, dtype=grad.dtype).index_add_(
        dim, index, grad
    ),
)
def index_select(self: Any, dim: int, index: Any) -> Array:
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    d = wrap_dim(dim, self.ndim)
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if self.ndim == 0:
        if index.size and (index != 0).any():
            raise IndexError("index out of range in self")
        return self.copy()
    if index.size and ((index < 0) | (index >= self.shape[d])).any():
        raise IndexError("index out of range in self")
    return np.take(self, index.reshape(-1), axis=d)


def _along(index: Any, dim: int) -> tuple[Any, ...]:
    grid = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grid[dim] = index
    return tuple(grid)


@op(
    "gather",
    tensor_params=("self", "index"),
    self=lambda grad, self, dim, index: FUNCTIONS["zeros"](self._array.shape, dtype=grad.dtype).scatter_add_(
        dim, index, grad
    ),
)
def gather(self: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Array:
    if sparse_grad:
        raise NotImplementedError("the shim has no sparse gradients; call gather without sparse_grad")
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError("gather(): Expected dtype int32/int64 for index")
    d = wrap_dim(dim, self.ndim)
    if max(self.ndim, 1) != max(index.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    if self.ndim == 0 or index.ndim == 0:
        _check_index(index, self.size, d, "gather")
        return self.reshape(-1)[index]
    _check_index(index, self.shape[d], d, "gather")
    return self[_along(index, d)]


def _check_index(index: Any, size: int, dim: int, name: str) -> None:
    bad = (index < 0) | (index >= size)
    if bad.any():
        raise RuntimeError(f"index {index[bad].flat[0]} is out of bounds for dimension {dim} with size {size}")


def _check_source(self: Any, index: Any, source: Any, d: int, name: str) -> None:
    if source.ndim and index.size != source.shape[d]:
        raise RuntimeError(
            f"{name}(): Number of indices ({index.size}) should be equal to source.size(dim): ({source.shape[d]}), "
            f"for dim: {d}"
        )


def _scatter_kernel(self: Any, dim: int, index: Any, src: Any, add: bool) -> Array:
    d = wrap_dim(dim, self.ndim)
    found = self.copy()
    if self.ndim == 0:
        return found + src if add else np.asarray(src).copy()
    _check_index(index, self.shape[d], d, "scatter")
    where = _along(index, d)
    if isinstance(src, np.ndarray) and src.ndim:
        if src.dtype != self.dtype:
            raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
        src = src[tuple(slice(n) for n in index.shape)]
    if add:
        np.add.at(found, where, src)
    else:
        found[where] = src
    return found


@op(
    "scatter",
    inplace=True,
    method=False,
    function=False,
    leak=1,
    tensor_params=("self", "index", "src"),
    self=lambda grad, dim, index: grad.scatter(dim, index, 0),
    src=lambda grad, dim, index: grad.gather(dim, index),
)
def _scatter_src(self: Any, dim: int, index: Any, src: Any) -> Array:
    return _scatter_kernel(self, dim, index, src, False)


@op(
    "scatter_value",
    node="ScatterBackward1",
    inplace=True,
    method=False,
    function=False,
    leak=1,
    tensor_params=("self", "index"),
    self=lambda grad, dim, index: grad.scatter(dim, index, 0),
)
def _scatter_value(self: Any, dim: int, index: Any, value: Any) -> Array:
    return _scatter_kernel(self, dim, index, value, False)


_MISSING = object()


def _scatter_form(src: Any, value: Any) -> tuple[Any, Any]:
    if src is _MISSING:
        src = value
    return (_scatter_src if isinstance(src, Tensor) else _scatter_value), src


@composite("scatter")
def scatter(self: Tensor, dim: int, index: Tensor, src: Any = _MISSING, *, value: Any = _MISSING) -> Tensor:
    """A copy with `src` (a tensor or number) written where `index` points along `dim`."""
    form, src = _scatter_form(src, value)
    return form(self, dim, index, src)


@composite("scatter_", function=False)
def scatter_(self: Tensor, dim: int, index: Tensor, src: Any = _MISSING, *, value: Any = _MISSING) -> Tensor:
    form, src = _scatter_form(src, value)
    return form.inplace(self, dim, index, src)


@op(
    "scatter_add",
    inplace=True,
    leak=1,
    tensor_params=("self", "index", "src"),
    self=lambda grad: grad,
    src=lambda grad, dim, index: grad.gather(dim, index),
)
def scatter_add(self: Any, dim: int, index: Any, src: Any) -> Array:
    return _scatter_kernel(self, dim, index, src, True)


@op(
    "index_add",
    inplace=True,
    leak=2,
    tensor_params=("self", "index", "source"),
    self=lambda grad: grad,
    source=lambda grad, dim, index, alpha: grad.index_select(dim, index) * alpha,
)
def index_add(self: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Array:
    found = self.copy()
    d = wrap_dim(dim, self.ndim)
    _check_source(self, index, source, d, "index_add_")
    if self.ndim == 0:
        return found + np.asarray(source * alpha).sum(dtype=self.dtype)
    if index.ndim == 0:
        index = index.reshape(1)
    if source.shape[:d] + source.shape[d + 1 :] != self.shape[:d] + self.shape[d + 1 :]:
        raise RuntimeError(
            f"source tensor shape must match self tensor shape, excluding the specified dimension. Got "
            f"self.shape = {sizes(self.shape)} source.shape = {sizes(source.shape)}"
        )
    np.add.at(found, (slice(None),) * d + (index,), source * alpha if alpha != 1 else source)
    return found


@op(
    "index_fill",
    inplace=True,
    leak=2,
    tensor_params=("self", "index"),
    self=lambda grad, dim, index: grad.index_fill(dim, index, 0),
)
def index_fill(self: Any, dim: int, index: Any, value: Any) -> Array:
    found = self.copy()
    found[(slice(None),) * wrap_dim(dim, self.ndim) + (index,)] = value
    return found


@op(
    "index_copy",
    inplace=True,
    leak=1,
    tensor_params=("self", "index", "source"),
    self=lambda grad, dim, index: grad.index_fill(dim, index, 0),
    source=lambda grad, dim, index: grad.index_select(dim, index),
)
def index_copy(self: Any, dim: int, index: Any, source: Any) -> Array:
    found = self.copy()
    found[(slice(None),) * wrap_dim(dim, self.ndim) + (index,)] = source
    return found


for _name in ("index_add", "index_copy", "scatter", "scatter_add"):
    OPS[_name].stands_apart = True


def _index_fill_in_place(self: Any, dim: int, index: Any, value: Any) -> None:
    self[(slice(None),) * wrap_dim(dim, self.ndim) + (index,)] = value


# PyTorch lets it write to an expanded tensor, with a warning.
OPS["index_fill"].checks_overlap = False
OPS["index_fill"].inplace_kernel = _index_fill_in_place


@composite("take_along_dim")
def take_along_dim(self: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    if dim is None:
        return self.reshape(-1).gather(0, indices.reshape(-1))
    d = wrap_dim(dim, self._array.ndim)
    shape = list(np.broadcast_shapes(self._array.shape[:d], indices._array.shape[:d]))
    shape += [self._array.shape[d]]
    shape += np.broadcast_shapes(self._array.shape[d + 1 :], indices._array.shape[d + 1 :])
    index_shape = [*shape[:d], indices._array.shape[d], *shape[d + 1 :]]
    return gather(self.expand(shape), d, indices.expand(index_shape))
