"""`torch._dynamo`: nothing is compiled, so what says how to compile says nothing."""

from __future__ import annotations

from .compiler import disable, is_compiling, reset

__all__ = ["disable", "is_compiling", "reset"]
