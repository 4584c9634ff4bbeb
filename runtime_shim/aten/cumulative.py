"""Sums and products up to each place, and logsumexp. Derivatives as in derivatives.yaml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.inplace_layers import store
from ..dispatch.op_description import ANY_DTYPE, EXPECTED_OUT, OPS, OutRule
from ..dispatch.registration import op
from .elementwise import conj
from .reductions import in_dtype, sum_dtype

_add: Any = np.add
_multiply: Any = np.multiply
_maximum: Any = np.maximum


_OUT = OutRule(EXPECTED_OUT, resized_first=True, computed_in=True)


def _refuse_bool(name: str, self: Any, dtype: dtypes.dtype | None) -> None:
    """NotImplementedError for sums that PyTorch would have to keep in bools."""
    if dtype is dtypes.bool_ and self.ndim and self.size:
        raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")


def _cumulative_in_place(name: str) -> Callable[..., None]:
    def kernel(self: Any, dim: int, dtype: dtypes.dtype | None = None) -> None:
        if dtype is not None and dtype.numpy != self.dtype:
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {dtypes.of(self).short} and output tensor dtype {dtype.short} "
                "should match"
            )
        store(self, np.asarray(OPS[name].kernel(self, dim, dtypes.of(self))))

    return kernel


def _of_a_number(self: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> int:
    """PyTorch's kernels fill the result in place where there is nothing to go along."""
    return int(self._array.ndim == 0 or not self._array.size)


def _cumsum_back(grad: Tensor, dim: int) -> Tensor:
    """cumsum_backward of torch/csrc/autograd/FunctionsManual.cpp: where nothing is summed, the gradient itself."""
    if grad._array.size <= 1 or grad._array.shape[dim] == 1:
        return grad
    return grad.flip(dim).cumsum(dim).flip(dim)


@op(
    "cumsum",
    computes=ANY_DTYPE,
    out=_OUT,
    inplace_kernel=_cumulative_in_place("cumsum"),
    inplace=True,
    leak=_of_a_number,
    self=_cumsum_back,
)
def cumsum(self: Any, dim: int, *, dtype: dtypes.dtype | None = None) -> Array:
    if self.ndim == 0:
        wrap_dim(dim, 0)
        return np.array(in_dtype(self, dtype), sum_dtype(self, dtype))
    _refuse_bool("cumsum", self, dtype)
    return _add.accumulate(
        np.ascontiguousarray(in_dtype(self, dtype)), axis=wrap_dim(dim, self.ndim), dtype=sum_dtype(self, dtype)
    )


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


@op(
    "cumprod",
    computes=ANY_DTYPE,
    out=_OUT,
    inplace_kernel=_cumulative_in_place("cumprod"),
    inplace=True,
    leak=_of_a_number,
    self=_cumprod_back,
)
def cumprod(self: Any, dim: int, *, dtype: dtypes.dtype | None = None) -> Array:
    if self.ndim == 0:
        wrap_dim(dim, 0)
        return np.array(in_dtype(self, dtype), sum_dtype(self, dtype))
    _refuse_bool("cumprod", self, dtype)
    return _multiply.accumulate(
        np.ascontiguousarray(in_dtype(self, dtype)), axis=wrap_dim(dim, self.ndim), dtype=sum_dtype(self, dtype)
    )
