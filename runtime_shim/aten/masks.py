"""Ops that pick or place elements by mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.reordered_array import packed
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED, SAME_SCALAR, OutRule, same_dtype
from ..dispatch.registration import composite, op
from . import views


def _masked_fill_kernel(self: Any, mask: Any, value: Any) -> Array:
    if mask.dtype.kind != "b":
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {dtypes.of(mask).short}")
    if isinstance(value, np.ndarray) and value.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    dtypes.broadcast_shapes(mask.shape, self.shape)
    if isinstance(value, complex) and self.dtype.kind != "c":
        raise RuntimeError(f"value cannot be converted to type {dtypes.of(self).short} without overflow")
    if isinstance(value, int | float):
        dtypes.check_number(value, self.dtype)
    found = np.where(mask, np.asarray(value).astype(self.dtype), self)
    return packed(found)


# PyTorch lets it write to an expanded tensor, with a warning.
_masked_fill_tensor = op(
    "masked_fill",
    computes=ANY_DTYPE,
    out=RESIZED,
    checks_overlap=False,
    node="MaskedFillBackward1",
    inplace=True,
    method=False,
    function=False,
    leak=2,
    tensor_params=("self", "mask", "value"),
    self=lambda grad, mask: grad.masked_fill(mask, 0),
    value=lambda grad, mask: FUNCTIONS["where"](mask, grad, 0.0).sum(),
)(_masked_fill_kernel)
_masked_fill_number = op(
    "masked_fill",
    computes=ANY_DTYPE,
    out=RESIZED,
    checks_overlap=False,
    inplace=True,
    method=False,
    function=False,
    leak=2,
    tensor_params=("self", "mask"),
    self=lambda grad, mask: grad.masked_fill(mask, 0),
)(_masked_fill_kernel)


@composite("masked_fill")
def masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A copy with `value` (a number or 0-dim tensor) where the mask holds."""
    form = _masked_fill_tensor if isinstance(value, Tensor) else _masked_fill_number
    return form(self, mask, value)


@composite("masked_fill_", function=False)
def masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    form: Any = _masked_fill_tensor if isinstance(value, Tensor) else _masked_fill_number
    return form.inplace(self, mask, value)


def _masked_select_back(grad: Tensor, self: Tensor, mask: Tensor) -> Tensor:
    self_shape = self._array.shape
    shape = np.broadcast_shapes(self_shape, mask._array.shape)
    return views.sum_back_to(FUNCTIONS["zeros"](shape, dtype=grad.dtype).masked_scatter_(mask, grad), self_shape)


@op(
    "masked_select",
    computes=ANY_DTYPE,
    out=OutRule(SAME_SCALAR, resized_first=True, apart=True),
    tensor_params=("self", "mask"),
    self=_masked_select_back,
)
def masked_select(self: Any, mask: Any) -> Array:
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = dtypes.broadcast_shapes(mask.shape, self.shape)
    return np.broadcast_to(self, shape)[np.broadcast_to(mask, shape)]


@op(
    "masked_scatter",
    computes=ANY_DTYPE,
    out=RESIZED,
    inplace=True,
    leak=2,
    tensor_params=("self", "mask", "source"),
    self=lambda grad, mask: grad.masked_fill(mask, 0),
    source=lambda grad, mask, source_shape: _masked_scatter_source(grad, mask, source_shape),
)
def masked_scatter(self: Any, mask: Any, source: Any) -> Array:
    shape = dtypes.broadcast_shapes(self.shape, mask.shape)
    found, where = np.broadcast_to(self, shape).copy(), np.broadcast_to(mask, shape)
    if source.size < where.sum():
        raise RuntimeError("Number of elements of source < number of ones in mask")
    found[where] = source.reshape(-1)[: int(where.sum())]
    return found


def _masked_scatter_source(grad: Tensor, mask: Tensor, shape: tuple[int, ...]) -> Tensor:
    picked = grad.masked_select(mask)
    missing = int(np.prod(shape, dtype=np.int64)) - picked.numel()
    if missing:
        picked = FUNCTIONS["cat"]([picked, FUNCTIONS["zeros"]((missing,), dtype=grad.dtype)])
    return picked.view(shape)


_LONG_ALONE = same_dtype("nonzero: Expected out tensor to have scalar type Long but got scalar type{got.scalar_name}")


@op("nonzero", computes=ANY_DTYPE, out=RESIZED, method=False, function=False, leak=1)
def _nonzero(self: Any) -> Array:
    return np.argwhere(self).astype(np.int64)


@composite("nonzero", out=OutRule(_LONG_ALONE, resized_first=True))
def nonzero(self: Tensor, *, as_tuple: bool = False) -> Any:
    found = _nonzero(self)
    if not as_tuple:
        return found
    return found.unbind(1) if self.dim() else (FUNCTIONS["arange"](found.size(0)),)
