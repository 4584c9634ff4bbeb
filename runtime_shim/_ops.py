"""`torch._ops`: the classes behind `torch.ops`, which extensions import to make their own namespace."""

from __future__ import annotations

from .library.custom_ops import Namespace as _OpNamespace
from .library.custom_ops import OpOverload, OpOverloadPacket, ops

__all__ = ["OpOverload", "OpOverloadPacket", "_OpNamespace", "ops"]
