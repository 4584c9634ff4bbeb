"""scatter_reduce: what is scattered to one place becomes a sum, product, mean or extreme.

Derivatives as scatter_reduce_backward in FunctionsManual.cpp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, NumpyDtype, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, SAME_SCALAR, Computes, OutRule
from ..dispatch.registration import composite, op
from .gathering import _along, _check_index, _check_scatter, _nonempty

_UFUNCS: dict[str, Any] = {
    "sum": np.add,
    "prod": np.multiply,
    "mean": np.add,
    "amax": np.maximum,
    "amin": np.minimum,
    "max": np.maximum,
    "min": np.minimum,
}


def _start(reduce: str, dtype: NumpyDtype) -> Any:
    """What changes nothing when it is reduced with something else."""
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    if dtype.kind == "b":
        return reduce.endswith("min")
    if dtype.kind == "f":
        return -np.inf if reduce.endswith("max") else np.inf
    limits = np.iinfo(dtype)
    return limits.min if reduce.endswith("max") else limits.max


def _reduced(self: Array, where: Any, src: Array, reduce: str, include_self: bool) -> Array:
    """`self` with `src` reduced into it at the places `where`."""
    found = self.copy()
    if not include_self:
        found[where] = _start(reduce, self.dtype)
    _UFUNCS[reduce].at(found, where, src)
    if reduce == "mean":
        count = np.full(self.shape, int(include_self), np.int64)
        np.add.at(count, where, 1)
        count[count == 0] = 1
        found = found / count if self.dtype.kind in "fc" else found // count
        found = found.astype(self.dtype)
    return found


class _Moves(NamedTuple):
    """How a gradient is moved: from the places to the sources, added to the places, and zeros put there."""

    take: Callable[[Tensor], Tensor]
    add: Callable[[Tensor, Tensor], Tensor]
    clear: Callable[[Tensor], Tensor]
    reduce: Callable[[Tensor, Tensor], Tensor]


def _of_self(grad: Tensor, self: Tensor, src: Tensor, result: Tensor, reduce: str, includes: bool, m: _Moves) -> Tensor:
    if reduce == "prod":
        nonzero = self.masked_fill(self == 0, 1)
        found = grad * m.reduce(nonzero, src) / nonzero
    elif reduce == "mean":
        found = grad / _counts(grad, src, includes, m)
    elif reduce.endswith(("max", "min")):
        found = (self == result) * _shared(grad, self, src, result, m)
    else:
        found = grad
    return found if includes else m.clear(found)


def _of_src(
    grad: Tensor, self: Tensor, src: Tensor, result: Tensor, reduce: str, includes: bool, m: _Moves, name: str
) -> Tensor:
    if reduce == "prod":
        return _of_factors(grad, self, src, result, m, name)
    if reduce == "mean":
        return m.take(grad) / m.take(_counts(grad, src, includes, m))
    if reduce.endswith(("max", "min")):
        return (src == m.take(result)) * m.take(_shared(grad, self, src, result, m))
    return m.take(grad)


def _counts(grad: Tensor, src: Tensor, includes: bool, m: _Moves) -> Tensor:
    start = FUNCTIONS["ones_like" if includes else "zeros_like"](grad)
    count = m.add(start, FUNCTIONS["ones_like"](src))
    return count.masked_fill(count == 0, 1)


def _shared(grad: Tensor, self: Tensor, src: Tensor, result: Tensor, m: _Moves) -> Tensor:
    """The gradient divided by how many elements are the extreme."""
    equal = m.add((self == result).to(self.dtype), (src == m.take(result)).to(self.dtype))
    return grad / equal


def _of_factors(grad: Tensor, self: Tensor, src: Tensor, result: Tensor, m: _Moves, name: str) -> Tensor:
    is_zero = src == 0
    zeros = m.take(m.add(FUNCTIONS["zeros_like"](self), is_zero.to(self.dtype)))
    alone = is_zero & (zeros == 1)  # the others' product counts, which the result doesn't tell
    without = m.reduce(self, src.masked_fill(alone, 1))
    found: Tensor = FUNCTIONS["where"](
        alone, m.take(grad * without), m.take(grad * result) / src.masked_fill(is_zero, 1)
    )
    if bool((zeros > 1).any()):
        from ..autograd.python_nodes import DelayedError

        found = DelayedError(
            f"{name}(): Double backward is unsupported for src when >1 zeros in src are scattered to the same position "
            "in self",
            1,
        )(found)
    return found


# -- scatter_reduce


def _by_gather(self: Tensor, dim: int, index: Tensor, reduce: str, includes: bool) -> _Moves:
    return _Moves(
        lambda t: t.gather(dim, index),
        lambda t, src: t.scatter_add(dim, index, src),
        lambda t: t.scatter(dim, index, 0),
        lambda t, src: t.scatter_reduce(dim, index, src, reduce, include_self=includes),
    )


@op(
    "scatter_reduce",
    inplace=True,
    computes=Computes("bif", "scatter_reduce"),
    out=OutRule(SAME_SCALAR, resized_first=True, apart=True),
    tensor_params=("self", "index", "src"),
    self=lambda grad, self, src, result, dim, index, reduce, include_self: _of_self(
        grad, self, src, result, reduce, include_self, _by_gather(self, dim, index, reduce, include_self)
    ),
    src=lambda grad, self, src, result, dim, index, reduce, include_self: _of_src(
        grad,
        self,
        src,
        result,
        reduce,
        include_self,
        _by_gather(self, dim, index, reduce, include_self),
        "scatter_reduce",
    ),
)
def scatter_reduce(self: Array, dim: int, index: Array, src: Array, reduce: str, *, include_self: bool = True) -> Array:
    """`self` with each element of `src` reduced into the place that `index` says along `dim`."""
    d = wrap_dim(dim, self.ndim)
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index")
    if src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if reduce not in _UFUNCS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if not index.size:
        return self.copy()
    _check_scatter(self, d, index, src)
    shape, wanted = _nonempty(self), _nonempty(index)
    _check_index(index, shape[d], d)
    part = src.reshape(_nonempty(src))[tuple(slice(n) for n in wanted)]
    where = _along(index.reshape(wanted), d)
    return _reduced(self.reshape(shape), where, part, reduce, include_self).reshape(self.shape)


def _check_places(index: Any, count: int) -> None:
    bad = (index < -count) | (index >= count)
    if bad.any():
        raise IndexError(f"out of range: tried to access index {index[bad].flat[0]} on a tensor of {count} elements.")


@op(
    "take",
    computes=ANY_DTYPE,
    out=OutRule(SAME_SCALAR, resized_first=True, apart=True),
    tensor_params=("self", "index"),
    self=lambda grad, self, index: FUNCTIONS["zeros"](self._array.shape, dtype=self.dtype).put_(index, grad, True),
)
def take(self: Array, index: Array) -> Array:
    if index.dtype != np.int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {dtypes.of(index).scalar_name}")
    if index.size and not self.size:
        raise IndexError("take(): tried to take from an empty tensor")
    _check_places(index, self.size)
    found: Array = self.reshape(-1)[index]
    return found


def _cleared(grad: Tensor, source: Tensor, index: Tensor, accumulate: bool) -> Tensor:
    cleared: Tensor = grad if accumulate else grad.put(index, FUNCTIONS["zeros_like"](source), False)
    return cleared


@op(
    "put",
    computes=ANY_DTYPE,
    inplace=True,
    tensor_params=("self", "index", "source"),
    self=lambda grad, source, index, accumulate: _cleared(grad, source, index, accumulate),
    source=lambda grad, source, index: grad.take(index).reshape_as(source),
)
def put(self: Array, index: Array, source: Array, accumulate: bool = False) -> Array:
    if index.dtype != np.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {dtypes.of(index).scalar_name}")
    if self.dtype != source.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{dtypes.of(self).scalar_name} and source.dtype = {dtypes.of(source).scalar_name}"
        )
    if source.size != index.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.size}, index.numel() = {index.size}"
        )
    if index.size and not self.size:
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    _check_places(index, self.size)
    found = self.copy(order="C")
    flat, places = found.reshape(-1), index.reshape(-1)
    if accumulate:
        np.add.at(flat, places, source.reshape(-1))
    else:
        flat[places] = source.reshape(-1)
    result: Array = found
    return result


@composite()
def index_reduce(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`self` with each slice of `source` reduced into the slice that `index` says along `dim`."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    places = [1] * source.dim()
    places[dim] = -1
    along = index.reshape(places).expand(source.shape)
    found: Tensor = FUNCTIONS["scatter_reduce"](self, dim, along, source, reduce, include_self=include_self)
    return found
