"""take and put: elements by their place in row-major order, whatever the shapes of the tensor and of the index."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, SAME_SCALAR, OutRule
from ..dispatch.registration import op


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
def take(self: Any, index: Any) -> Array:
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
def put(self: Any, index: Any, source: Any, accumulate: bool = False) -> Array:
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
