"""What in-place forms are recorded as that have a node of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .op_description import KernelFunction, Op, describe_recording


def recorded_write(
    name: str, node: str, parameters: KernelFunction, **derivatives: Callable[..., Any]
) -> tuple[Op, Op]:
    """What an in-place form is recorded as that has a node of its own, whatever its second argument is."""
    made = describe_recording(name, parameters, derivatives, node=node)
    return made, made
