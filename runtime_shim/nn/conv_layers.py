"""Convolutions, and what packages derive convolutions of their own from."""

from __future__ import annotations

import math
from typing import Any

from ..aten import FUNCTIONS
from ..core.device import check_device
from ..core.tensor import Tensor
from . import functional as F
from . import init
from .layers import _parameter, _tuple
from .module import Module


class _ConvNd(Module):
    """What plain and transposed convolutions share. Weight (out, in / groups, *kernel), or (in, out / groups,
    *kernel) if transposed; bias (out,). Packages derive layers of their own from it.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...] | str,
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: object = None,
        dtype: object = None,
    ) -> None:
        super().__init__()
        check_device(device)
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        modes = ("zeros", "reflect", "replicate", "circular")
        if padding_mode not in modes:
            raise ValueError(
                f"padding_mode must be one of {{{str(modes)[1:-1]}}}, but got padding_mode='{padding_mode}'"
            )
        self.in_channels, self.out_channels, self.groups, self.transposed = (
            in_channels,
            out_channels,
            groups,
            transposed,
        )
        self.kernel_size, self.stride, self.dilation = kernel_size, stride, dilation
        self.padding, self.output_padding, self.padding_mode = padding, output_padding, padding_mode
        self.transposed = transposed
        self._reversed_padding_repeated_twice = tuple(self._around())
        first, second = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = _parameter((first, second, *kernel_size), dtype)
        if bias:
            self.bias = _parameter((out_channels,), dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init.fans(self.weight)
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        n = len(self.kernel_size)
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"]
        parts.append(f"stride={self.stride}")
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            if getattr(self, name) != (usual,) * n:
                parts.append(f"{name}={getattr(self, name)}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    def _around(self) -> list[int]:
        """The padding as F.pad takes it."""
        if isinstance(self.padding, str):
            found: list[int] = []
            for d, k in zip(self.dilation[::-1], self.kernel_size[::-1], strict=True):
                total = d * (k - 1) if self.padding == "same" else 0
                found += [total // 2, total - total // 2]
            return found
        return [p for p in self.padding[::-1] for _ in range(2)]


class _Convolution(_ConvNd):
    """A convolution over so many dimensions, each with the same numbers unless it has its own."""

    _dimensions = 0
    _transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: object,
        stride: object = 1,
        padding: object = 0,
        dilation: object = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: object = None,
        dtype: object = None,
        output_padding: object = 0,
    ) -> None:
        n = self._dimensions
        super().__init__(
            in_channels,
            out_channels,
            _tuple(kernel_size, n),
            _tuple(stride, n),
            padding if isinstance(padding, str) else _tuple(padding, n),
            _tuple(dilation, n),
            self._transposed,
            _tuple(output_padding, n),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The convolution with weights of somebody else's making."""
        call = FUNCTIONS[f"conv{self._dimensions}d"]
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._around(), self.padding_mode), 0
        return call(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Convolution):
    """Cross-correlation over (batch, channels, length)."""

    _dimensions = 1


class Conv2d(_Convolution):
    """Cross-correlation over (batch, channels, height, width)."""

    _dimensions = 2


class Conv3d(_Convolution):
    """Cross-correlation over (batch, channels, depth, height, width)."""

    _dimensions = 3


class _ConvTransposeNd(_Convolution):
    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: object,
        stride: object = 1,
        padding: object = 0,
        output_padding: object = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: object = 1,
        padding_mode: str = "zeros",
        device: object = None,
        dtype: object = None,
    ) -> None:
        check_device(device)
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            dtype=dtype,
            output_padding=output_padding,
        )

    def _output_padding(self, input: Tensor, output_size: Any) -> tuple[int, ...]:
        """What is added at the end of each dimension so that the output has a given size. ValueError if it can't."""
        n = self._dimensions
        wanted = list(output_size)
        batched = input.dim() == n + 2
        if len(wanted) == n + (2 if batched else 1):
            wanted = wanted[-n:]
        if len(wanted) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or "
                f"{n + (2 if batched else 1)} elements (got {len(wanted)})"
            )
        pads: Any = self.padding
        least = [
            (size - 1) * s - 2 * p + d * (k - 1) + 1
            for size, s, p, d, k in zip(
                input.shape[-n:], self.stride, pads, self.dilation, self.kernel_size, strict=True
            )
        ]
        most = [low + s - 1 for low, s in zip(least, self.stride, strict=True)]
        if any(not low <= size <= high for low, size, high in zip(least, wanted, most, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to {most} (for an "
                f"input of {input.shape[2:]})"
            )
        return tuple(size - low for size, low in zip(wanted, least, strict=True))

    def forward(self, input: Tensor, output_size: object = None) -> Tensor:
        call = FUNCTIONS[f"conv_transpose{self._dimensions}d"]
        return call(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.output_padding if output_size is None else self._output_padding(input, output_size),
            self.groups,
            self.dilation,
        )


class ConvTranspose1d(_ConvTransposeNd):
    """The adjoint of Conv1d."""

    _dimensions = 1


class ConvTranspose2d(_ConvTransposeNd):
    """The adjoint of Conv2d."""

    _dimensions = 2


class ConvTranspose3d(_ConvTransposeNd):
    """The adjoint of Conv3d."""

    _dimensions = 3
