"""Binding the name `torch` to another module while a Python program runs."""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from ..core.supported_names import is_placeholder, is_pytorchs_module, missing_module, refuses_missing


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `torch.x.y` as `<module>.x.y`: a sub-module, or an attribute that has one's place."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.specs: dict[int, importlib.machinery.ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith("torch."):
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        found: Any = importlib.import_module(self.module)
        for name in spec.name.split(".")[1:]:
            found = getattr(found, name, None)
        if not isinstance(found, ModuleType) or is_placeholder(found):
            real = self.module + spec.name.removeprefix("torch")
            try:  # a module goes before a function of its name
                found = importlib.import_module(real)
            except ModuleNotFoundError as error:
                if found is None and is_pytorchs_module(spec.name):
                    found = missing_module(spec.name)
                elif found is None and real.startswith(f"{error.name}"):
                    raise ModuleNotFoundError(f"No module named {spec.name!r}", name=spec.name) from None
                elif found is None:
                    raise
        if isinstance(found, ModuleType):
            self.specs[id(found)] = found.__spec__
            if not hasattr(found, "__path__"):
                found.__path__ = []  # PyTorch's may be a package
            if type(found) is ModuleType:  # others look names up themselves, and not last
                vars(found).setdefault("__getattr__", refuses_missing(spec.name))
        return found

    def exec_module(self, module: ModuleType) -> None:
        """The module was executed under its own name: it keeps what that left."""
        module.__spec__ = self.specs.pop(id(module), module.__spec__)


@contextlib.contextmanager
def bound_to(module: str) -> Iterator[None]:
    """Inside, `import torch` and `import torch.x` give the module of this name and what is in it."""
    if module == "torch":
        yield
        return
    before = {name: found for name, found in sys.modules.items() if name == "torch" or name.startswith("torch.")}
    for name in before:
        del sys.modules[name]
    finder = _Alias(module)
    sys.modules["torch"] = importlib.import_module(module)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name == "torch" or name.startswith("torch.")]:
            del sys.modules[name]
        sys.modules.update(before)


def bind_for_good(module: str) -> None:
    """From now on `import torch` gives the module of this name: what the `torch` of a private environment calls."""
    for name in [name for name in sys.modules if name.startswith("torch.")]:
        del sys.modules[name]
    sys.modules["torch"] = importlib.import_module(module)
    sys.meta_path.insert(0, _Alias(module))
    importlib.import_module(f"{module}.overrides")  # a library's classes can have a __torch_function__
