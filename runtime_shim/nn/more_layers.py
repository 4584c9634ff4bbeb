"""Layers that few programs use, imported when one is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..core.device import check_device
from ..core.tensor import Tensor
from . import functional as F
from . import init
from .layers import _BatchNorm, _NormBase, _parameter
from .module import Module
from .weightless_layers import (
    _MAX,
    _OLD_REDUCTION,
    _REQUIRED,
    Upsample,
    _avg_shown,
    _DropoutNd,
    _layer,
    _loss,
    _max_shown,
    _Padding,
    _pool_options,
    _with_stride,
)


class PReLU(Module):
    """`nn.functional.prelu` with slopes that are learned: one, or one for each channel."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: object = None, dtype: object = None
    ) -> None:
        super().__init__()
        check_device(device)
        self.num_parameters, self.init = num_parameters, init
        self.weight = _parameter((num_parameters,), dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class RMSNorm(Module):
    """`nn.functional.rms_norm` over the last dimensions, with a weight if `elementwise_affine`."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_device(device)
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.register_parameter("weight", _parameter(self.normalized_shape, dtype) if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class UpsamplingNearest2d(Upsample):
    """Upsample by the nearest pixel."""

    def __init__(self, size: object = None, scale_factor: object = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Upsample linearly, with the corners in place."""

    def __init__(self, size: object = None, scale_factor: object = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class SyncBatchNorm(_BatchNorm):
    """Batch normalization over the processes of a group; with one process, that of its batch."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: object = None,
        device: object = None,
        dtype: object = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: object = None) -> Module:
        """The module with its batch normalizations replaced by ones of this class, with their parameters."""
        made: Any = module
        if isinstance(module, _BatchNorm):
            made = SyncBatchNorm(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked", "training"):
                setattr(made, name, getattr(module, name))
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


class _InstanceNorm(_NormBase):
    """By default without parameters and running statistics. Takes one sample as well as a batch of them."""

    #: Dimensions of the input without a batch.
    _sample = 0

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: object = None,
        dtype: object = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (self._sample, self._sample + 1):
            raise ValueError(f"expected {self._sample}D or {self._sample + 1}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        alone = input.dim() == self._sample
        dim = input.dim() - self._sample
        if input.size(dim) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: "
                    f"{input.size(dim)}."
                )
            warnings.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing "
                "in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        found = F.instance_norm(
            input.unsqueeze(0) if alone else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )
        return found.squeeze(0) if alone else found


class InstanceNorm1d(_InstanceNorm):
    """Normalization of (batch, channels, length) or (channels, length)."""

    _sample = 2


class InstanceNorm2d(_InstanceNorm):
    """Normalization of (batch, channels, height, width), or without the batch."""

    _sample = 3


class InstanceNorm3d(_InstanceNorm):
    """Normalization of (batch, channels, depth, height, width), or without the batch."""

    _sample = 4


MarginRankingLoss = _loss("MarginRankingLoss", F.margin_ranking_loss, margin=0.0, **_OLD_REDUCTION)
CosineEmbeddingLoss = _loss("CosineEmbeddingLoss", F.cosine_embedding_loss, margin=0.0, **_OLD_REDUCTION)
TripletMarginLoss = _loss(
    "TripletMarginLoss", F.triplet_margin_loss, margin=1.0, p=2.0, eps=1e-6, swap=False, **_OLD_REDUCTION
)


class CTCLoss(Module):
    """Connectionist temporal classification: (time, batch, classes) log probabilities against label sequences."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__()
        self.blank, self.reduction, self.zero_infinity = blank, reduction, zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: object, target_lengths: object) -> Tensor:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


# -- pooling

MaxPool3d = _with_stride(_layer("MaxPool3d", F.max_pool3d, _pool_options(**_MAX)), _max_shown)
AvgPool3d = _with_stride(
    _layer("AvgPool3d", F.avg_pool3d, _pool_options(ceil_mode=False, count_include_pad=True, divisor_override=None)),
    _avg_shown,
)
AdaptiveAvgPool3d = _layer("AdaptiveAvgPool3d", F.adaptive_avg_pool3d, {"output_size": _REQUIRED})


def _output_size(self: Tensor) -> str:
    return f"output_size={self.output_size}"


_ADAPTIVE = {"output_size": _REQUIRED, "return_indices": False}
AdaptiveMaxPool1d = _layer("AdaptiveMaxPool1d", F.adaptive_max_pool1d, _ADAPTIVE, _output_size)
AdaptiveMaxPool2d = _layer("AdaptiveMaxPool2d", F.adaptive_max_pool2d, _ADAPTIVE, _output_size)
AdaptiveMaxPool3d = _layer("AdaptiveMaxPool3d", F.adaptive_max_pool3d, _ADAPTIVE, _output_size)


class _MaxUnpool(Module):
    """Puts values where the indices of max pooling say they stood; zeros elsewhere."""

    _function: Any = None
    _dimensions = 0

    def __init__(self, kernel_size: object, stride: object = None, padding: object = 0) -> None:
        super().__init__()
        n = self._dimensions

        def each(value: Any) -> Any:
            return (value,) * n if isinstance(value, int) else tuple(value)

        self.kernel_size = each(kernel_size)
        self.stride = self.kernel_size if stride is None else each(stride)
        self.padding = each(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: object = None) -> Tensor:
        return type(self)._function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """The opposite of MaxPool1d."""

    _function, _dimensions = staticmethod(F.max_unpool1d), 1


class MaxUnpool2d(_MaxUnpool):
    """The opposite of MaxPool2d."""

    _function, _dimensions = staticmethod(F.max_unpool2d), 2


class MaxUnpool3d(_MaxUnpool):
    """The opposite of MaxPool3d."""

    _function, _dimensions = staticmethod(F.max_unpool3d), 3


# -- padding


class _ConstantPad(_Padding):
    def __init__(self, padding: object, value: float) -> None:
        super().__init__(padding, value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_Padding):
    def __init__(self, padding: object) -> None:
        super().__init__(padding, 0.0)


def _pad(kind: str, dimensions: int) -> type[_Padding]:
    base = {"Constant": _ConstantPad, "Zero": _ZeroPad}.get(kind, _Padding)
    mode = {"Reflection": "reflect", "Replication": "replicate", "Circular": "circular"}.get(kind, "constant")
    name = f"{kind}Pad{dimensions}d"
    made = type(name, (base,), {"_mode": mode, "_sides": 2 * dimensions, "__module__": __name__})
    made.__doc__ = f"Pads the last {dimensions} dimensions: {mode}."
    return made


ZeroPad1d, ZeroPad3d = _pad("Zero", 1), _pad("Zero", 3)
ConstantPad1d, ConstantPad3d = _pad("Constant", 1), _pad("Constant", 3)
ReflectionPad1d, ReflectionPad3d = _pad("Reflection", 1), _pad("Reflection", 3)
ReplicationPad1d, ReplicationPad3d = _pad("Replication", 1), _pad("Replication", 3)
CircularPad1d, CircularPad2d, CircularPad3d = (_pad("Circular", n) for n in (1, 2, 3))

# -- the rest


def _dropout(name: str, function: Callable[..., object]) -> type[_DropoutNd]:
    made = type(name, (_DropoutNd,), {"_function": staticmethod(function), "__module__": __name__})
    made.__doc__ = f"`nn.functional.{function.__name__}` as a layer."
    return made


Dropout1d = _dropout("Dropout1d", F.dropout1d)
Dropout3d = _dropout("Dropout3d", F.dropout3d)
AlphaDropout = _dropout("AlphaDropout", F.alpha_dropout)

_FOLD = {"dilation": 1, "padding": 0, "stride": 1}
Unfold = _layer("Unfold", F.unfold, {"kernel_size": _REQUIRED, **_FOLD})
Fold = _layer("Fold", F.fold, {"output_size": _REQUIRED, "kernel_size": _REQUIRED, **_FOLD})
PixelShuffle = _layer("PixelShuffle", F.pixel_shuffle, {"upscale_factor": _REQUIRED})
PixelUnshuffle = _layer("PixelUnshuffle", F.pixel_unshuffle, {"downscale_factor": _REQUIRED})
ChannelShuffle = _layer("ChannelShuffle", F.channel_shuffle, {"groups": _REQUIRED})
CosineSimilarity = _layer("CosineSimilarity", F.cosine_similarity, {"dim": 1, "eps": 1e-8}, lambda self: "")
PairwiseDistance = _layer(
    "PairwiseDistance", F.pairwise_distance, {"p": 2.0, "eps": 1e-6, "keepdim": False}, lambda self: ""
)
LocalResponseNorm = _layer(
    "LocalResponseNorm",
    F.local_response_norm,
    {"size": _REQUIRED, "alpha": 1e-4, "beta": 0.75, "k": 1.0},
    lambda self: f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}",
)
Hardshrink = _layer("Hardshrink", F.hardshrink, {"lambd": 0.5}, lambda self: str(self.lambd))
Softshrink = _layer("Softshrink", F.softshrink, {"lambd": 0.5}, lambda self: str(self.lambd))
