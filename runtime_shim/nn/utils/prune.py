"""`torch.nn.utils.prune`: weights some of whose elements are zero.

A pruned parameter `name` becomes `name_orig`, with a buffer `name_mask` of zeros and ones; a hook multiplies the two
before each call. Source of the words: torch/nn/utils/prune.py of 2.13.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from ...aten import FUNCTIONS
from ...core.tensor import Tensor
from ..gradient_utils import parameters_to_vector
from ..module import Module


class BasePruningMethod(ABC):
    """A way to prune: a hook before a module's call. `compute_mask` says what stays of what a mask left."""

    PRUNING_TYPE = "unstructured"
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of `t`, at least as strict as `default_mask`."""

    def apply_mask(self, module: Module) -> Tensor:
        """The pruned tensor."""
        assert self._tensor_name is not None, f"Module {module} has to be pruned"
        mask, original = (getattr(module, f"{self._tensor_name}_{part}") for part in ("mask", "orig"))
        pruned: Tensor = mask.to(dtype=original.dtype) * original
        return pruned

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prune a parameter of the module, by this method after those that prune it already; returns the hook."""
        method = cls._after_others(module, name, *args, **kwargs)
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        assert scores.shape == original.shape, (
            f"importance_scores should have the same shape as parameter {name} of {module}, got {scores.shape} vs "
            f"{original.shape}"
        )
        again = isinstance(method, PruningContainer)
        if again:
            before = getattr(module, f"{name}_mask").detach().clone()
        else:
            module.register_parameter(f"{name}_orig", original)
            del module._parameters[name]
            before = FUNCTIONS["ones_like"](original)
        try:
            module.register_buffer(f"{name}_mask", method.compute_mask(scores, default_mask=before))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if not again:
                module.register_parameter(name, getattr(module, f"{name}_orig"))
                del module._parameters[f"{name}_orig"]
            raise
        return method

    @classmethod
    def _after_others(cls, module: Module, name: str, *args: Any, **kwargs: Any) -> Any:
        """The method alone, or a container of it and of what prunes the tensor already."""
        keys = [key for key, hook in _hooks(module) if hook._tensor_name == name]
        assert len(keys) < 2, (
            f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a PruningContainer."
        )
        known = module._forward_pre_hooks.pop(keys[0]) if keys else None
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if known is None:
            return method
        container = known if isinstance(known, PruningContainer) else PruningContainer(known)
        container.add_pruning_method(method)
        return container

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """`t` with its pruned elements zero, no module involved."""
        scores = t if importance_scores is None else importance_scores
        assert scores.shape == t.shape, (
            f"importance_scores should have the same shape as tensor t, got {scores.shape} vs {t.shape}"
        )
        before = FUNCTIONS["ones_like"](t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=before)

    def remove(self, module: Any) -> None:
        """Make the pruned tensor a parameter again, with its zeros."""
        name = self._tensor_name
        assert name is not None, f"Module {module} has to be pruned before pruning can be removed"
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(f"{name}_orig")
        original.data = weight.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods of one tensor, each of which prunes what those before it left."""

    _tensor_name: Any = None

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer "
                f"{self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask with what the last method prunes of what is left."""
        method: Any = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        left = self._left_by(method, t, mask)
        mask[left] = method.compute_mask(t[left], default_mask=mask[left]).to(dtype=mask.dtype)
        return mask

    @staticmethod
    def _left_by(method: Any, t: Tensor, mask: Tensor) -> Any:
        dims = t.dim()
        if method.PRUNING_TYPE == "unstructured":
            return mask == 1
        everything: list[Any] = [slice(None)] * dims
        if method.PRUNING_TYPE == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError(
                    'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.'
                )
            dim = method.dim + dims if method.dim < 0 else method.dim
            if dim < 0:
                raise IndexError(f"Index is out of bounds for tensor with dimensions {dims}")
            everything[dim] = mask.sum(dim=[d for d in range(dims) if d != dim]) != 0
        elif method.PRUNING_TYPE != "global":
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        return tuple(everything)


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the mask."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _Unstructured(BasePruningMethod):
    """Prunes single elements: so many, or that share of them."""

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _pruned(self, t: Tensor, count: int) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = _compute_nparams_toprune(self.amount, t.nelement())
        _validate_pruning_amount(count, t.nelement())
        mask = default_mask.clone(memory_format="contiguous")
        if count:
            mask.view(-1)[self._pruned(t, count)] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements at random."""

    def _pruned(self, t: Tensor, count: int) -> Tensor:
        found: Tensor = FUNCTIONS["rand_like"](t).view(-1).topk(count)[1]
        return found


class L1Unstructured(_Unstructured):
    """Prunes the elements with the smallest absolute values."""

    def _pruned(self, t: Tensor, count: int) -> Tensor:
        found: Tensor = t.abs().reshape(-1).topk(count, largest=False)[1]
        return found


class _Structured(BasePruningMethod):
    """Prunes whole channels along a dimension."""

    PRUNING_TYPE = "structured"
    amount: Any
    dim: int

    def _kept(self, t: Tensor, channels: int, count: int) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        channels = t.shape[self.dim]
        count = _compute_nparams_toprune(self.amount, channels)
        _validate_pruning_amount(count, channels)
        kept = self._kept(t, channels, count) if count or isinstance(self, LnStructured) else None
        if not count:
            return default_mask
        mask = FUNCTIONS["zeros_like"](t)
        where: list[Any] = [slice(None)] * t.dim()
        where[self.dim] = kept
        mask[tuple(where)] = 1
        mask *= default_mask.to(dtype=mask.dtype)
        return mask


class RandomStructured(_Structured):
    """Prunes channels at random."""

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.dim = amount, dim

    def _kept(self, t: Tensor, channels: int, count: int) -> Tensor:
        drawn = FUNCTIONS["rand"](channels)
        return drawn > drawn.kthvalue(count)[0]


class LnStructured(_Structured):
    """Prunes the channels with the smallest norms of order `n`."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def _kept(self, t: Tensor, channels: int, count: int) -> Tensor:
        found: Tensor = _compute_norm(t, self.n, self.dim).topk(channels - count, largest=True)[1]
        return found


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        assert default_mask.shape == self.mask.shape, (
            f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
        )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def _hooks(module: Module) -> list[tuple[int, BasePruningMethod]]:
    """The hooks that prune parameters of the module, and their keys."""
    hooks = module._forward_pre_hooks.items()
    return [(key, hook) for key, hook in hooks if isinstance(hook, BasePruningMethod)]


