"""`torch.testing`: comparing tensors in tests, and making them."""

from __future__ import annotations

from typing import Any

from ..core.supported_names import missing_attribute
from .closeness import assert_allclose, assert_close, make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]


def __getattr__(name: str) -> Any:
    raise missing_attribute("torch.testing", name)
