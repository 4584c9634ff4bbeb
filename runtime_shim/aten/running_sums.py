"""Sums and what is made of them: running ones, those without NaN, variances; differences of neighbors.

Source: diff in ATen/native/ReduceOps.cpp.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import (
    ANY_DTYPE,
    ELEMENTWISE,
    EXPECTED_OUT,
    OPS,
    RESIZED,
    Computes,
    DtypeRefusal,
    OutRule,
)
from ..dispatch.registration import composite, inner_op, op
from ..dispatch.writing_layers import store
from .elementwise import conj
from .reductions import contiguous, dims_of, elements_reduced, in_dtype, restore, sum_dtype

_add: Any = np.add
_multiply: Any = np.multiply
_maximum: Any = np.maximum


_OUT = OutRule(EXPECTED_OUT, resized_first=True, computed_in=True)


def _refuse_bool(name: str, self: Any, dtype: dtypes.dtype | None) -> None:
    """NotImplementedError for sums that PyTorch would have to keep in bools."""
    if dtype is dtypes.bool_ and self.ndim and self.size:
        raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")


def _of_a_number(self: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> int:
    """PyTorch's kernels fill the result in place where there is nothing to go along."""
    return int(self._array.ndim == 0 or not self._array.size)


def _cumsum_back(grad: Tensor, dim: int) -> Tensor:
    """cumsum_backward of torch/csrc/autograd/FunctionsManual.cpp: where nothing is summed, the gradient itself."""
    if grad._array.size <= 1 or grad._array.shape[dim] == 1:
        return grad
    return grad.flip(dim).cumsum(dim).flip(dim)


def _cumprod_back(grad: Tensor, self: Tensor, dim: int, result: Tensor) -> Tensor:
    if self._array.size <= 1:
        return grad
    n = self._array.shape[dim]
    if n == 1:
        return grad
    found = []
    for i in range(n):
        terms = []
        for j in range(i, n):
            head = FUNCTIONS["cat"]([self.narrow(dim, 0, i), self.narrow(dim, i + 1, j - i)], dim).prod(dim, True)
            terms.append(grad.narrow(dim, j, 1) * conj(head))
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        found.append(total)
    return FUNCTIONS["cat"](found, dim)


def _cumulative(name: str, accumulate: Any, derivative: Callable[..., Tensor]) -> None:
    def in_place(self: Any, dim: int, dtype: dtypes.dtype | None = None) -> None:
        if dtype is not None and dtype.numpy != self.dtype:
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {dtypes.of(self).short} and output tensor dtype {dtype.short} "
                "should match"
            )
        store(self, np.asarray(OPS[name].kernel(self, dim, dtypes.of(self))))

    @op(
        name,
        computes=ANY_DTYPE,
        out=_OUT,
        inplace_kernel=in_place,
        inplace=True,
        leak=_of_a_number,
        self=derivative,
    )
    def cumulative(self: Array, dim: int, *, dtype: dtypes.dtype | None = None) -> Array:
        if self.ndim == 0:
            wrap_dim(dim, 0)
            return np.array(in_dtype(self, dtype), sum_dtype(self, dtype))
        _refuse_bool(name, self, dtype)
        given = np.ascontiguousarray(in_dtype(self, dtype))
        return accumulate(given, axis=wrap_dim(dim, self.ndim), dtype=sum_dtype(self, dtype))


_cumulative("cumsum", _add.accumulate, _cumsum_back)
_cumulative("cumprod", _multiply.accumulate, _cumprod_back)


_NO_COMPLEX = Computes(
    "bif", refusals=(DtypeRefusal("c", RuntimeError, "nansum on CPU does not support complex inputs"),)
)


def _where_numbers(grad: Tensor, self: Tensor, dim: object, keepdim: bool) -> Tensor:
    wide = grad if dim is None and not keepdim else restore(grad, self._array.shape, dim, keepdim)
    found: Tensor = wide.expand(self._array.shape).to(self.dtype) * self.isnan().logical_not()
    return found


