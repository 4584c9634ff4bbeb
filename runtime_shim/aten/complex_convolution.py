"""Convolution of complex tensors, made of three real ones, as complex_convolution in ATen/native/Convolution.cpp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from .elementwise import mul_scalar


def _parts(t: Tensor) -> tuple[Tensor, Tensor]:
    """The real and the imaginary part."""
    pairs = FUNCTIONS["view_as_real"](t)
    return pairs.select(t.dim(), 0), pairs.select(t.dim(), 1)


def complex_convolution(
    convolve: Callable[..., Tensor], input: Tensor, weight: Tensor, bias: Tensor | None, *options: Any
) -> Tensor:
    """By `convolve`, which takes real tensors, the bias and the same options."""
    x, x_i = _parts(input)
    w, w_i = _parts(weight)
    b, b_i = (None, None) if bias is None else _parts(bias)
    real, imaginary = convolve(x, w, b, *options), convolve(x_i, w_i, None, *options)
    both = convolve(x + x_i, w + w_i, None if b is None or b_i is None else b + b_i, *options)
    return real - imaginary + mul_scalar(both - real - imaginary, 1j)
