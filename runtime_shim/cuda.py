"""`torch.cuda`: there is no GPU."""

from __future__ import annotations

from typing import Any


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def is_initialized() -> bool:
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    return False


def manual_seed(seed: int) -> None:
    """Without a GPU there is nothing to seed, in PyTorch either."""


manual_seed_all = manual_seed


def __getattr__(name: str) -> Any:
    from .core.supported_names import missing_attribute

    raise missing_attribute("torch.cuda", name)
