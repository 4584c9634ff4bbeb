"""`torch.fx`: marks for a tracer that the shim doesn't have."""

from __future__ import annotations

from .core.supported_names import refuses_missing


def wrap(fn_or_name: object) -> object:
    """`fn_or_name`, which a tracer would not look into."""
    return fn_or_name


__getattr__ = refuses_missing("torch.fx")
