"""The backend of the program that runs."""

from __future__ import annotations

import importlib

from .cpp_backend import Backend

_current: Backend | None = None


def current() -> Backend:
    """The backend of the program that runs; the shim unless `use` chose another."""
    global _current
    if _current is None:
        _current = make("guardfix.runtime_shim")
    return _current


def make(module: str, *, legacy_since19: bool = False) -> Backend:
    """The backend for the module of this name: `guardfix.runtime_shim`, or `torch`."""
    kind: type[Backend]
    if module == "torch":
        from .torch_backend import TorchBackend as kind
    else:
        from .shim_backend import ShimBackend as kind
    return kind(importlib.import_module(module), legacy_since19=legacy_since19)


def use(backend: Backend) -> None:
    """Makes `backend` the one behind the programs that are loaded from now on."""
    global _current
    _current = backend
