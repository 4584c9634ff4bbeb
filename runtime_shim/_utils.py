"""`torch._utils`: the size of an element."""

from __future__ import annotations

from .core.dtypes import dtype


def _element_size(dtype: dtype) -> int:
    """Bytes of an element."""
    return dtype.itemsize
