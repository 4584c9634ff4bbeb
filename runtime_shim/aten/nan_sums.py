"""Sums that leave out what is not a number: nansum, nanmean."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..core.tensor import Tensor
from ..dispatch.op_description import RESIZED, Computes, DtypeRefusal
from ..dispatch.registration import composite, op
from .reductions import contiguous, dims_of, in_dtype, restore, sum_dtype

_NO_COMPLEX = Computes(
    "bif", refusals=(DtypeRefusal("c", RuntimeError, "nansum on CPU does not support complex inputs"),)
)


def _where_numbers(grad: Tensor, self: Tensor, dim: Any, keepdim: bool) -> Tensor:
    wide = grad if dim is None and not keepdim else restore(grad, self._array.shape, dim, keepdim)
    found: Tensor = wide.expand(self._array.shape).to(self.dtype) * self.isnan().logical_not()
    return found


@op("nansum", computes=_NO_COMPLEX, out=RESIZED, leak=1, self=_where_numbers)
def nansum(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None) -> Array:
    """The sum of the elements that are numbers, of all or along `dim`."""
    numbers = in_dtype(self, dtype)
    if numbers.dtype.kind in "fV":
        numbers = np.where(np.isnan(numbers), np.zeros((), numbers.dtype), numbers)
    axes = None if dim is None else dims_of(dim, self.ndim)
    add: Any = np.add
    return contiguous(add.reduce(numbers, axis=axes, keepdims=keepdim, dtype=sum_dtype(self, dtype)))


@composite("nanmean", out=RESIZED)
def nanmean(self: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The mean of the elements that are numbers."""
    if self._array.dtype.kind not in "fVc":
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {self.dtype.scalar_name}"
        )
    dims = list(range(self._array.ndim)) if dim is None else dim
    count = self.isnan().logical_not().sum(dims, keepdim)
    found: Tensor = self.nansum(dim, keepdim, dtype=dtype) / count
    return found
