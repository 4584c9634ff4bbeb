"""Logarithms of sums of exponentials: of two operands, along dimensions, up to each place.

Derivatives as in derivatives.yaml and FunctionsManual.cpp.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.reordered_array import packed
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED, Computes
from ..dispatch.registration import op
from .elementwise import conj
from .reductions import dims_of, restore

_add: Any = np.add
_maximum: Any = np.maximum


def _log_add(x: Any, y: Any) -> Any:
    """Of complex numbers, the one with the smaller real part put off the other; as in ATen/native/cpu/LogAddExp.h."""
    if x.dtype.kind != "c":
        return np.logaddexp(x, y)
    with np.errstate(all="ignore"):
        x_is_less = x.real < y.real
        low, high = np.where(x_is_less, x, y), np.where(x_is_less, y, x)
        found = np.log1p(np.exp(low - high)) + high
        same = np.isinf(low.real) & (low.real == high.real)
        found = np.where(same, np.where(low.real < 0, low, np.log(np.exp(low) + np.exp(high))), found)
        no_number: Any = complex(np.nan, np.nan)
        return np.where(np.isnan(x) | np.isnan(y), no_number, found).astype(x.dtype, copy=False)


@op(
    "logaddexp",
    computes=Computes("fc", promotes=True),
    self=lambda grad, self, other: grad / conj((other - self).exp() + 1),
    other=lambda grad, self, other: grad / conj((self - other).exp() + 1),
)
def logaddexp(self: Array, other: Array) -> Array:
    found: Array = _log_add(self, other)
    return found


@op(
    "logaddexp2",
    self=lambda grad, self, other: grad / (FUNCTIONS["pow"](2, other - self) + 1),
    other=lambda grad, self, other: grad / (FUNCTIONS["pow"](2, self - other) + 1),
)
def logaddexp2(self: Array, other: Array) -> Array:
    return np.logaddexp2(self, other)


def _back_through_places(grad: Tensor, self: Tensor, result: Tensor, dim: int) -> Tensor:
    """By logarithms, which don't overflow; those of real numbers of the positive and the negative part apart."""
    if not grad._array.ndim or not grad._array.size:
        return grad

    def from_the_end(logarithm: Tensor) -> Tensor:
        return (FUNCTIONS["logcumsumexp"]((logarithm - result).flip(dim), dim).flip(dim) + self).exp()

    if grad.is_complex():
        return from_the_end(grad.conj().log()).conj()
    size = grad.abs().log()
    # The lowest number stands for the logarithm of 0, which has no gradient.
    lowest = float(np.finfo(grad._array.dtype).min)
    where = FUNCTIONS["where"]
    return from_the_end(where(grad > 0, size, lowest)) - from_the_end(where(grad < 0, size, lowest))


@op(
    "logcumsumexp",
    computes=Computes("fc", "logcumsumexp_out_cpu"),
    out=RESIZED,
    leak=lambda self, dim: int(not self._array.ndim),
    self=_back_through_places,
)
def logcumsumexp(self: Any, dim: int) -> Array:
    axis = wrap_dim(dim, self.ndim)
    if self.ndim == 0:
        return self.copy()
    if self.dtype.kind != "c":
        return packed(np.logaddexp.accumulate(self, axis=axis))
    found = np.array(self, order="C", subok=False)
    places = np.moveaxis(found, axis, 0)
    for i in range(1, len(places)):
        places[i] = _log_add(places[i - 1], places[i])
    return packed(found)


@op(
    "logsumexp",
    computes=ANY_DTYPE,
    out=RESIZED,
    leak=1,
    refuses="logsumexp",
    self=lambda grad, self, result, dim, keepdim: (
        restore(grad, self._array.shape, dim, keepdim)
        * conj((self - restore(result, self._array.shape, dim, keepdim)).exp())
    ),
)
def logsumexp(self: Any, dim: Any, keepdim: bool = False) -> Array:
    if self.dtype.kind in "biu":
        self = self.astype(dtypes.get_default_dtype().numpy)
    axes = dims_of(dim, self.ndim)
    top = _maximum.reduce(self.real, axis=axes, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0).astype(top.dtype)
    with np.errstate(all="ignore"):
        found = np.log(_add.reduce(np.exp(self - top), axis=axes, keepdims=True)) + top
    return packed(found if keepdim else found.squeeze(axes))