@op("nansum", computes=_NO_COMPLEX, out=RESIZED, leak=1, self=_where_numbers)
def nansum(self: Array, dim: Any = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None) -> Array:
    """The sum of the elements that are numbers, of all or along `dim`."""
    numbers = in_dtype(self, dtype)
    if numbers.dtype.kind in "fV":
        numbers = np.where(np.isnan(numbers), np.zeros((), numbers.dtype), numbers)
    axes = None if dim is None else dims_of(dim, self.ndim)
    add: Any = np.add
    return contiguous(add.reduce(numbers, axis=axes, keepdims=keepdim, dtype=sum_dtype(self, dtype)))


@composite("nanmean", out=RESIZED)
def nanmean(self: Tensor, dim: object = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The mean of the elements that are numbers."""
    if self._array.dtype.kind not in "fVc":
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {self.dtype.scalar_name}"
        )
    dims = list(range(self._array.ndim)) if dim is None else dim
    count = self.isnan().logical_not().sum(dims, keepdim)
    found: Tensor = self.nansum(dim, keepdim, dtype=dtype) / count
    return found


@composite("diff", out=ELEMENTWISE)
def diff(
    self: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The differences of neighbors, `n` times."""
    if self.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    parts = [part for part in (prepend, self, append) if part is not None]
    if any(part.dim() != self.dim() for part in parts):
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for part in parts:
        for d in range(self.dim()):
            if part.size(d) != self.size(d) and d != dim % self.dim():
                raise RuntimeError(
                    "diff expects the shape of tensor to prepend or append to match that of input except along the "
                    f"differencing dimension; input.size({d}) = {self.size(d)}, but got tensor.size({d}) = "
                    f"{part.size(d)}"
                )
    if not n:
        copied: Tensor = FUNCTIONS["zeros_like"](self).copy_(self)
        return copied
    found = FUNCTIONS["cat"](parts, dim) if len(parts) > 1 else self
    for _ in range(min(n, found.size(dim))):
        count = found.size(dim)
        later, sooner = found.narrow(dim, 1, count - 1), found.narrow(dim, 0, count - 1)
        found = later.logical_xor(sooner) if found.dtype is dtypes.bool_ else later - sooner
    return found


# numpy's stubs do not know `axis` as a tuple.
_minimum: Any = np.minimum


def _var(self: Any, dim: Any, correction: float, keepdim: bool, name: str = "var") -> Array:
    if self.dtype.kind not in "fc":
        title = "std and var" if name in ("std", "var") else name
        raise RuntimeError(f"{title} only support floating point and complex dtypes")
    axes = dims_of(dim, self.ndim)
    n = int(np.prod([self.shape[a] for a in axes], dtype=np.int64))
    centred = self - _add.reduce(self, axis=axes, keepdims=True) / self.dtype.type(max(n, 1))
    total = _add.reduce((centred * np.conjugate(centred)).real, axis=axes, keepdims=keepdim)
    if n <= correction:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel).",
            UserWarning,
            stacklevel=2,
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        return contiguous(np.true_divide(total, total.dtype.type(max(n - correction, 0))))


def _var_back(grad: Tensor, self: Tensor, dim: object, correction: float, keepdim: bool) -> Tensor:
    shape = self._array.shape
    freedom = elements_reduced(shape, dim) - correction
    if freedom <= 0 and (dim is None or not shape):
        return grad * FUNCTIONS["where"](self == self.mean(), math.nan, math.inf).to(grad.dtype)
    grad = restore(grad, shape, dim, keepdim)
    centred = self - self.mean(dims_of(dim, len(shape)), True)
    return (2.0 / freedom if freedom else math.inf) * grad * centred


