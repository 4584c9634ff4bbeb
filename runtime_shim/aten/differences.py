"""Differences of neighbors, made of the ops that PyTorch makes them of.

Source: diff in ATen/native/ReduceOps.cpp.
"""

from __future__ import annotations

from ..core import dtypes
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ELEMENTWISE
from ..dispatch.registration import composite


def _part(t: Tensor, dim: int, start: int, stop: int | None = None) -> Tensor:
    """The slice of a dimension, counted as Python does."""
    first, last, _ = slice(start, stop).indices(t.size(dim))
    found: Tensor = t.narrow(dim, first, max(last - first, 0))
    return found


@composite("diff", out=ELEMENTWISE)
def diff(
    self: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The differences of neighbors, `n` times."""
    if self.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    parts = [part for part in (prepend, self, append) if part is not None]
    if any(part.dim() != self.dim() for part in parts):
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for part in parts:
        for d in range(self.dim()):
            if part.size(d) != self.size(d) and d != dim % self.dim():
                raise RuntimeError(
                    "diff expects the shape of tensor to prepend or append to match that of input except along the "
                    f"differencing dimension; input.size({d}) = {self.size(d)}, but got tensor.size({d}) = "
                    f"{part.size(d)}"
                )
    if not n:
        copied: Tensor = FUNCTIONS["zeros_like"](self).copy_(self)
        return copied
    found = FUNCTIONS["cat"](parts, dim) if len(parts) > 1 else self
    for _ in range(min(n, found.size(dim))):
        count = found.size(dim)
        later, sooner = found.narrow(dim, 1, count - 1), found.narrow(dim, 0, count - 1)
        found = later.logical_xor(sooner) if found.dtype is dtypes.bool_ else later - sooner
    return found
