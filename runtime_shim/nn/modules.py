"""`torch.nn.modules`: the layers by their old place, and the hooks of all modules."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from . import module_hooks
from .module import Module

#: `torch.nn.modules.module`: Module, and what registers hooks of every module.
module = ModuleType("torch.nn.modules.module")
module.__dict__.update(
    {name: call for name, call in vars(module_hooks).items() if name.startswith("register_module_")}, Module=Module
)


def __getattr__(name: str) -> Any:
    from .. import nn

    return getattr(nn, name)
