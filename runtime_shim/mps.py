"""`torch.mps` and `torch.xpu`: the shim has no such devices."""

from __future__ import annotations

from .core.supported_names import refuses_missing


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def manual_seed(seed: int) -> None:
    """Without such a device there is nothing to seed."""


manual_seed_all = seed = manual_seed


def empty_cache() -> None:
    """Nothing is cached."""


__getattr__ = refuses_missing("torch.mps")
