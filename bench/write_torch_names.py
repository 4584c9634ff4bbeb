#!/usr/bin/env python3
"""Writes the names that PyTorch has, from which the shim knows a name that it lacks from a misspelt one.

    PYTHON_WITH_TORCH bench/write_torch_names.py [FILE]

Run it with PyTorch 2.13. Each line of runtime_shim/core/pytorch_names.txt is a module and its names. `Name*` is a
class; `=name` the same object as in the nearest module above that has the name.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import pkgutil
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path

import torch

TARGET = Path(__file__).resolve().parents[1] / "runtime_shim" / "core" / "pytorch_names.txt"
SKIPPED = tuple("_meta_registrations _native _numpy _prims. _refs. _vendor contrib testing._internal".split())
SHALLOW = frozenset("ao distributed export fx onnx package quantization".split())
"""Large packages, of which the names without an underscore in the modules at their top are enough."""
PRIVATE = (
    *(f"testing._internal.{name}" for name in ("common_device_type", "common_utils", "optests")),
    "_dynamo.config",
    "_inductor.config",
)
WITH_OTHERS = {"utils.tensorboard": ["FileWriter*", "SummaryWriter*"]}
"""Modules that PyTorch imports only where other packages are installed."""


def modules(name: str = "torch") -> Iterator[tuple[str, types.ModuleType]]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            module = importlib.import_module(name)
        except Exception:
            return
    yield name.removeprefix("torch."), module
    for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
        inner = f"{name}.{info.name}"
        short = inner.removeprefix("torch.")
        parts = short.split(".")
        deep = any(part.startswith("_") for part in parts[:-1])
        deep = deep or (parts[0] in SHALLOW and (len(parts) > 2 or parts[-1].startswith("_")))
        if info.name != "__main__" and not deep and not short.startswith(SKIPPED):
            yield from modules(inner)


def is_torchs(module: types.ModuleType, name: str, found: object) -> bool:
    """Whether a name belongs to a module, rather than being something that it imported."""
    if isinstance(found, types.ModuleType) or name == "TYPE_CHECKING":
        return False
    if name in getattr(module, "__all__", ()):
        return True
    home = str(getattr(found, "__module__", None) or "torch").partition(".")[0]
    if name.startswith("_"):
        private = module.__name__.split(".")[1:2]
        return not name.startswith("__") and callable(found) and home == "torch" and SHALLOW.isdisjoint(private)
    return home in ("torch", "builtins")


def names_of(namespace: str, module: types.ModuleType) -> Iterator[str]:
    for name in sorted(dir(module)):
        try:
            found = getattr(module, name)
        except Exception:
            continue
        if not is_torchs(module, name, found):
            continue
        above, same = namespace, False
        while above != "torch" and not same:
            above = above.rpartition(".")[0] or "torch"
            other = sys.modules[f"torch.{above}".removesuffix(".torch")]
            if hasattr(other, name):
                if getattr(other, name) is not found:
                    break
                same = True
        yield f"{'=' * same}{name}{'*' * isinstance(found, type)}"


def rows() -> Iterator[str]:
    yield f"Tensor: {' '.join(sorted(name for name in dir(torch.Tensor) if not name.startswith('__')))}\n"
    found = [*modules(), *((name, importlib.import_module(f"torch.{name}")) for name in PRIVATE)]
    made = {name: list(names_of(name, module)) for name, module in found} | WITH_OTHERS
    yield from (f"{name}: {' '.join(names)}".strip() + "\n" for name, names in sorted(made.items()))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    (Path(sys.argv[1]) if sys.argv[1:] else TARGET).write_text("".join(rows()), encoding="ascii")
