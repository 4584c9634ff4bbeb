"""Reductions and cumulative ops. Derivatives as in derivatives.yaml and FunctionsManual.cpp."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, wrap_dim
from ..core.error_texts import invalid_combination
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor, new_tensor
from ..dispatch.op_description import (
    ANY_DTYPE,
    RESIZED,
    OutRule,
    any_dtype,
)
from ..dispatch.registration import composite, inner_op, op
from .elementwise import conj

Dims = tuple[int, ...]

# numpy's stubs do not know `axis` as a tuple.
_add: Any = np.add
_multiply: Any = np.multiply


def dims_of(dim: Any, ndim: int) -> Dims:
    """Dimensions to reduce, counted from the front; all of them for None and ()."""
    if dim is None:
        return tuple(range(ndim))
    if isinstance(dim, int | np.integer):
        dim = int(dim)
        return (wrap_dim(dim, ndim),) if ndim else (wrap_dim(dim, 0),)[:0]
    if isinstance(dim, str | float):
        from .views import flatten_ints

        flatten_ints((dim,))
    found = tuple(wrap_dim(int(d), ndim) for d in dim)
    if len(set(found)) != len(found):
        repeated = next(d for d in found if found.count(d) > 1)
        raise RuntimeError(f"dim {repeated} appears multiple times in the list of dims")
    return found if found and ndim else tuple(range(ndim))


def restore(t: Tensor, shape: tuple[int, ...], dim: object, keepdim: bool) -> Tensor:
    """A reduced tensor with the reduced dimensions put back as 1."""
    if not keepdim and shape:
        for d in sorted(dims_of(dim, len(shape))):
            t = t.unsqueeze(d)
    return t


def sum_dtype(array: Any, dtype: dtypes.dtype | None) -> Any:
    if dtype is not None:
        return dtype.numpy
    return np.int64 if array.dtype.kind in "biu" else None


def in_dtype(array: Any, dtype: dtypes.dtype | None) -> Any:
    """The operand of a reduction that computes in `dtype`, where numpy would not convert by itself."""
    return array if dtype is None or array.dtype == dtype.numpy else array.astype(dtype.numpy)


def contiguous(found: Any) -> Array:
    """The result of a reduction; numpy keeps the order of the operand's memory, PyTorch doesn't."""
    if type(found) is not np.ndarray or not found.ndim:
        return found
    if not found.flags.c_contiguous:
        found = found.copy()
    # Of a dimension of size 1 numpy leaves any stride that there was.
    return np.ndarray(found.shape, found.dtype, found) if 1 in found.shape else found


def _expanded(grad: Tensor, self_shape: tuple[int, ...], dim: object, keepdim: bool) -> Tensor:
    return restore(grad, self_shape, dim, keepdim).expand(self_shape)


@inner_op(
    "sum_all",
    out=OutRule(any_dtype, resized_first=True),
    title="sum",
    node="SumBackward0",
    leak=1,
    self=lambda grad, self_shape: grad.expand(self_shape),
)
def sum_all(self: Array, dtype: dtypes.dtype | None = None) -> Array:
    return _add.reduce(in_dtype(self, dtype), axis=None, dtype=sum_dtype(self, dtype))


@inner_op(
    "sum_dim", out=OutRule(any_dtype, resized_first=True), title="sum", node="SumBackward1", leak=1, self=_expanded
)
def sum_dim(self: Array, dim: Array, keepdim: bool = False, dtype: dtypes.dtype | None = None) -> Array:
    axes = dims_of(dim, self.ndim)
    return contiguous(_add.reduce(in_dtype(self, dtype), axis=axes, keepdims=keepdim, dtype=sum_dtype(self, dtype)))


@composite("sum")
def sum_(
    self: Tensor,
    dim: object = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
    axis: object = None,
    keepdims: bool = False,
    out: Tensor | None = None,
) -> Any:
    dim, keepdim = axis if dim is None else dim, keepdim or keepdims
    if out is not None:
        return sum_dim(self, dim, keepdim, dtype or out.dtype, out=out)
    return sum_all(self, dtype) if dim is None and not keepdim else sum_dim(self, dim, keepdim, dtype)


def _mean_kernel(self: Any, axes: Any, keepdim: bool, dtype: dtypes.dtype | None) -> Array:
    if dtype is not None:
        self = self.astype(dtype.numpy)
    if self.dtype.kind not in "fc":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            f"{dtypes.of(self).scalar_name}"
        )
    if axes is None:
        count = self.size
    else:
        axes = dims_of(axes, self.ndim)
        count = math.prod([self.shape[a] for a in axes])
    total = contiguous(_add.reduce(self, axes, None, None, keepdim))
    return np.true_divide(total, self.dtype.type(count)) if count else np.full_like(total, np.nan)


def elements_reduced(shape: tuple[int, ...], dim: object) -> int:
    n = 1
    for d in dims_of(dim, len(shape)):
        n *= shape[d]
    return n


def _mean_leak(self: Tensor, *args: object) -> int:
    """A sum that is then divided; of 16 bits they are computed apart and copied."""
    return 1 if self._array.dtype.itemsize == 2 and self._array.dtype.kind in "fV" else 2


@inner_op(
    "mean_all",
    title="mean",
    node="MeanBackward0",
    leak=_mean_leak,
    refuses="sum",
    self=lambda grad, self_shape: grad.expand(self_shape) / elements_reduced(self_shape, None),
)
def mean_all(self: Array, dtype: dtypes.dtype | None = None) -> Array:
    return _mean_kernel(self, None, False, dtype)


def _refuses_sum(self: Tensor, dim: object, *args: object) -> str:
    dims_of(dim, self._array.ndim)  # says first what is wrong with them
    return "sum"


@inner_op(
    "mean_dim",
    title="mean",
    node="MeanBackward1",
    leak=_mean_leak,
    refuses=_refuses_sum,
    self=lambda grad, self_shape, dim, keepdim: (
        _expanded(grad, self_shape, dim, keepdim) / elements_reduced(self_shape, dim)
    ),
)
def mean_dim(self: Array, dim: Array, keepdim: bool = False, dtype: dtypes.dtype | None = None) -> Array:
    return _mean_kernel(self, dim, keepdim, dtype)


@composite("mean", out=RESIZED, computed_in_out=lambda self, *_: self._array.dtype.kind in "fcV")
def mean(
    self: Tensor,
    dim: object = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
    axis: object = None,
    keepdims: bool = False,
) -> Any:
    dim, keepdim = axis if dim is None else dim, keepdim or keepdims
    return mean_all(self, dtype) if dim is None and not keepdim else mean_dim(self, dim, keepdim, dtype)


def _prod_back(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    if self._array.ndim == 0:
        return grad.clone()
    zeros = int((self._array == 0).sum())
    if zeros == 0:
        return grad * conj(result / self)
    flat = self.reshape(-1)
    others = [FUNCTIONS["cat"]([flat[:i], flat[i + 1 :]]).prod() for i in range(flat.numel())]
    return (grad * conj(FUNCTIONS["stack"](others))).reshape(self._array.shape)


@inner_op("prod_all", title="prod", node="ProdBackward0", leak=1, self=_prod_back)
def prod_all(self: Array, dtype: dtypes.dtype | None = None) -> Array:
    return _multiply.reduce(in_dtype(self, dtype), axis=None, dtype=sum_dtype(self, dtype))


def _prod_dim_back(grad: Tensor, self: Tensor, result: Tensor, dim: int, keepdim: bool) -> Tensor:
    if not keepdim and self._array.ndim:
        grad, result = grad.unsqueeze(dim), result.unsqueeze(dim)
    if not (self._array == 0).any():
        return grad * conj(result / self)
    parts = []
    n = self._array.shape[dim]
    for i in range(n):
        rest = FUNCTIONS["cat"]([self.narrow(dim, 0, i), self.narrow(dim, i + 1, n - i - 1)], dim)
        parts.append(rest.prod(dim, True))
    return grad * conj(FUNCTIONS["cat"](parts, dim))


@inner_op("prod_dim", title="prod", node="ProdBackward1", leak=1, self=_prod_dim_back)
def prod_dim(self: Array, dim: int, keepdim: bool = False, dtype: dtypes.dtype | None = None) -> Array:
    axes, computed = dims_of(dim, self.ndim), sum_dtype(self, dtype)
    return contiguous(_multiply.reduce(in_dtype(self, dtype), axis=axes, keepdims=keepdim, dtype=computed))


@composite("prod", out=RESIZED, computed_in_out=lambda *_: True)
def prod(
    self: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Any:
    if isinstance(dim, tuple | list):
        raise invalid_combination("prod", (self, dim))
    return prod_all(self, dtype) if dim is None else prod_dim(self, dim, keepdim, dtype)


# -- logic and counting


def _logic(name: str, ufunc: Any) -> None:
    def kernel(self: Tensor, dim: Any = None, keepdim: bool = False) -> Array:
        found = contiguous(ufunc.reduce(self.astype(bool), axis=dims_of(dim, self.ndim), keepdims=keepdim))
        return found.astype(np.uint8) if self.dtype == np.uint8 else found

    def check(title: str, want: Any, got: Any) -> None:
        if got.char not in "?B":
            found = dtypes.BY_CHAR[got.char].scalar_name
            raise RuntimeError(f"{name} only supports bool tensor for result, got: {found}")

    op(name, computes=ANY_DTYPE, out=OutRule(check, resized_first=True), leak=1)(kernel)


_logic("all", np.logical_and)
_logic("any", np.logical_or)


def _count_below(self: Tensor, dim: object = None) -> Tensor:
    if dim is not None:
        return (self != 0).sum(dim)
    return new_tensor(np.asarray(np.count_nonzero(self._array), np.int64))


@op("count_nonzero", computes=ANY_DTYPE, out=RESIZED, below=_count_below)
def count_nonzero(self: Array, dim: Any = None) -> Array:
    return contiguous(
        np.asarray(np.count_nonzero(self, axis=None if dim is None else dims_of(dim, self.ndim)), np.int64)
    )
