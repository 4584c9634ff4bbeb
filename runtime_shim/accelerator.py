"""`torch.accelerator`: there is none."""

from __future__ import annotations

from typing import Any, NoReturn


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def current_accelerator(check_available: bool = False) -> None:
    return None


def _refused(*args: Any, **kwargs: Any) -> NoReturn:
    raise RuntimeError("Cannot access accelerator device when none is available.")


synchronize = current_device_index = current_device_idx = set_device_index = set_device_idx = _refused
current_stream = set_stream = _refused


def __getattr__(name: str) -> Any:
    from .core.supported_names import missing_attribute

    raise missing_attribute("torch.accelerator", name)
