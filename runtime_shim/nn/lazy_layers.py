"""`LazyLinear`, the lazy convolutions and the lazy normalizations: their parameters get their shapes at the first "
"call."""

from __future__ import annotations

from typing import Any

from ..aten import FUNCTIONS
from ..core.gradient_modes import no_grad
from . import conv_layers, instance_norm_layers, layers
from .lazy import LazyModuleMixin, UninitializedBuffer, UninitializedParameter
from .linear import Linear


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


#: Where `bias` stands behind the kernel's size, in plain and in transposed convolutions.
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
LazyInstanceNorm1d = _lazy(instance_norm_layers.InstanceNorm1d, _LazyNorm)
LazyInstanceNorm2d = _lazy(instance_norm_layers.InstanceNorm2d, _LazyNorm)
LazyInstanceNorm3d = _lazy(instance_norm_layers.InstanceNorm3d, _LazyNorm)
