"""Which of PyTorch's convolutions a CPU build takes: by shapes, dtype and layout alone.

Source of the behaviour: ConvParams and _select_conv_backend in ATen/native/Convolution.cpp. Some of it depends on the
machine there: here it has several threads, so that 1x1 kernels are left to oneDNN as well, and a processor with
AVX-512, with which oneDNN takes bfloat16 and leaves float16.
"""

from __future__ import annotations

import enum
import math
from typing import Any, NamedTuple

from ..core.dtypes import Ints, sizes

ConvBackend = enum.Enum(  # type: ignore[misc]
    "_ConvBackend",
    "CudaDepthwise2d CudaDepthwise3d Cudnn CudnnTranspose Empty Miopen MiopenDepthwise MiopenTranspose Mkldnn "
    "MkldnnTranspose MkldnnEmpty NnpackSpatial Overrideable Slow2d Slow3d SlowDilated2d SlowDilated3d SlowTranspose2d "
    "SlowTranspose3d Winograd3x3Depthwise Xnnpack2d Mps MpsTranspose",
    module="torch._C",
    start=0,
)

#: Inputs with more elements than this are worth oneDNN's set-up.
_LARGE = 20480


class ConvolutionShape(NamedTuple):
    """What the choice depends on. Sizes are those of the input, (batch, channels, *size), and of the weight."""

    input: Ints
    weight: Ints
    scalar_name: str
    stride: Ints
    dilation: Ints
    transposed: bool
    output_padding: Ints
    groups: int
    opaque: bool = False
    """Whether the input lies in oneDNN's own layout."""

    def in_two_dimensions(self) -> ConvolutionShape:
        """One dimension as the kernels see it: two, the first of size 1. oneDNN's tensors stay as they are."""
        if len(self.weight) != 3 or self.opaque:
            return self
        return self._replace(
            input=(*self.input[:2], 1, *self.input[2:]),
            weight=(*self.weight[:2], 1, *self.weight[2:]),
            stride=(1, *self.stride),
            dilation=(1, *self.dilation),
            output_padding=(0, *self.output_padding),
        )


def chosen_backend(shape: ConvolutionShape) -> Any:
    """The backend for a call. RuntimeError for an input that is empty in another way than PyTorch takes."""
    shape = shape.in_two_dimensions()
    if not shape.input[0] or not shape.input[1]:
        return ConvBackend.MkldnnEmpty if shape.opaque else ConvBackend.Empty
    if not math.prod(shape.input):
        raise RuntimeError(
            f"Only zero batch or zero channel inputs are supported, but got input shape: {sizes(shape.input)}"
        )
    if _by_onednn(shape):
        return ConvBackend.MkldnnTranspose if shape.transposed else ConvBackend.Mkldnn
    rank = len(shape.input) - 2
    if rank not in (2, 3):
        raise RuntimeError("unsupported ConvNd parameters")
    if shape.transposed:
        return ConvBackend.SlowTranspose2d if rank == 2 else ConvBackend.SlowTranspose3d
    if any(d != 1 for d in shape.dilation):
        return ConvBackend.SlowDilated2d if rank == 2 else ConvBackend.SlowDilated3d
    return ConvBackend.Slow2d if rank == 2 else ConvBackend.Slow3d


def _by_onednn(shape: ConvolutionShape) -> bool:
    if shape.transposed and any(p >= s for p, s in zip(shape.output_padding, shape.stride, strict=True)):
        return False
    if shape.opaque or shape.scalar_name == "BFloat16":
        return True
    if shape.scalar_name != "Float":
        return False
    large = min(shape.weight[-2:]) > 3 or shape.input[0] > 1 or math.prod(shape.input[:4]) > _LARGE
    return shape.groups > 1 or large
