"""`torch.mps` and `torch.xpu`: the shim has no such devices."""

from __future__ import annotations

from typing import Any


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def manual_seed(seed: int) -> None:
    """Without such a device there is nothing to seed."""


manual_seed_all = seed = manual_seed


def empty_cache() -> None:
    """Nothing is cached."""


def __getattr__(name: str) -> Any:
    from .core.supported_names import missing_attribute

    raise missing_attribute("torch.mps", name)
