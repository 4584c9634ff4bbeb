"""`torch._utils`: several tensors as one."""

from __future__ import annotations

from collections.abc import Sequence

from .aten import FUNCTIONS
from .core.tensor import Tensor


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """All elements of tensors of one dtype, one after the other."""
    found: Tensor = FUNCTIONS["cat"]([t.contiguous().view(-1) for t in tensors])
    return found


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of `flat` with the shapes of the tensors."""
    found = []
    start = 0
    for t in tensors:
        found.append(flat.narrow(0, start, t.numel()).view_as(t))
        start += t.numel()
    return tuple(found)
