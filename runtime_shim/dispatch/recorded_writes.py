"""What ops are recorded as that pass their layers by hand, and in-place forms that have a node of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .op_description import ANY_DTYPE, KernelFunction, Op, describe


def describe_recording(
    name: str, parameters: KernelFunction, derivatives: Mapping[str, Callable[..., Any] | None], **facts: Any
) -> Op:
    """The description of what an op is recorded as that passes its layers by hand; `parameters` only names them."""
    return describe(name, parameters, derivatives, computes=ANY_DTYPE, numbers=None, **facts)


def recorded_write(
    name: str, node: str, parameters: KernelFunction, **derivatives: Callable[..., Any]
) -> tuple[Op, Op]:
    """What an in-place form is recorded as that has a node of its own, whatever its second argument is."""
    made = describe_recording(name, parameters, derivatives, node=node)
    return made, made
