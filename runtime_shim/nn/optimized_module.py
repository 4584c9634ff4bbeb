"""What `torch.compile` makes of a module: one that has it within."""

from __future__ import annotations

from typing import Any

from .module import Module


class OptimizedModule(Module):
    """Calls `_orig_mod`, whose attributes it shows as its own; the names of its parameters begin with `_orig_mod.`."""

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._orig_mod = mod

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._orig_mod(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._modules[name]
        return getattr(self._orig_mod, name)

    def train(self, mode: bool = True) -> OptimizedModule:
        self._orig_mod.train(mode)
        super().train(mode)
        return self
