"""Names that the shim doesn't support: the error that names them, and what it lists instead."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..core.late_modules import late_module
from .error_texts import UnsupportedError

#: While names are listed, one that is missing is only that.
_listing = False


@functools.cache
def _pytorch_names() -> dict[str, list[str]]:
    """The names of PyTorch's namespaces, as bench/write_torch_names.py wrote them; read when a lookup has failed."""
    text = Path(__file__).with_name("pytorch_names.txt").read_text(encoding="ascii")
    return {namespace: names.split() for namespace, _, names in (line.partition(":") for line in text.splitlines())}


def missing_attribute(module: str, name: str) -> AttributeError:
    """The error for `module.name`: unsupported if PyTorch has it, else what Python says of a missing attribute."""
    namespace = module.removeprefix("torch.")
    if not name.startswith("__") and not _listing and name in _pytorch_names().get(namespace, ()):
        return UnsupportedError(f"the shim has no {module}.{name}; supported: {supported(namespace)}")
    return AttributeError(f"module '{module}' has no attribute '{name}'")


def refuses_missing(module: str) -> Callable[[str], Any]:
    """A `__getattr__` for the module of that name, which refuses what the shim doesn't have."""

    def __getattr__(name: str) -> Any:
        raise missing_attribute(module, name)

    return __getattr__


def may_be_pytorchs(dotted: str) -> bool:
    """Whether PyTorch has this name. Where that isn't known, it most likely has: only the public names of some
    namespaces are.
    """
    package, _, name = dotted.rpartition(".")
    if name.startswith("_"):
        return not name.startswith("__")
    namespace = package.removeprefix("torch.")
    names = _pytorch_names().get(namespace)
    return names is None or name in names


def supported(namespace: str) -> str:
    """The names of a namespace that the shim has, as a list in one line."""
    if namespace == "Tensor":
        from .tensor import Tensor

        found = [n for n in dir(Tensor) if not isinstance(vars(Tensor).get(n), Unsupported)]
    else:
        try:
            module = late_module("" if namespace == "torch" else namespace)
        except ModuleNotFoundError:  # no file, but a namespace that the package has
            module = getattr(late_module(), namespace)
        found = [n for n in _pytorch_names().get(namespace, ()) if _stands_in(module, n)]
    return ", ".join(sorted(n for n in found if not n.startswith("_")))


def _stands_in(module: ModuleType, name: str) -> bool:
    """Whether the module has the name, and from this package."""
    global _listing
    outer, _listing = _listing, True
    try:
        found = getattr(module, name, None)
    finally:
        _listing = outer
    if isinstance(found, ModuleType):
        return found.__name__.startswith("guardfix.")
    home = str(getattr(found, "__module__", "torch")).partition(".")[0]
    return found is not None and home in ("guardfix", "torch")


def mark_unsupported() -> None:
    """Put `Unsupported` where Tensor lacks something that PyTorch's has. Run once, when all ops are registered."""
    from .tensor import Tensor

    for name in _pytorch_names()["Tensor"]:
        if not hasattr(Tensor, name):
            setattr(Tensor, name, Unsupported(name))
    Tensor.__dir__ = _names_of  # type: ignore[method-assign,assignment]


def _names_of(tensor: object) -> list[str]:
    """`dir(tensor)`: what it has."""
    from .tensor import Tensor

    own = vars(Tensor)
    return [n for n in object.__dir__(tensor) if not isinstance(own.get(n), Unsupported)]


class Unsupported:
    """Stands on Tensor for a method or attribute that PyTorch's has and the shim's has not."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> object:
        raise UnsupportedError(f"the shim has no torch.Tensor.{self.name}; supported: {supported('Tensor')}")
