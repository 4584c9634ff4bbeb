"""Modules whose parameters get their shapes at the first call, and those parameters.

Source of the words: torch/nn/modules/lazy.py, torch/nn/parameter.py of 2.13.
"""

from __future__ import annotations

import itertools
from typing import Any

from ..aten import FUNCTIONS
from ..core.device import check_device
from ..core.gradient_modes import no_grad
from ..core.tensor import Tensor, of_class, set_requires_grad
from . import conv_layers, layers, more_layers
from .layers import Linear
from .parameter import Parameter


class UninitializedTensorMixin:
    """What parameters and buffers without a shape share: functions refuse them, but for conversions."""

    _allowed_methods = frozenset(
        "__hash__ size copy_ is_complex is_floating_point half float double char short int long cuda cpu to "
        "get_device".split()
    )
    cls_to_become: type[Tensor]

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give it a shape, and uninitialized memory."""
        self.data = FUNCTIONS["empty"](shape, device=device, dtype=self.data.dtype if dtype is None else dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self) -> Any:
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return type(self), (self.requires_grad,)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if name in cls._allowed_methods or type(func).__name__ == "method-wrapper":
            return super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[misc]
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a "
            f"`LazyModule` or explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using "
            "LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch functions"
        )


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


def _without_shape(cls: Any, requires_grad: bool, device: Any, dtype: Any) -> Any:
    made = FUNCTIONS["empty"](0, device=device, dtype=dtype)
    set_requires_grad(made, requires_grad)
    return of_class(made, cls)


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter that has no shape yet."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return _without_shape(cls, requires_grad, device, dtype)

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        check_device(device)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, dtype=self.data.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer that has no shape yet."""

    cls_to_become = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        made = _without_shape(cls, requires_grad, device, dtype)
        made.persistent = persistent
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass


class LazyModuleMixin:
    """A module with uninitialized parameters: `initialize_parameters(*inputs)` gives them their shapes at the first
    call, or loading a state dict does. It then becomes an instance of `cls_to_become`.
    """

    cls_to_become: Any = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, tensor in itertools.chain(self._parameters.items(), self._buffers.items()):
            if tensor is not None and name not in self._non_persistent_buffers_set:
                kept = is_lazy(tensor) or keep_vars
                destination[prefix + name] = tensor if kept else tensor.detach()

    def _lazy_load_hook(self: Any, state_dict: Any, prefix: str, *_: Any) -> None:
        """Give what is loaded the shape that it has in the state dict."""
        for name, tensor in itertools.chain(self._parameters.items(), self._buffers.items()):
            given = state_dict.get(prefix + name)
            if given is not None and is_lazy(tensor) and not is_lazy(given):
                with no_grad():
                    tensor.materialize(given.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self: Any) -> bool:
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _infer_parameters(self: Any, module: Any, args: Any, kwargs: Any = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        for name in ("_initialize_hook", "_load_hook"):
            getattr(module, name).remove()
            delattr(module, name)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward pass to "
            "correctly initialize the modules"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear whose `in_features` is that of the first input."""

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        weight: Any = self.weight
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        if not self.in_features:  # a state dict gave the weight its shape
            assert input.shape[-1] == weight.shape[-1], (
                f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features from self.weight: "
                f"{weight.shape[-1]}"
            )
            self.in_features = input.shape[-1]


#: Where `bias` follows the kernel's size, in plain and in transposed convolutions.
_PLACE_OF_BIAS = 4


class _LazyConv(LazyModuleMixin):
    """What lazy convolutions share; `_dims` is the number of the dimensions that they slide along."""

    _dims = 0

    def __init__(self: Any, out_channels: int, kernel_size: Any, *args: Any, bias: bool = True, **kwargs: Any) -> None:
        device, dtype = kwargs.get("device"), kwargs.get("dtype")
        given = list(args)
        if len(given) > _PLACE_OF_BIAS:
            bias, given[_PLACE_OF_BIAS] = given[_PLACE_OF_BIAS], False
            super().__init__(0, 0, kernel_size, *given, **kwargs)
        else:
            super().__init__(0, 0, kernel_size, *given, bias=False, **kwargs)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self: Any) -> None:
        if not self.has_uninitialized_params() and self.in_channels:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Any, *args: Any, **kwargs: Any) -> None:
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._in_channels_of(input)
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        first, second = self.out_channels, self.in_channels // self.groups
        if self.transposed:
            first, second = self.in_channels, self.out_channels // self.groups
        self.weight.materialize((first, second, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _in_channels_of(self, input: Any) -> int:
        alone = self._dims + 1
        if input.dim() not in (alone, alone + 1):
            raise RuntimeError(
                f"Expected {alone}D (unbatched) or {alone + 1}D (batched) input to {type(self).__name__}, but got "
                f"input of size: {input.shape}"
            )
        return int(input.shape[input.dim() - alone])


class _LazyNorm(LazyModuleMixin):
    """What lazy normalizations share."""

    def __init__(
        self: Any,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype)
        self.affine, self.track_running_stats = affine, track_running_stats
        if self.affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if self.track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = FUNCTIONS["tensor"](0)

    def reset_parameters(self: Any) -> None:
        if not self.has_uninitialized_params() and self.num_features:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Any) -> None:
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        names = ["weight", "bias"] * self.affine + ["running_mean", "running_var"] * self.track_running_stats
        for name in names:
            if getattr(self, name) is not None:
                getattr(self, name).materialize((self.num_features,))
        self.reset_parameters()


def _lazy(base: Any, mixin: Any, **members: Any) -> Any:
    """The lazy form of a layer."""
    doc = f"A {base.__name__} whose parameters get their shapes at the first call."
    made = type(f"Lazy{base.__name__}", (mixin, base), {"__doc__": doc, "cls_to_become": base, **members})
    made.__module__ = __name__
    return made


LazyConv1d = _lazy(conv_layers.Conv1d, _LazyConv, _dims=1)
LazyConv2d = _lazy(conv_layers.Conv2d, _LazyConv, _dims=2)
LazyConv3d = _lazy(conv_layers.Conv3d, _LazyConv, _dims=3)
LazyConvTranspose1d = _lazy(conv_layers.ConvTranspose1d, _LazyConv, _dims=1)
LazyConvTranspose2d = _lazy(conv_layers.ConvTranspose2d, _LazyConv, _dims=2)
LazyConvTranspose3d = _lazy(conv_layers.ConvTranspose3d, _LazyConv, _dims=3)
LazyBatchNorm1d = _lazy(layers.BatchNorm1d, _LazyNorm)
LazyBatchNorm2d = _lazy(layers.BatchNorm2d, _LazyNorm)
LazyBatchNorm3d = _lazy(layers.BatchNorm3d, _LazyNorm)
LazyInstanceNorm1d = _lazy(more_layers.InstanceNorm1d, _LazyNorm)
LazyInstanceNorm2d = _lazy(more_layers.InstanceNorm2d, _LazyNorm)
LazyInstanceNorm3d = _lazy(more_layers.InstanceNorm3d, _LazyNorm)
