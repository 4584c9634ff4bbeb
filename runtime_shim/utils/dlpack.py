"""`torch.utils.dlpack`: tensors as other libraries take them, without a copy."""

from __future__ import annotations

from ..aten import FUNCTIONS

from_dlpack = FUNCTIONS["from_dlpack"]
to_dlpack = FUNCTIONS["to_dlpack"]

__all__ = ["from_dlpack", "to_dlpack"]
