"""Elements by their rank: kthvalue, quantile, nanquantile. Derivatives as in derivatives.yaml."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.argument_errors import invalid_combination, public_call
from ..core.dtypes import Array, int64, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import RESIZED, Computes
from ..dispatch.registration import composite, op
from .elementwise import mul_scalar
from .extremes import _at_index, pair


def _ranked(self: Any, d: int, rank: Any, keepdim: bool) -> tuple[Array, Array]:
    """The element of that rank along a dimension, and where it stands; `rank` may differ from row to row."""
    order = np.argsort(self, axis=d, kind="stable")
    places = np.take_along_axis(order, rank, axis=d)
    values = np.take_along_axis(self, places, axis=d)
    return (values, places) if keepdim else (values.squeeze(d), places.squeeze(d))


@op(
    "kthvalue",
    computes=Computes("if", "kthvalue_cpu"),
    out=RESIZED,
    outputs=pair("kthvalue"),
    leak=1,
    nondifferentiable=(1,),
    self=_at_index,
)
def kthvalue(self: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The `k`-th least element along `dim`, counted from 1, and its index."""
    d = wrap_dim(dim, self.ndim)
    if self.ndim and self.size == 0 and self.shape[d] == 0:
        raise IndexError(f"kthvalue(): Expected reduction dim {d} to have non-zero size.")
    if not 1 <= k <= (self.shape[d] if self.ndim else 1):
        raise RuntimeError("kthvalue(): selected number k out of range for dimension " + str(d))
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    shape = [*self.shape[:d], 1, *self.shape[d + 1 :]]
    return _ranked(self, d, np.full(shape, k - 1, np.int64), keepdim)


_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")
_ROUNDED = {"lower": "floor_", "higher": "ceil_", "nearest": "round_"}


def _quantile(self: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, name: str) -> Tensor:
    """Source: quantile_compute in ATen/native/Sorting.cpp, whose in-place ops leave their marks on the result."""
    if not isinstance(q, Tensor | int | float):
        called = public_call()
        raise invalid_combination(name, called[2] if called else (self, q))
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    array = self._array
    if array.size == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if array.dtype not in (np.float32, np.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if not isinstance(q, Tensor) and not 0 <= q <= 1:
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
    ranked = q if isinstance(q, Tensor) else FUNCTIONS["full"]((), q, dtype=self.dtype)
    if ranked._array.dtype != array.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if ranked._array.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if ((ranked._array < 0) | (ranked._array > 1)).any():
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    d = 0 if dim is None else wrap_dim(dim, array.ndim)
    if dim is None:
        ordered = self.flatten().sort()[0]
    elif d == array.ndim - 1:
        ordered = self.sort()[0]
    else:
        ordered = self.unsqueeze(-1).transpose(d, -1).sort()[0]
    count = ordered.size(-1)
    kept = list(array.shape) if dim is not None else []
    if keepdim:
        kept = [1 if dim is None or i == d else n for i, n in enumerate(array.shape)]
    elif kept:
        del kept[d]
    ordered = ordered.view([*kept, count])
    values = _interpolated(ordered, _ranks(ordered, ranked, name), interpolation)
    if ranked._array.ndim == 0:
        return values.squeeze_(-1)
    return values.unsqueeze_(0).transpose_(0, -1).squeeze_(-1)


def _ranks(ordered: Tensor, q: Tensor, name: str) -> Tensor:
    """Where the quantiles stand among the ordered elements, between two of them; the last ones are NaN."""
    numbers = ordered.isnan()
    if name == "nanquantile":
        found: Tensor = q * (numbers.logical_not_().sum(-1, True) - 1)
        return found.masked_fill_(found < 0, 0)
    last = ordered.size(-1) - 1
    ranks, any_nan = FUNCTIONS["broadcast_tensors"](mul_scalar(q, last), numbers.any(-1, True))
    return ranks.masked_fill(any_nan, last)


def _interpolated(ordered: Tensor, ranks: Tensor, interpolation: str) -> Tensor:
    if interpolation in _ROUNDED:
        getattr(ranks, _ROUNDED[interpolation])()
    below = ranks.to(int64)
    values: Tensor = ordered.gather(-1, below)
    if interpolation in ("linear", "midpoint"):
        weights = FUNCTIONS["full_like"](ranks, 0.5) if interpolation == "midpoint" else ranks - below
        values.lerp_(ordered.gather(-1, ranks.ceil_().to(int64)), weights)
    return values


@composite("quantile", out=RESIZED)
def quantile(
    self: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The elements at the ranks `q`, from 0 to 1; a tensor of several ranks gives a first dimension of them."""
    return _quantile(self, q, dim, keepdim, interpolation, "quantile")


@composite("nanquantile", out=RESIZED)
def nanquantile(
    self: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The same of the elements that are numbers."""
    return _quantile(self, q, dim, keepdim, interpolation, "nanquantile")
