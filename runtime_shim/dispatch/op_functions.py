"""Where an op keeps the functions that were made for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class OpCode:
    """The functions that an op gets when it has been called a few times; see `op_code`."""

    __slots__ = ("calls", "record", "run")

    def __init__(self) -> None:
        self.calls = 0
        self.run: Callable[..., Any] | None = None
        self.record: Callable[..., Any] | None = None
