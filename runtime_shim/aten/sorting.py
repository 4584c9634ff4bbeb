"""Sorting. Derivatives as in derivatives.yaml and FunctionsManual.cpp."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.argument_errors import not_an_int
from ..core.dtypes import Array, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import laid_out_like
from ..core.tensor import Tensor, new_tensor
from ..dispatch.op_description import OPS, RESIZED, Computes, DtypeRefusal
from ..dispatch.registration import op
from .extremes import pair, value_selecting_backward


def _order(self: Any, dim: int, descending: bool) -> Array:
    """Indices that sort along a dimension; equal elements keep their order, NaN counts as the greatest."""
    d = wrap_dim(dim, self.ndim)
    if not descending:
        return np.argsort(self, axis=d, kind="stable")
    backwards = np.argsort(np.flip(self, d), axis=d, kind="stable")
    return self.shape[d] - 1 - np.flip(backwards, d)


@op(
    "argsort",
    computes=Computes(
        "bif", refusals=(DtypeRefusal("c", RuntimeError, " Sort does not support complex dtypes on CPU"),)
    ),
    out=RESIZED,
    leak=1,
)
def argsort(self: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Array:
    if self.ndim == 0:
        wrap_dim(dim, 0)
        return np.zeros((), np.int64)
    return laid_out_like(_order(self, dim, descending).astype(np.int64), self)


def _sort_back(grads: list[Any], self_shape: tuple[int, ...], dim: int, result: list[Tensor]) -> Tensor:
    return value_selecting_backward(grads[0], result[1], self_shape, dim, True)


def _sort_below(self: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    # PyTorch copies into a fresh tensor and sorts that, so the copy is what shows.
    values, indices = OPS["sort"].kernel(self._array, dim, descending, stable)
    made = FUNCTIONS["empty_like"](self).copy_(self)
    np.copyto(made._array, values)
    positions = new_tensor(indices)
    if positions._version_counter is not None:
        positions._version_counter[0] += 1
    return pair("sort")([made, positions])


@op(
    "sort",
    computes=Computes(
        "bif", refusals=(DtypeRefusal("c", RuntimeError, " Sort does not support complex dtypes on CPU"),)
    ),
    out=RESIZED,
    below=_sort_below,
    outputs=pair("sort"),
    nondifferentiable=(1,),
    self=_sort_back,
)
def sort(self: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    if self.ndim == 0:
        wrap_dim(dim, 0)
        return self.copy(), np.zeros((), np.int64)
    order = _order(self, dim, descending)
    values = np.take_along_axis(self, order, wrap_dim(dim, self.ndim))
    return laid_out_like(values, self), laid_out_like(order.astype(np.int64), self)


@op(
    "topk",
    computes=Computes(
        "if",
        refusals=(
            DtypeRefusal("c", RuntimeError, " topk does not support complex dtypes on CPU", shapes_first=True),
            DtypeRefusal("b", RuntimeError, "topk does not support bool dtypes on CPU", shapes_first=True),
        ),
    ),
    out=RESIZED,
    leak=lambda self, *options: int(not self._array.ndim),
    outputs=pair("topk"),
    nondifferentiable=(1,),
    self=_sort_back,
)
def topk(self: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if not isinstance(k, (int, np.integer)):
        raise not_an_int(k, "k")
    d = wrap_dim(dim, self.ndim)
    if not 0 <= k <= (self.shape[d] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    order = np.take(_order(self, d, largest), range(k), axis=d)
    return np.take_along_axis(self, order, d), order.astype(np.int64)