# -- functions, which return the module
# --------------------------------------------------------------------------------------------------


def identity(module: Module, name: str) -> Module:
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: Any) -> Module:
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: Any, importance_scores: Any = None) -> Module:
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: Any, dim: int) -> Module:
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Module, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None) -> Module:
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """Prune the parameters `[(module, name), …]` as if they were one."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs: list[Any] = list(parameters)
    joined = parameters_to_vector([scores.get((module, name), getattr(module, name)) for module, name in pairs])
    ones = FUNCTIONS["ones_like"]
    before = parameters_to_vector(
        [getattr(module, f"{name}_mask", ones(getattr(module, name))) for module, name in pairs]
    )
    container = PruningContainer()
    method = pruning_method(**kwargs)
    container._tensor_name = method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    mask, start = container.compute_mask(joined, before), 0
    for module, name in pairs:
        parameter = getattr(module, name)
        custom_from_mask(module, name, mask=mask[start : start + parameter.numel()].view_as(parameter))
        start += parameter.numel()


def remove(module: Module, name: str) -> Module:
    """Make the pruning of a parameter permanent. ValueError if it isn't pruned."""
    for key, hook in _hooks(module):
        if hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module or of one in it is pruned."""
    return any(True for inner in module.modules() for _ in _hooks(inner))


# -- checks
# ------------------------------------------------------------------------------------------------------------


def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole = isinstance(amount, numbers.Integral)
    if float(amount) < 0 or (not whole and float(amount) > 1):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    if isinstance(amount, numbers.Integral) and int(amount) > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _validate_structured_pruning(t: Tensor) -> None:
    if len(t.shape) <= 1:
        raise ValueError(
            f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape {t.shape} with "
            f"{len(t.shape)} dims"
        )


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    return int(amount) if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _validate_pruning_dim(t: Tensor, dim: int) -> None:
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_norm(t: Tensor, n: Any, dim: int) -> Tensor:
    others = [d for d in range(t.dim()) if d != dim % t.dim()]
    found: Tensor = FUNCTIONS["norm"](t, p=n, dim=others)
    return found
