"""Ops that pick or place elements along a dimension: index_select, gather, scatter and the like."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, sizes, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, EXPECTED_OUT, RESIZED, SAME_SCALAR, OutRule
from ..dispatch.registration import composite, inner_op, op


@op(
    "index_select",
    computes=ANY_DTYPE,
    out=OutRule(SAME_SCALAR, resized_first=True, apart=True),
    tensor_params=("self", "index"),
    self=lambda grad, self_shape, dim, index: FUNCTIONS["zeros"](self_shape, dtype=grad.dtype).index_add_(
        dim, index, grad
    ),
)
def index_select(self: Array, dim: int, index: Array) -> Array:
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    d = wrap_dim(dim, self.ndim)
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if self.ndim == 0:
        if index.size != 1:
            raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)")
        if (index != 0).any():
            raise IndexError("index out of range in self")
        return self.copy()
    bad = (index < 0) | (index >= self.shape[d])
    if bad.any():
        if self.ndim > 1 and self.shape[d] == 0:
            raise RuntimeError("index_select(): self indexing axis dim should be positive")
        if self.ndim == 1 or d == 0:
            raise IndexError("index out of range in self")
        raise RuntimeError(f"INDICES element is out of DATA bounds, id={index[bad].flat[0]} axis_dim={self.shape[d]}")
    return np.take(self, index.reshape(-1), axis=d)


def _along(index: Any, dim: int) -> tuple[Any, ...]:
    grid = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grid[dim] = index
    return tuple(grid)


@op(
    "gather",
    computes=ANY_DTYPE,
    out=OutRule(EXPECTED_OUT, resized_first=True, apart=True),
    tensor_params=("self", "index"),
    self=lambda grad, self, dim, index: FUNCTIONS["zeros"](self._array.shape, dtype=grad.dtype).scatter_add_(
        dim, index, grad
    ),
)
def gather(self: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> Array:
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError("gather(): Expected dtype int32/int64 for index")
    d = wrap_dim(dim, self.ndim)
    if not index.size:
        return np.empty(index.shape, self.dtype)
    if max(self.ndim, 1) != max(index.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    shape, wanted = _nonempty(self), _nonempty(index)
    for i in range(len(wanted)):
        if i != d and wanted[i] > shape[i]:
            raise RuntimeError(
                f"Size does not match at dimension {i} expected index {sizes(index.shape)} to be no larger than self "
                f"{sizes(self.shape)} apart from dimension {d}"
            )
    _check_index(index, shape[d], d)
    found: Array = self.reshape(shape)[_along(index.reshape(wanted), d)]
    return np.ascontiguousarray(found).reshape(index.shape)


def _nonempty(array: Any) -> tuple[int, ...]:
    """The shape; that of a vector if there are no dimensions."""
    return array.shape or (1,)


def _check_index(index: Any, size: int, dim: int) -> None:
    bad = (index < 0) | (index >= size)
    if bad.any():
        raise RuntimeError(f"index {index[bad].flat[0]} is out of bounds for dimension {dim} with size {size}")


def _without(array: Any, d: int) -> tuple[int, ...]:
    return tuple(array.shape[:d] + array.shape[d + 1 :])


def _scatter_kernel(self: Any, dim: int, index: Any, src: Any, add: bool) -> Array:
    d = wrap_dim(dim, self.ndim)
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index")
    if isinstance(src, np.ndarray) and src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    found: Array = self.copy()
    if not index.size:
        return found
    _check_scatter(self, d, index, src)
    shape, wanted = _nonempty(self), _nonempty(index)
    _check_index(index, shape[d], d)
    where = _along(index.reshape(wanted), d)
    if isinstance(src, np.ndarray):
        src = src.reshape(_nonempty(src))[tuple(slice(n) for n in wanted)]
    target = found.reshape(shape)  # a copy is contiguous: this shares its memory
    if add:
        np.add.at(target, where, src)
    else:
        target[where] = src
    return found


def _check_scatter(self: Any, d: int, index: Any, src: Any) -> None:
    """RuntimeError unless `index` fits in `self` apart from dimension `d`, and in `src`."""
    shape, wanted = _nonempty(self), _nonempty(index)
    given = _nonempty(src) if isinstance(src, np.ndarray) else None
    for name, other in (("self", shape), ("src", given)):
        if other is not None and len(other) != len(wanted):
            raise RuntimeError(f"Index tensor must have the same number of dimensions as {name} tensor")
    too_large = any(n > shape[i] for i, n in enumerate(wanted) if i != d)
    if too_large or (given is not None and any(n > given[i] for i, n in enumerate(wanted))):
        tail = "" if given is None else f" and to be no larger size than src {sizes(src.shape)}"
        raise RuntimeError(
            f"Expected index {sizes(index.shape)} to be no larger than self {sizes(self.shape)} apart from dimension "
            f"{d}{tail}"
        )


@inner_op(
    "scatter",
    out=OutRule(resized_first=True, apart=True),
    inplace=True,
    leak=1,
    tensor_params=("self", "index", "src"),
    self=lambda grad, dim, index: grad.scatter(dim, index, 0),
    src=lambda grad, dim, index: grad.gather(dim, index),
)
def _scatter_src(self: Array, dim: int, index: Array, src: Array) -> Array:
    return _scatter_kernel(self, dim, index, src, False)


@inner_op(
    "scatter_value",
    node="ScatterBackward1",
    inplace=True,
    leak=1,
    tensor_params=("self", "index"),
    self=lambda grad, dim, index: grad.scatter(dim, index, 0),
)
def _scatter_value(self: Array, dim: int, index: Array, value: Array) -> Array:
    return _scatter_kernel(self, dim, index, value, False)


_MISSING = object()


def _no_reduced_gradient(grad: Tensor) -> Tensor:
    raise RuntimeError("derivative for aten::scatter.reduce is not implemented")


def _scatter_form(src: object, value: object) -> tuple[Any, Any]:
    if src is _MISSING:
        src = value
    return (_scatter_src if isinstance(src, Tensor) else _scatter_value), src


@inner_op(
    "scatter_reducing",
    numbers=("src",),
    inplace=True,
    title="scatter",
    tensor_params=("self", "index", "src"),
    self=_no_reduced_gradient,
    src=_no_reduced_gradient,
)
def _scatter_by_reducing(self: Array, dim: int, index: Array, src: Any, reduce: str) -> Array:
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    d = wrap_dim(dim, self.ndim)
    found: Array = self.copy()
    if not index.size:
        return found
    if isinstance(src, np.ndarray):
        _check_scatter(self, d, index, src)
    shape, wanted = _nonempty(self), _nonempty(index)
    _check_index(index, shape[d], d)
    if isinstance(src, np.ndarray):
        src = src.reshape(_nonempty(src))[tuple(slice(n) for n in wanted)]
    combine: Any = np.add if reduce == "add" else np.multiply
    combine.at(found.reshape(shape), _along(index.reshape(wanted), d), np.asarray(src).astype(self.dtype))
    return found


def _scatter(name: str, writes: bool, **published: Any) -> None:
    @composite(name, **published)
    def scatter(
        self: Tensor,
        dim: int,
        index: Tensor,
        src: object = _MISSING,
        *,
        value: object = _MISSING,
        reduce: str | None = None,
    ) -> Tensor:
        """`src` (a tensor or number) written, added or multiplied where `index` points along `dim`."""
        form: Any
        form, src = _scatter_form(src, value)
        how = () if reduce is None else (reduce,)
        form = form if reduce is None else _scatter_by_reducing
        return (form.inplace if writes else form)(self, dim, index, src, *how)


_scatter("scatter", False, out=RESIZED)
_scatter("scatter_", True, function=False)


@op(
    "scatter_add",
    computes=ANY_DTYPE,
    out=OutRule(resized_first=True, apart=True),
    numbers=("src",),
    inplace=True,
    leak=1,
    tensor_params=("self", "index", "src"),
    self=lambda grad: grad,
    src=lambda grad, dim, index: grad.gather(dim, index),
)
def scatter_add(self: Array, dim: int, index: Array, src: Any) -> Array:
    return _scatter_kernel(self, dim, index, src, True)


def _selected(grad: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """The gradient of what was put at places of a dimension."""
    if source.dim():
        return grad.index_select(dim, index).expand_as(source)
    return grad.index_select(dim, index.squeeze(0))


@op(
    "index_add",
    computes=ANY_DTYPE,
    out=OutRule(resized_first=True, apart=True),
    inplace=True,
    leak=2,
    tensor_params=("self", "index", "source"),
    self=lambda grad: grad,
    source=lambda grad, dim, index, source, alpha: _selected(grad, dim, index, source) * alpha,
)
def index_add(self: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Array:
    d = wrap_dim(dim, self.ndim)
    _check_index_add(self, d, index, source)
    found: Array = self.copy()
    if self.ndim == 0:
        return found + np.asarray(source * alpha).sum(dtype=self.dtype)
    np.add.at(found, (slice(None),) * d + (index.reshape(-1),), source * alpha if alpha != 1 else source)
    return found


def _check_index_add(self: Any, d: int, index: Any, source: Any) -> None:
    if index.ndim > 1:
        raise IndexError(
            f"index_add_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: "
            f"{dtypes.of(index).scalar_name} and size: {sizes(index.shape)}"
        )
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError(
            f"index_add_(): Expected dtype int32/int64 for index but got: {dtypes.of(index).scalar_name}"
        )
    if source.dtype != self.dtype:
        raise RuntimeError(
            f"index_add_(): self ({dtypes.of(self).scalar_name}) and source ({dtypes.of(source).scalar_name}) must "
            "have the same scalar type"
        )
    if d and d >= source.ndim:
        raise RuntimeError(
            f"index_add_(): Indexing dim {d} is out of bounds of the source tensor with dim {source.ndim}"
        )
    if index.size != (source.shape[d] if source.ndim else 1):
        if not source.ndim:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise RuntimeError(
            f"index_add_(): Number of indices ({index.size}) should be equal to source.size(dim): "
            f"({source.shape[d]}), for dim: {d}"
        )
    both = self.ndim and source.ndim
    if (_without(self, d) != _without(source, d)) if both else self.shape != source.shape:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
            f"self.shape = {sizes(self.shape)} source.shape = {sizes(source.shape)}"
        )
    if self.ndim > 1:
        _check_index(index, self.shape[d], d)
    elif ((index < 0) | (index >= _nonempty(self)[d])).any():
        raise IndexError("index out of range in self")


def _fill(target: Any, dim: int, index: Any, value: Any) -> None:
    d = wrap_dim(dim, target.ndim)
    if np.ndim(value):
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{np.ndim(value)} dimension(s)."
        )
    if isinstance(value, complex) and target.dtype.kind != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    size = _nonempty(target)[d]
    bad = (index < -size) | (index >= size)
    if bad.any():
        raise IndexError(f"index {index[bad].flat[0]} is out of bounds for dimension {d} with size {size}")
    if target.ndim:
        target[(slice(None),) * d + (index,)] = value
    elif index.size:
        target[...] = value


def _index_fill_kernel(self: Tensor, dim: int, index: Tensor, value: Any) -> Array:
    found = self.copy("K")
    _fill(found, dim, index, value)
    return found


def _index_fill_form(tensors: tuple[str, ...], node: str, **derivatives: Any) -> Any:
    return op(
        "index_fill",
        computes=ANY_DTYPE,
        out=RESIZED,
        node=node,
        inplace_kernel=_fill,
        checks_overlap=False,  # PyTorch lets it write to an expanded tensor, with a warning
        inplace=True,
        method=False,
        function=False,
        leak=2,
        tensor_params=tensors,
        self=lambda grad, dim, index: grad.index_fill(dim, index, 0),
        **derivatives,
    )(_index_fill_kernel)


_index_fill_tensor = _index_fill_form(
    ("self", "index", "value"), "IndexFillBackward1", value=lambda grad, dim, index: grad.index_select(dim, index).sum()
)
_index_fill_number = _index_fill_form(("self", "index"), "IndexFillBackward0")


@composite("index_fill")
def index_fill(self: Tensor, dim: int, index: Tensor, value: object) -> Tensor:
    """A copy with `value` (a number or 0-dim tensor) at indices along a dimension."""
    form = _index_fill_tensor if isinstance(value, Tensor) else _index_fill_number
    return form(self, dim, index, value)


@composite("index_fill_", function=False)
def index_fill_(self: Tensor, dim: int, index: Tensor, value: object) -> Tensor:
    form: Any = _index_fill_tensor if isinstance(value, Tensor) else _index_fill_number
    return form.inplace(self, dim, index, value)


@op(
    "index_copy",
    computes=ANY_DTYPE,
    out=OutRule(resized_first=True, apart=True),
    inplace=True,
    leak=1,
    tensor_params=("self", "index", "source"),
    self=lambda grad, dim, index: grad.index_fill(dim, index, 0),
    source=lambda grad, dim, index, source: _selected(grad, dim, index, source),
)
def index_copy(self: Array, dim: int, index: Array, source: Array) -> Array:
    d = wrap_dim(dim, self.ndim)
    _check_index_copy(self, d, index, source)
    found: Array = self.copy()
    target = found.reshape(_nonempty(self))
    place = (slice(None),) * d + (index.reshape(-1),)
    target[place] = source.reshape(target[place].shape)
    return found


def _check_index_copy(self: Any, d: int, index: Any, source: Any) -> None:
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if not source.ndim and index.size != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {index.size})")
    if source.ndim and self.ndim and source.ndim != self.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({source.ndim}), destination dimensionality ({self.ndim})"
        )
    if index.dtype != np.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {dtypes.of(index).scalar_name}")
    if source.dtype != self.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{dtypes.of(self).scalar_name} and (source) {dtypes.of(source).scalar_name}"
        )
    ours, theirs = _without(self, d), _without(source, d)
    if ours != theirs:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{', '.join(map(str, ours))} at dimension {d} and source slice shape: {', '.join(map(str, theirs))} at "
            f"dimension 0."
        )
    if source.ndim and index.size != source.shape[d]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.size}) should be equal to source.size(dim) ({source.shape[d]})"
        )
    size = _nonempty(self)[d]
    bad = (index < 0) | (index >= size)
    if bad.any():
        raise IndexError(
            f"index_copy_(): index {index[bad].flat[0]} is out of bounds for dimension {d} with size {size}"
        )


@composite("take_along_dim", out=RESIZED)
def take_along_dim(self: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    if dim is None:
        return self.reshape(-1).gather(0, indices.reshape(-1))
    if self._array.ndim != indices._array.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{self._array.ndim} dimensions for input, and {indices._array.ndim} dimensions for indices"
        )
    if indices._array.dtype != np.int64:
        given = indices.dtype.scalar_name
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {given}")
    d = wrap_dim(dim, self._array.ndim)
    shape = list(np.broadcast_shapes(self._array.shape[:d], indices._array.shape[:d]))
    shape += [self._array.shape[d]]
    shape += np.broadcast_shapes(self._array.shape[d + 1 :], indices._array.shape[d + 1 :])
    index_shape = [*shape[:d], indices._array.shape[d], *shape[d + 1 :]]
    return gather(self.expand(shape), d, indices.expand(index_shape))
