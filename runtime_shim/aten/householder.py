"""Products of Householder reflections: `geqrf`, `orgqr`, `linalg.householder_product`. Source: LAPACK's geqrf and "
"orgqr."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import by_columns
from ..core.return_types import return_type
from ..core.tensor import Tensor
from ..dispatch.op_description import Computes
from ..dispatch.registration import composite, op
from .absent_gradients import no_derivative

_GEQRF = return_type("geqrf", "a tau")


@op("geqrf", computes=Computes("fc", "geqrf_cpu"), outputs=_GEQRF._make, self=no_derivative("geqrf"))
def geqrf(self: Any) -> tuple[Array, Array]:
    """The reflections whose product is the factor Q of each matrix, below the diagonal, and their factors."""
    if self.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    rows, columns = self.shape[-2:]
    reflections = np.empty_like(self)
    factors = np.empty((*self.shape[:-2], min(rows, columns)), self.dtype)
    for place in np.ndindex(*self.shape[:-2]):
        transposed, tau = np.linalg.qr(self[place], mode="raw")
        reflections[place], factors[place] = transposed.T, tau
    return by_columns(reflections), factors


@composite("linalg_householder_product", method=False)
def linalg_householder_product(A: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of the reflections below the diagonals of `A`, with their factors."""
    if A.ndim < 2:
        raise RuntimeError("torch.linalg.householder_product: input must have at least 2 dimensions.")
    rows, columns = A.shape[-2:]
    count = tau.size(-1)
    if rows < columns:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    if columns < count:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        )
    if A.ndim - tau.ndim != 1:
        raise RuntimeError(
            "torch.linalg.householder_product: Expected tau to have one dimension less than input, but got tau.ndim "
            f"equal to {tau.ndim} and input.ndim is equal to {A.ndim}"
        )
    if A.dtype != tau.dtype:
        raise RuntimeError(
            f"torch.linalg.householder_product: tau dtype {tau.dtype.scalar_name} does not match input dtype "
            f"{A.dtype.scalar_name}"
        )
    eye = FUNCTIONS["eye"](rows, columns, dtype=A.dtype)
    vectors = A.tril(-1) + eye
    found = eye.expand(A.shape)
    for i in reversed(range(count)):
        v = vectors[..., :, i : i + 1]
        found = found - tau[..., i, None, None] * (v @ (v.mH @ found))
    return found if out is None else out.resize_(found.shape).copy_(found)


@composite("orgqr")
def orgqr(self: Tensor, input2: Tensor) -> Tensor:
    return linalg_householder_product(self, input2)
