"""scatter_reduce: elements placed along a dimension, and those of one place reduced. Derivatives as in
FunctionsManual.cpp."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import Array, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import op
from .gathering import _along, _check_index, _check_scatter, _nonempty

_KINDS = ("sum", "prod", "mean", "amax", "amin")
_ALIASES = {"max": "amax", "min": "amin"}
_COMBINE: dict[str, Any] = {
    "sum": np.add,
    "mean": np.add,
    "prod": np.multiply,
    "amax": np.maximum,
    "amin": np.minimum,
}


def _neutral(reduce: str, dtype: np.dtype[Any]) -> Any:
    """What a place starts from that doesn't count itself."""
    if reduce in ("amax", "amin"):
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            return limits.min if reduce == "amax" else limits.max
        return dtype.kind == "b" and reduce == "amin" if dtype.kind == "b" else -np.inf if reduce == "amax" else np.inf
    return 1 if reduce == "prod" else 0


def _self_back(
    grad: Tensor, self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool, result: Tensor
) -> Tensor:
    if reduce == "sum":
        back = grad
    elif reduce == "prod":
        ones = self.masked_fill(self == 0, 1)
        back = grad * ones.scatter_reduce(dim, index, src, reduce, include_self=include_self) / ones
    elif reduce == "mean":
        back = grad / _counts(grad, dim, index, src, include_self)
    else:
        back = (self == result) * _shared(grad, self, dim, index, src, result)
    if include_self:
        return back
    found: Tensor = back.scatter(dim, index, 0)
    return found


def _src_back(
    grad: Tensor, self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool, result: Tensor
) -> Tensor:
    if reduce == "sum":
        back = grad.gather(dim, index)
    elif reduce == "prod":
        zero = src == 0
        zeros = FUNCTIONS["zeros_like"](self).scatter_add(dim, index, zero.to(self.dtype)).gather(dim, index)
        single = zero & (zeros == 1)
        rest = self.scatter_reduce(dim, index, src.masked_fill(single, 1), reduce, include_self=include_self)
        back = FUNCTIONS["where"](
            single, (grad * rest).gather(dim, index), (grad * result).gather(dim, index) / src.masked_fill(zero, 1)
        )
    elif reduce == "mean":
        back = (grad / _counts(grad, dim, index, src, include_self)).gather(dim, index)
    else:
        hit = src == result.gather(dim, index)
        back = hit * _shared(grad, self, dim, index, src, result).gather(dim, index)
    found: Tensor = back
    return found


def _counts(grad: Tensor, dim: int, index: Tensor, src: Tensor, include_self: bool) -> Tensor:
    """How many elements each place has, at least 1."""
    start = FUNCTIONS["ones_like" if include_self else "zeros_like"](grad)
    found = start.scatter_add(dim, index, FUNCTIONS["ones_like"](src))
    return found.masked_fill(found == 0, 1)


def _shared(grad: Tensor, self: Tensor, dim: int, index: Tensor, src: Tensor, result: Tensor) -> Tensor:
    """The gradient of an extreme, shared by all that are equal to it."""
    hit = (src == result.gather(dim, index)).to(self.dtype)
    found: Tensor = grad / (self == result).to(self.dtype).scatter_add(dim, index, hit)
    return found


@op(
    "scatter_reduce",
    computes=ANY_DTYPE,
    out=RESIZED,
    inplace=True,
    tensor_params=("self", "index", "src"),
    self=_self_back,
    src=_src_back,
)
def scatter_reduce(self: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Array:
    """`self` with the elements of `src` reduced into the places along `dim` that `index` names."""
    reduce = _ALIASES.get(reduce, reduce)
    if reduce not in _KINDS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    d = wrap_dim(dim, self.ndim)
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index")
    if src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    found: Array = self.copy()
    if not index.size:
        return found
    _check_scatter(self, d, index, src)
    shape, wanted = _nonempty(self), _nonempty(index)
    _check_index(index, shape[d], d)
    where = _along(index.reshape(wanted), d)
    target = found.reshape(shape)
    if not include_self:
        target[where] = _neutral(reduce, self.dtype)
    _COMBINE[reduce].at(target, where, src.reshape(_nonempty(src))[tuple(slice(n) for n in wanted)])
    if reduce == "mean":
        counts = np.full(shape, int(include_self))
        np.add.at(counts, where, 1)
        counts[counts == 0] = 1
        divide: Any = np.floor_divide if self.dtype.kind in "iu" else np.true_divide
        target[...] = divide(target, counts.astype(self.dtype))
    return found
