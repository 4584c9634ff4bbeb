"""`torch.nn.utils.parametrize`: tensors of modules that are computed from other tensors at each access.

A module whose tensor is parametrized gets its own class, with a property in the place of the tensor; what the
tensor is computed from is in `module.parametrizations.<name>`. Source of the words: torch/nn/utils/parametrize.py of
2.13.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...core.gradient_modes import no_grad
from ...core.supported_names import refuses_missing
from ...core.tensor import Tensor
from ..containers import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "type_before_parametrizations",
]

_cache_enabled = 0
_cache: dict[tuple[int, str], Tensor] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Inside, each parametrized tensor is computed once."""
    global _cache_enabled, _cache
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache = {}


def _attach(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _store(target: Tensor, value: Any) -> None:
    """Give `target` the memory of `value`, as `set_` does."""
    with no_grad():
        target.set_(value.detach() if value.requires_grad else value)


def _inverse(parametrization: object, value: object) -> Any:
    """What a parametrization's right inverse makes of a value: the value itself if it has none."""
    if not hasattr(parametrization, "right_inverse"):
        return value
    try:
        return parametrization.right_inverse(value)
    except NotImplementedError:
        return value


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and the tensors that it is computed from: `original`, or `original0` and so
    on where the first right inverse gives several. ValueError if what they compute isn't a tensor of the same shape and
    dtype, unless `unsafe`.
    """

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            start = original
            for module in reversed(list(self)):
                start = _inverse(module, start)
        if not isinstance(start, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(start).__name__}"
            )
        self.is_tensor = isinstance(start, Tensor)
        self.ntensors = 1 if self.is_tensor else len(start)
        if self.is_tensor:
            if start.dtype != dtype:  # type: ignore[union-attr]
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {dtype}\nright_inverse(original).dtype: {start.dtype}"  # type: ignore[union-attr]
                )
            _store(original, start)
            _attach(self, "original", original)
        else:
            self._attach_several(start, original)
        if not unsafe:
            self._check(shape, dtype)

    def _attach_several(self, tensors: Any, original: Any) -> None:
        for i, tensor in enumerate(tensors):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                    f"Got element {i} of the sequence with type {type(tensor).__name__}."
                )
            if isinstance(original, Parameter):
                tensor = Parameter(tensor, original.requires_grad)
            tensor.requires_grad_(original.requires_grad)
            _attach(self, f"original{i}", tensor)

    def _check(self, shape: object, dtype: object) -> None:
        found = self()
        if not isinstance(found, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(found).__name__}.")
        for what, before, after in (("dtype", dtype, found.dtype), ("shape", shape, found.shape)):
            if before != after:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized {what}: {before}\nparametrized {what}: {after}"
                )

    def _originals(self) -> list[Any]:
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: object) -> None:
        """Set the originals so that they compute `value`. RuntimeError if a parametrization has no right inverse."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                self._set_one(value)
            else:
                self._set_several(value)

    def _set_one(self, value: object) -> None:
        if not isinstance(value, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
        if value.dtype != self.original.dtype:
            raise ValueError(
                f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype "
                f"{self.original.dtype}"
            )
        _store(self.original, value)

    def _set_several(self, values: object) -> None:
        if not isinstance(values, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(values).__name__}.")
        if len(values) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of "
                f"length {len(values)}."
            )
        for i, (tensor, original) in enumerate(zip(values, self._originals(), strict=True)):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors or reference-type opaques. Got element "
                    f"{i} of type {type(tensor).__name__}."
                )
            if original.dtype != tensor.dtype:
                raise ValueError(
                    f"Tensor {i} returned by `right_inverse` has dtype {tensor.dtype} while `original{i}` has dtype "
                    f"{original.dtype}"
                )
            _store(original, tensor)

    def forward(self) -> Any:
        first, *others = self
        found = first(*self._originals())
        for module in others:
            found = module(found)
        return found


# -- modules with parametrized tensors


def _own_class(module: Module) -> None:
    """Give a module its own class, which can have properties."""
    before = type(module)

    def deepcopy(self: object, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        made = memo[id(self)] = self.__new__(type(self))
        made.__dict__ = copy.deepcopy(self.__dict__, memo)
        return made

    def getstate(self: object) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
        )

    members: dict[str, Any] = {"__getstate__": getstate}
    if not hasattr(before, "__deepcopy__"):
        members["__deepcopy__"] = deepcopy
    module.__class__ = type(f"Parametrized{before.__name__}", (before,), members)


def _property_of(name: str) -> property:
    def get(self: Tensor) -> Any:
        parametrization = self.parametrizations[name]
        if not _cache_enabled:
            return parametrization()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = parametrization()
        return _cache[key]

    def set_(self: Tensor, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(get, set_)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Have `module.<tensor_name>` computed by a parametrization, after those that it has already; returns the module.

    ValueError if the module has no such tensor, or if the parametrization changes shape or dtype and `unsafe` doesn't
    allow it.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_another(module, tensor_name, parametrization)
        known: Any = module.parametrizations[tensor_name]
        known.append(parametrization)
        known.unsafe |= unsafe
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _own_class(module)
        module.parametrizations = ModuleDict()
    assert not hasattr(module, tensor_name), f"Module already has an attribute named '{tensor_name}'"
    setattr(type(module), tensor_name, _property_of(tensor_name))
    module.parametrizations[tensor_name] = made
    return module


def _check_another(module: Module, name: str, parametrization: Any) -> None:
    """ValueError if a parametrization that is added changes the tensor's shape or dtype."""
    before = getattr(module, name)
    after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")

    def expect_same(other: Tensor, says: str, named: str) -> None:
        for what in ("dtype", "shape"):
            one, found = getattr(before, what), getattr(other, what)
            if one != found:
                start = says.format(what=what, of=f"module.{name}") + ", unless the `unsafe` flag is enabled."
                raise ValueError(f"{start}\nmodule.{name}.{what}: {one}\n{named}{what}: {found}")

    says = "Registering a parametrization may not change the {what} of the tensor"
    expect_same(after, says, f"parametrization(module.{name}).")
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    says = "The tensor returned by parametrization.right_inverse must have the same {what} as {of}"
    expect_same(back, says, "returned ")


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a tensor of the module, or that one, is parametrized."""
    known = getattr(module, "parametrizations", None)
    if not isinstance(known, ModuleDict):
        return False
    return len(known) > 0 if tensor_name is None else tensor_name in known


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a parametrized tensor an ordinary one: with its present value, or with that of its original. ValueError if
    it isn't parametrized, or has several originals and `leave_parametrized` is false.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    known: Any = module.parametrizations[tensor_name]
    if known.is_tensor:
        original = known.original
        if leave_parametrized:
            with no_grad():
                value = getattr(module, tensor_name)
            _store(original, value)
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _attach(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that the module had before a tensor of it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


__getattr__ = refuses_missing("torch.nn.utils.parametrize")
