"""`torch.utils.hooks`: what a table of hooks gives for each of them."""

from __future__ import annotations

from typing import Any

from ..tape.nodes import HookHandle


class RemovableHandle(HookHandle):
    """The number of an entry that the caller makes in `hooks_dict`; `remove()` takes it out."""

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        super().__init__(hooks_dict, None)
        del hooks_dict[self.id]
        self.extra = [extra_dict] if isinstance(extra_dict, dict) else list(extra_dict or ())

    def remove(self) -> None:
        self.hooks.pop(self.id, None)
        for table in self.extra:
            table.pop(self.id, None)
