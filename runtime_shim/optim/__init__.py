"""`torch.optim`."""

from __future__ import annotations

from typing import Any

from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD


def __getattr__(name: str) -> Any:
    if name == "lr_scheduler":
        import importlib

        return importlib.import_module("guardfix.runtime_shim.optim.lr_scheduler")
    from ..core.supported_names import missing_attribute

    raise missing_attribute("torch.optim", name)


__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
