"""torch.jit.annotations: what annotations of scripted functions are written with."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035

__all__ = [
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "List", "Optional", "Tuple",
    "Union",
]  # fmt: skip


class _BroadcastingList:
    """`BroadcastingList2[int]`: one value or a list of them."""

    def __getitem__(self, types: Any) -> None:
        """An annotation says nothing to Python."""


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList()
