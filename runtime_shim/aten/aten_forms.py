"""Ops with a form of their own in `torch.ops.aten`, which `torch` itself doesn't have."""

from __future__ import annotations

from typing import Any

from ..core.function_table import ATEN_ALONE
from ..core.tensor import Tensor
from .indexing import index
from .parts import slice_
from .shrinking import softshrink


def _index(self: Tensor, indices: Any) -> Tensor:
    """Index tensors alone, or None, at least one."""
    indices = tuple(indices.unbind() if isinstance(indices, Tensor) else indices)
    if not indices:
        raise IndexError("at least one index must be provided")
    found: Tensor = index(self, indices)
    return found


def _local_scalar_dense(self: Tensor) -> Any:
    return self.item()


def _to_copy(self: Tensor, *, dtype: Any = None, memory_format: Any = None, **options: Any) -> Tensor:
    return self.to(dtype=dtype, copy=True, memory_format=memory_format)


ATEN_ALONE.update(
    index=_index,
    slice=slice_,
    softshrink=softshrink,
    _local_scalar_dense=_local_scalar_dense,
    _to_copy=_to_copy,
)
