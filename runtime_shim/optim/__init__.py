"""`torch.optim`."""

from __future__ import annotations

from typing import Any

from guardfix.runtime_shim.optim.adam import Adam, AdamW
from guardfix.runtime_shim.optim.optimizer import Optimizer
from guardfix.runtime_shim.optim.sgd import SGD


def __getattr__(name: str) -> Any:
    from guardfix.runtime_shim.names import missing

    raise missing("torch.optim", name)


__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
