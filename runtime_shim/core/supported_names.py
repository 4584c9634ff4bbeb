"""Names that the shim doesn't support: the error that names them, and what it lists instead."""

from __future__ import annotations

from types import ModuleType

from .error_texts import UnsupportedError

#: While names are listed, one that is missing is only that.
_listing = False


def missing_attribute(module: str, name: str) -> AttributeError:
    """The error for `module.name`: unsupported if PyTorch has it, else what Python says of a missing
    attribute.
    """
    namespace = module.removeprefix("torch.")
    if not name.startswith("__") and not _listing:
        from .tensor_names import TORCH_NAMES

        if name in TORCH_NAMES.get(namespace, "").split():
            return UnsupportedError(f"the shim has no {module}.{name}; supported: {supported(namespace)}")
    return AttributeError(f"module '{module}' has no attribute '{name}'")


def may_be_pytorchs(dotted: str) -> bool:
    """Whether PyTorch has this name. Where that isn't known, it most likely has: only the public names of some
    namespaces are.
    """
    from .tensor_names import TORCH_MODULES, TORCH_NAMES

    package, _, name = dotted.rpartition(".")
    if name.startswith("_"):
        return not name.startswith("__")
    namespace = package.removeprefix("torch.")
    names = TORCH_NAMES.get(namespace)
    return names is None or name in names.split() or name in TORCH_MODULES.get(namespace, "").split()


def supported(namespace: str) -> str:
    """The names of a namespace that the shim has, as a list in one line."""
    import importlib

    if namespace == "Tensor":
        from .tensor import Tensor

        found = [n for n in dir(Tensor) if not isinstance(vars(Tensor).get(n), Unsupported)]
    else:
        suffix = "" if namespace == "torch" else "." + namespace
        from .tensor_names import TORCH_NAMES

        try:
            module = importlib.import_module("guardfix.runtime_shim" + suffix)
        except ModuleNotFoundError:  # no file, but a namespace that the package has
            module = getattr(importlib.import_module("guardfix.runtime_shim"), namespace)
        found = [n for n in TORCH_NAMES.get(namespace, "").split() if _stands_in(module, n)]
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
    """Put `Unsupported` where Tensor lacks something that PyTorch's has. Run once, when all ops are
    registered.
    """
    from .tensor import Tensor
    from .tensor_names import TENSOR_NAMES

    for name in TENSOR_NAMES.split():
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
