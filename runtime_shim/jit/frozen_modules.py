"""`torch.jit.freeze` and `optimize_for_inference`: scripted modules whose parameters are constants.

Source of what a frozen module shows, and of the words: torch/jit/_freeze.py and torch/csrc/jit/api/module.cpp of 2.13.
The graph is not optimized, so results may differ in their last bits where PyTorch merges a batch norm
into a convolution.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ..core.error_texts import UnsupportedError
from ..nn.module import Module
from .script_module import ArchiveModule
from .scripted_modules import RecursiveScriptModule

_EXPECTS = (
    "{} expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script your 'nn.Module'."
)


class FrozenModule(RecursiveScriptModule):
    """`forward` and the preserved attributes of a scripted module. Gradients reach the inputs, not the constants."""

    def __init__(self, constant: RecursiveScriptModule | ArchiveModule, preserved: Sequence[str]) -> None:
        Module.__init__(self)
        del self.__dict__["training"]
        self.__dict__["_constant"] = constant
        self.__dict__["_preserved"] = frozenset(preserved)

    @property
    def original_name(self) -> str:
        return self._constant.original_name

    @property
    def script_class(self) -> Any:
        """The class that a loaded module's archive declares."""
        return self._constant.script_class

    @property
    def code(self) -> str:
        return self._constant.code

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._constant(*args, **kwargs)

    def run_method(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Calls `forward` or a preserved method. RuntimeError when there is none of this name."""
        if name != "forward" and name not in self._preserved:
            raise RuntimeError(f"Method '{name}' is not defined.")
        return getattr(self, name)(*args, **kwargs)

    def hasattr(self, name: str) -> bool:
        """Whether an attribute of this name (not: a method) was preserved."""
        return name in self._preserved and not callable(getattr(self._constant, name))

    def attr(self, name: str) -> Any:
        return getattr(self, name)

    def save(self, f: Any, **kwargs: Any) -> None:
        """Refused: NotImplementedError."""
        raise UnsupportedError("the shim can't save a frozen module; save the module that it was made from")

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if name in own.get("_preserved", ()):
            return getattr(own["_constant"], name)
        raise AttributeError(f"'RecursiveScriptModule' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        Module.__setattr__(self, name, value)

    def _get_name(self) -> str:
        return "RecursiveScriptModule"

    def _container(self, method: str) -> Any:
        raise NotImplementedError


def freeze(mod: Any, preserved_attrs: Sequence[str] | None = None, optimize_numerics: bool = True) -> FrozenModule:
    """A module with `forward` and the preserved attributes of a scripted one in eval mode; its tensors are shared.

    RuntimeError for a module that isn't scripted or is in training mode, and for a preserved name that it hasn't.
    """
    _check_scripted(mod, "Freezing")
    if mod.training:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. "
            "Please call .eval() on your module before freezing."
        )
    preserved = list(preserved_attrs or ())
    for name in preserved:
        if not hasattr(mod, name):
            raise RuntimeError(f"Unknown name: {name}")
    tensors = [*mod.parameters(), *mod.buffers()]
    return FrozenModule(copy.deepcopy(mod, {id(tensor): tensor.detach() for tensor in tensors}), preserved)


def optimize_for_inference(mod: Any, other_methods: Sequence[str] | None = None) -> FrozenModule:
    """The module, frozen unless it is, in eval mode. RuntimeError for a module that isn't scripted."""
    _check_scripted(mod, "optimize_for_inference")
    return mod if isinstance(mod, FrozenModule) else freeze(mod.eval(), preserved_attrs=other_methods)


def _check_scripted(module: Any, function: str) -> None:
    if not isinstance(module, (RecursiveScriptModule, ArchiveModule)):
        raise RuntimeError(_EXPECTS.format(function))