def _std_back(grad: Tensor, self: Tensor, result: Tensor, dim: object, correction: float, keepdim: bool) -> Tensor:
    scaled = (grad / (result * 2)).masked_fill_(result == 0, 0)
    return _var_back(scaled, self, dim, correction, keepdim)


def _has_own_loop(self: Tensor, dim: object) -> bool:
    """Whether PyTorch computes the single result by its own loop, which starts from the mean."""
    shape = self._array.shape
    reduced = dims_of(dim, len(shape))
    alone = all(n == 1 for d, n in enumerate(shape) if d not in reduced)
    return alone and self._array.dtype.char in "fd" and self._array.size > 0


def _var_leak(self: Tensor, dim: object = None, correction: float = 1, keepdim: bool = False) -> int:
    return int(self._array.dtype.kind == "c" or not self._array.size or _has_own_loop(self, dim))


def _std_leak(self: Tensor, *args: Any) -> int:
    return 2 if self._array.dtype.kind == "c" else _var_leak(self, *args)


def _refuses_mean(self: Tensor, dim: object = None, *args: object) -> str | None:
    return "sum" if _has_own_loop(self, dim) else None


@inner_op("var", leak=_var_leak, refuses=_refuses_mean, self=_var_back)
def _var_op(self: Array, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Array:
    return _var(self, dim, correction, keepdim)


@inner_op("std", leak=_std_leak, refuses=_refuses_mean, self=_std_back)
def _std_op(self: Array, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Array:
    return np.sqrt(_var(self, dim, correction, keepdim, "std"))


def _var_mean_back(
    grads: list[Any], self: Tensor, dim: object, correction: float, keepdim: bool, self_shape: tuple[int, ...]
) -> Tensor:
    total = None
    if grads[0] is not None:
        total = _var_back(grads[0], self, dim, correction, keepdim)
    if grads[1] is not None:
        count = 1
        for d in dims_of(dim, len(self_shape)):
            count *= self_shape[d]
        share = restore(grads[1], self_shape, dim, keepdim).expand(self_shape) / count
        total = share if total is None else total + share
    assert total is not None
    return total


def _std_mean_back(
    grads: list[Any],
    self: Tensor,
    result0: Tensor,
    dim: object,
    correction: float,
    keepdim: bool,
    self_shape: tuple[int, ...],
) -> Tensor:
    if grads[0] is None:
        return _var_mean_back(grads, self, dim, correction, keepdim, self_shape)
    found = _std_back(grads[0], self, result0, dim, correction, keepdim)
    if grads[1] is None:
        return found
    return found + _var_mean_back([None, grads[1]], self, dim, correction, keepdim, self_shape)


def _mean_of(self: Any, dim: Any, keepdim: bool) -> Array:
    return np.asarray(np.mean(self, axis=dims_of(dim, self.ndim), keepdims=keepdim))


@inner_op("var_mean", outputs=tuple, self=_var_mean_back)
def _var_mean_op(self: Array, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Any:
    return np.asarray(_var(self, dim, correction, keepdim, "var_mean")), _mean_of(self, dim, keepdim)


@inner_op("std_mean", outputs=tuple, self=_std_mean_back)
def _std_mean_op(self: Array, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Any:
    return np.asarray(np.sqrt(_var(self, dim, correction, keepdim, "std_mean"))), _mean_of(self, dim, keepdim)


def _spread(name: str, compute: Callable[..., object], alone: bool = True) -> None:
    """A public name: with the mean as well, unless `alone`, it is neither a method nor takes `out=`."""

    @composite(name, method=alone, out=RESIZED if alone else None)
    def spread(
        self: Tensor, dim: object = None, unbiased: object = None, keepdim: bool = False, *, correction: Any = None
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if unbiased is not None:
            correction = float(bool(unbiased))
        return compute(self, dim, 1 if correction is None else correction, keepdim)


_spread("std", _std_op)
_spread("var", _var_op)
_spread("std_mean", _std_mean_op, alone=False)
_spread("var_mean", _var_mean_op, alone=False)
