"""`torch.testing._internal.optests`: `opcheck` under the name that it had before `torch.library` had it."""

from __future__ import annotations

from ...core.supported_names import refuses_missing
from ...library.op_checks import opcheck

__all__ = ["opcheck"]


__getattr__ = refuses_missing("torch.testing._internal.optests")
