"""The one place where the shim imports its modules by name, when something is first asked for.

What a module imports at its top, the layer contract reads. What it imports late may be above it, and is a row here;
tests/test_house.py compares. Packages that find their own modules by their names (`torch.nn.PReLU`) need no row.
"""

from __future__ import annotations

import importlib
from typing import Any

_SHIM = __name__.rpartition(".core.")[0]

ABOVE = {
    "aten.function_forms": "losses with a number for their reduction are those of nn.functional",
    "autograd": "torch.autograd.profiler is torch.profiler, and PyTorch's module has `torch`",
    "autograd.forward_ad": "nested arguments and results are taken apart as torch.utils._pytree does",
    "core.supported_names": "what a namespace has is listed in the error for what it lacks",
    "dispatch.function_overrides": "functions of networks ask as well, once somebody wants to be asked",
    "jit.archive_loader": "an archive runs on the shim itself by default",
    "jit.archived_tensors": "and so are the tensors of a checkpoint the shim's",
}
"""Modules that import by name what is above them, or may be, and why."""


def homes_of(names: dict[str, str]) -> dict[str, str]:
    """Where each name is, from modules and the names that they have."""
    return {name: home for home, listed in names.items() for name in listed.split()}


def late_module(name: str = "") -> Any:
    """The module of the shim called `name`, by default the shim itself."""
    return importlib.import_module(f"{_SHIM}.{name}" if name else _SHIM)
