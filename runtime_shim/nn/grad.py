"""`torch.nn.grad`: the gradients of convolutions by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..aten.convolution import convolution_weight, input_gradient, per_dimension
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _of_input(count: int) -> Callable[..., Tensor]:
    def conv_input(
        input_size: Any,
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        """The gradient of the input, whose size is given, from that of the output."""
        steps, pads, gaps = (per_dimension(option, count) for option in (stride, padding, dilation))
        input = FUNCTIONS["empty"](1, dtype=grad_output.dtype).expand(*input_size)
        return input_gradient(grad_output, input, weight, steps, pads, gaps, False, groups)

    return conv_input


def _of_weight(count: int) -> Callable[..., Tensor]:
    def conv_weight(
        input: Tensor,
        weight_size: Any,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        """The gradient of the weight, whose size is given, from that of the output."""
        steps, pads, gaps = (per_dimension(option, count) for option in (stride, padding, dilation))
        return convolution_weight(input, grad_output, tuple(weight_size), steps, pads, gaps, groups)

    return conv_weight


conv1d_input, conv2d_input, conv3d_input = (_of_input(n) for n in (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = (_of_weight(n) for n in (1, 2, 3))
