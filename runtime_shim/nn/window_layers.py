"""Layers without weights that few programs use, imported when one is asked for: pooling, padding, folding, dropout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from .module import Module
from .weightless_layers import (
    _MAX,
    _REQUIRED,
    _avg_shown,
    _DropoutNd,
    _layer,
    _max_shown,
    _Padding,
    _pool_options,
    _with_stride,
)

# -- pooling
# ----------------------------------------------------------------------------------------------------

MaxPool3d = _with_stride(_layer("MaxPool3d", F.max_pool3d, _pool_options(**_MAX)), _max_shown)
AvgPool3d = _with_stride(
    _layer("AvgPool3d", F.avg_pool3d, _pool_options(ceil_mode=False, count_include_pad=True, divisor_override=None)),
    _avg_shown,
)
AdaptiveAvgPool3d = _layer("AdaptiveAvgPool3d", F.adaptive_avg_pool3d, {"output_size": _REQUIRED})


def _output_size(self: Any) -> str:
    return f"output_size={self.output_size}"


_ADAPTIVE = {"output_size": _REQUIRED, "return_indices": False}
AdaptiveMaxPool1d = _layer("AdaptiveMaxPool1d", F.adaptive_max_pool1d, _ADAPTIVE, _output_size)
AdaptiveMaxPool2d = _layer("AdaptiveMaxPool2d", F.adaptive_max_pool2d, _ADAPTIVE, _output_size)
AdaptiveMaxPool3d = _layer("AdaptiveMaxPool3d", F.adaptive_max_pool3d, _ADAPTIVE, _output_size)


class _MaxUnpool(Module):
    """Puts values where the indices of max pooling say they stood; zeros elsewhere."""

    _function: Any = None
    _dimensions = 0

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        n = self._dimensions

        def each(value: Any) -> Any:
            return (value,) * n if isinstance(value, int) else tuple(value)

        self.kernel_size = each(kernel_size)
        self.stride = self.kernel_size if stride is None else each(stride)
        self.padding = each(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
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
# ----------------------------------------------------------------------------------------------------


class _ConstantPad(_Padding):
    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding, value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_Padding):
    def __init__(self, padding: Any) -> None:
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
# ---------------------------------------------------------------------------------------------------


def _dropout(name: str, function: Callable[..., Any]) -> type[_DropoutNd]:
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
