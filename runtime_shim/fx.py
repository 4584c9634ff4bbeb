"""`torch.fx`: marks for a tracer that the shim doesn't have."""

from __future__ import annotations

from typing import Any


def wrap(fn_or_name: Any) -> Any:
    """`fn_or_name`, which a tracer would not look into."""
    return fn_or_name


def __getattr__(name: str) -> Any:
    from .core.supported_names import missing_attribute

    raise missing_attribute("torch.fx", name)
