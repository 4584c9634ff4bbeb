"""Functions by name: how a room uses what stands in a room above it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Everything callable as `torch.<name>`; filled as ops are registered.
FUNCTIONS: dict[str, Callable[..., Any]] = {}

#: What the tape asks of the ops and no program calls.
INTERNAL: dict[str, Callable[..., Any]] = {}

#: Ops that programs reach as `torch.ops.aten.<name>` alone.
ATEN_ALONE: dict[str, Callable[..., Any]] = {}
