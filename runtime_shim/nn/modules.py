"""`torch.nn.modules`: the layers by their old place, and the hooks of all modules."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, ClassVar

from . import module_hooks
from .module import Module


class _ModuleOfModule(ModuleType):
    """Its tables of hooks of all modules are those that calls look at, whoever sets them."""

    _TABLES: ClassVar[dict[str, str]] = {
        "_global_forward_hooks": "forward",
        "_global_forward_pre_hooks": "forward_pre",
        "_global_backward_hooks": "backward",
        "_global_backward_pre_hooks": "backward_pre",
        "_global_parameter_registration_hooks": "parameter",
        "_global_buffer_registration_hooks": "buffer",
        "_global_module_registration_hooks": "module",
        "_global_is_full_backward_hook": "full",
    }

    def __getattr__(self, name: str) -> Any:
        if name in self._TABLES:
            return getattr(module_hooks.GlobalHooks, self._TABLES[name])
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __setattr__(self, name: str, value: object) -> None:
        if name in self._TABLES:
            setattr(module_hooks.GlobalHooks, self._TABLES[name], value)
            module_hooks.GlobalHooks.look()
        else:
            super().__setattr__(name, value)


#: `torch.nn.modules.module`: Module, and what registers hooks of every module.
module = _ModuleOfModule("torch.nn.modules.module")
module.__dict__.update(
    {name: call for name, call in vars(module_hooks).items() if name.startswith("register_module_")}, Module=Module
)


#: The modules of torch.nn.modules that hold layers. Each has all layers: programs name the one that they want.
_HOMES = frozenset(
    "activation adaptive batchnorm channelshuffle container conv distance dropout flatten fold instancenorm "
    "linear loss normalization padding pixelshuffle pooling rnn sparse transformer upsampling".split()
)

__path__: list[str] = []  # so that `import torch.nn.modules.conv` looks for it here


#: What packages derive layers of their own from, by the file that has it.
_BASES = {
    "_BatchNorm": "layers",
    "_ConvNd": "conv_layers",
    "_ConvTransposeNd": "conv_layers",
    "_NormBase": "layers",
    "_InstanceNorm": "more_layers",
    "_DropoutNd": "weightless_layers",
    "_Loss": "weightless_layers",
    "_WeightedLoss": "weightless_layers",
}


class _Home(ModuleType):
    def __getattr__(self, name: str) -> Any:
        from .. import nn

        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        if name in _BASES:
            return getattr(importlib.import_module(f"..{_BASES[name]}", __name__), name)
        return getattr(nn, name)


def __getattr__(name: str) -> Any:
    from .. import nn

    if name in _HOMES:
        made = globals()[name] = _Home(f"torch.nn.modules.{name}")
        return made
    if name == "utils":
        return importlib.import_module("..gradient_utils", __name__)
    return getattr(nn, name)
