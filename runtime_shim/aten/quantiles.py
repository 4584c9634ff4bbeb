"""Elements by their rank: kthvalue, quantile, nanquantile. Derivatives as in derivatives.yaml."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import Array, wrap_dim
from ..core.tensor import Tensor
from ..dispatch.op_description import RESIZED, Computes
from ..dispatch.registration import composite, op
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


def _quantile(self: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, name: str) -> Tensor:
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
    ranks = q if isinstance(q, Tensor) else self.new_full((), q)
    if ranks._array.dtype != array.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if ranks._array.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if ((ranks._array < 0) | (ranks._array > 1)).any():
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    d = 0 if dim is None else wrap_dim(dim, array.ndim)
    source = self.flatten() if dim is None or array.ndim == 0 else self
    ordered = source.transpose(d, -1).sort(dim=-1).values.unsqueeze(-2)  # (..., 1, n)
    numbers = np.isnan(ordered._array)
    count = ordered._array.shape[-1] - numbers.sum(axis=-1, keepdims=True)
    places = ranks._array.reshape(-1, 1) * np.maximum(count - 1, 0)  # (..., number of q, 1)
    if name == "quantile":  # one NaN makes all of its row NaN
        places = np.where(numbers.any(axis=-1, keepdims=True), ordered._array.shape[-1] - 1, places)
    below, above = np.floor(places), np.ceil(places)
    if interpolation == "nearest":
        below = above = np.round(places)
    elif interpolation == "lower":
        above = below
    elif interpolation == "higher":
        below = above
    wide = ordered.expand(*np.broadcast_shapes((*ordered._array.shape[:-1], 1), places.shape)[:-1], -1)
    low = wide.gather(-1, _indices(below, wide))
    if below is above:
        found = low
    else:
        weight = np.full(places.shape, 0.5, array.dtype) if interpolation == "midpoint" else places - below
        found = low.lerp(wide.gather(-1, _indices(above, wide)), _tensor(weight.astype(array.dtype), low))
    found = found.squeeze(-1)  # (..., number of q), the reduced dimension swapped with the last
    if dim is None or array.ndim == 0:
        found = found.reshape([-1, *([1] * array.ndim if keepdim else [])])
    else:
        found = found.movedim(-1, 0).unsqueeze(-1).transpose(d + 1, -1)
        if not keepdim:
            found = found.squeeze(d + 1)
    # In place, as PyTorch ends: the last node is of that name.
    return found.unsqueeze(-1).squeeze_(-1) if ranks._array.ndim else found.squeeze_(0)


def _tensor(array: Array, like: Tensor) -> Tensor:
    from ..core.tensor import new_tensor

    return new_tensor(np.ascontiguousarray(np.broadcast_to(array, like._array.shape)))


def _indices(places: Array, wide: Tensor) -> Tensor:
    from ..core.tensor import new_tensor

    shape = (*wide._array.shape[:-1], 1)
    return new_tensor(np.ascontiguousarray(np.broadcast_to(places, shape)).astype(np.int64))


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
