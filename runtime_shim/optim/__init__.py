"""`torch.optim`."""

from __future__ import annotations

from typing import Any

from ..core.late_modules import homes_of
from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD

#: Optimizers that are imported when they are asked for, by module.
_LATE = homes_of({"adaptive": "Adadelta Adagrad Adamax NAdam RAdam RMSprop", "lbfgs": "LBFGS"})


def __getattr__(name: str) -> Any:
    if name in _LATE:
        import importlib

        found = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_LATE[name]}"), name)
        return found
    if name in ("adam", "lr_scheduler", "optimizer", "sgd", "swa_utils"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    from ..core.supported_names import missing

    return missing("torch.optim", name)


__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
