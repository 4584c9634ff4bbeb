"""`torch.testing._internal.optests`: `opcheck` under the name that it had before `torch.library` had it."""

from __future__ import annotations

from typing import Any

from ...core.error_texts import UnsupportedError
from ...library.op_checks import opcheck

__all__ = ["opcheck"]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise UnsupportedError(f"the shim has no torch.testing._internal.optests.{name}; supported: {', '.join(__all__)}")
