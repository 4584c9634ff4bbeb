"""`torch.testing`: comparing tensors in tests, and making them."""

from __future__ import annotations

from ..core.supported_names import refuses_missing
from .closeness import assert_allclose, assert_close, make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]


__getattr__ = refuses_missing("torch.testing")
