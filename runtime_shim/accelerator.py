"""`torch.accelerator`: there is none."""

from __future__ import annotations

from typing import NoReturn

from .core.supported_names import refuses_missing


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def current_accelerator(check_available: bool = False) -> None:
    return None


def _refused(*args: object, **kwargs: object) -> NoReturn:
    raise RuntimeError("Cannot access accelerator device when none is available.")


synchronize = current_device_index = current_device_idx = set_device_index = set_device_idx = _refused
current_stream = set_stream = _refused


__getattr__ = refuses_missing("torch.accelerator")
