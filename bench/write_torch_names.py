#!/usr/bin/env python3
"""Writes the names that PyTorch has, from which the shim knows a name that it lacks from a misspelt one.

    PYTHON_WITH_TORCH bench/write_torch_names.py

Run it with PyTorch 2.13. Each line of runtime_shim/core/pytorch_names.txt is a namespace and its names: those that
`dir()` shows, and the modules that it doesn't show before they are imported.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import torch

TARGET = Path(__file__).resolve().parents[1] / "runtime_shim" / "core" / "pytorch_names.txt"
NAMESPACES = """
torch nn nn.functional nn.init nn.utils nn.utils.parametrizations nn.utils.parametrize nn.attention optim
optim.lr_scheduler optim.swa_utils autograd autograd.functional autograd.graph func linalg special fft utils utils.data
utils.benchmark utils.checkpoint utils._pytree distributions distributions.transforms cuda jit library overrides
""".split()
"""Those whose lacking names are reported as such. Of `Tensor`, names with one underscore count as well."""
NOT_TORCHS = frozenset(["_dynamo", "_inductor"])


def names_of(namespace: str) -> list[str]:
    package = "torch" if namespace == "torch" else f"torch.{namespace}"
    module = importlib.import_module(package)
    found = {name for name in dir(module) if not name.startswith("_")}
    for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if not info.name.startswith("_") and info.name not in NOT_TORCHS:
            found.add(info.name)
    return sorted(found)


def main() -> None:
    rows = {"Tensor": sorted(name for name in dir(torch.Tensor) if not name.startswith("__"))}
    rows |= {namespace: names_of(namespace) for namespace in NAMESPACES}
    TARGET.write_text("".join(f"{namespace}: {' '.join(names)}\n" for namespace, names in rows.items()))


if __name__ == "__main__":
    main()
