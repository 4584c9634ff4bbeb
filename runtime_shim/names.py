"""What happens to names that the shim does not have."""

from __future__ import annotations

from guardfix.runtime_shim.errors import UnsupportedError


def missing(module: str, name: str) -> AttributeError:
    """The error for `module.name`: unsupported if PyTorch has it, else what Python says of a missing
    attribute.
    """
    namespace = module.removeprefix("torch.")
    if not name.startswith("__"):
        from guardfix.runtime_shim.torch_names import NAMES

        if name in NAMES.get(namespace, "").split():
            return UnsupportedError(f"the shim has no {module}.{name}; supported: {supported(namespace)}")
    return AttributeError(f"module '{module}' has no attribute '{name}'")


def supported(namespace: str) -> str:
    """The names of a namespace that the shim has, as a list in one line."""
    import importlib

    if namespace == "Tensor":
        from guardfix.runtime_shim._tensor import Tensor

        found = [n for n in dir(Tensor) if not isinstance(vars(Tensor).get(n), Unsupported)]
    else:
        suffix = "" if namespace == "torch" else "." + namespace
        found = dir(importlib.import_module("guardfix.runtime_shim" + suffix))
    return ", ".join(sorted(n for n in found if not n.startswith("_")))


def mark_unsupported() -> None:
    """Put `Unsupported` where Tensor lacks something that PyTorch's has. Run once, when all ops are
    registered.
    """
    from guardfix.runtime_shim._tensor import Tensor
    from guardfix.runtime_shim.tensor_names import TENSOR_NAMES

    for name in TENSOR_NAMES.split():
        if not hasattr(Tensor, name):
            setattr(Tensor, name, Unsupported(name))


class Unsupported:
    """Stands on Tensor for a method or attribute that PyTorch's has and the shim's has not."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> object:
        raise UnsupportedError(f"the shim has no torch.Tensor.{self.name}; supported: {supported('Tensor')}")
