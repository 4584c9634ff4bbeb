"""`torch.utils._mode_utils`: what programs with modes share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._C import _DisableTorchDispatch as no_dispatch

__all__ = ["all_same_mode", "no_dispatch"]


def all_same_mode(modes: Sequence[Any]) -> bool:
    """Whether the modes are all equal to the first."""
    return all(mode == modes[0] for mode in modes)
