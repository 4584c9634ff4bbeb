"""Weights that are made again before each call: weight normalization and spectral normalization."""

from __future__ import annotations

from typing import Any

from ...aten import FUNCTIONS
from ...core.gradient_modes import no_grad
from ...core.tensor import Tensor
from .. import functional as F
from ..parameter import Parameter


def norm_except(v: Tensor, dim: int) -> Tensor:
    """The norms along all dimensions but `dim`, in a shape that broadcasts; the norm of all for -1."""
    if dim == -1:
        return v.norm()
    others = [d for d in range(v.dim()) if d != dim % v.dim()]
    return FUNCTIONS["linalg_vector_norm"](v, 2, others, True)


class WeightNorm:
    """A hook that sets a weight to `g * v / |v|`."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def weight(self, module: object) -> Tensor:
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return v * (g / norm_except(v, self.dim))

    def __call__(self, module: Any, inputs: Tensor) -> None:
        setattr(module, self.name, self.weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Replaces a weight by its length `name_g` and its direction `name_v`; returns the module."""
    import warnings

    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, WeightNorm) and hook.name == name:
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    made = WeightNorm(name, dim)
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(norm_except(weight, made.dim).data))
    module.register_parameter(name + "_v", Parameter(weight.data))
    setattr(module, name, made.weight(module))
    module.register_forward_pre_hook(made)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Makes the weight a parameter again; ValueError if it wasn't normalized."""
    hook = _taken_off(module, WeightNorm, name)
    if hook is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    weight = hook.weight(module)
    delattr(module, name)
    del module._parameters[name + "_g"], module._parameters[name + "_v"]
    setattr(module, name, Parameter(weight.data))
    return module


class SpectralNorm:
    """A hook that sets a weight to itself over its largest singular value, which power iteration estimates."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def matrix(self, weight: Tensor) -> Tensor:
        if self.dim:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.size(0), -1)

    def weight(self, module: object, iterate: bool) -> Tensor:
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.matrix(weight)
        if iterate:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(FUNCTIONS["mv"](matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(FUNCTIONS["mv"](matrix, v), dim=0, eps=self.eps))
                if self.n_power_iterations > 0:
                    u, v = u.clone(), v.clone()
        return weight / FUNCTIONS["dot"](u, FUNCTIONS["mv"](matrix, v))

    def __call__(self, module: Any, inputs: Tensor) -> None:
        setattr(module, self.name, self.weight(module, module.training))


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divides a weight by its largest singular value before each call; returns the module."""
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    if n_power_iterations <= 0:
        raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
    if dim is None:
        dim = int(type(module).__name__.startswith("ConvTranspose"))
    made = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    with no_grad():
        rows, columns = made.matrix(weight).size()
        u = F.normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
        v = F.normalize(weight.new_empty(columns).normal_(0, 1), dim=0, eps=eps)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(made)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Makes the weight a parameter again; ValueError if it wasn't normalized."""
    hook = _taken_off(module, SpectralNorm, name)
    if hook is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    with no_grad():
        weight = hook.weight(module, False)
    delattr(module, name)
    for suffix in ("_u", "_v", "_orig"):
        delattr(module, name + suffix)
    module.register_parameter(name, Parameter(weight.detach()))
    return module


def _taken_off(module: Any, kind: type[Any], name: str) -> Any:
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, kind) and hook.name == name:
            del module._forward_pre_hooks[key]
            return hook
    return None
