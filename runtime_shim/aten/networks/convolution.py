"""Convolution in any number of dimensions, plain and transposed.

Plain convolution, transposed convolution and the gradient of the weight are the three sides of one trilinear
form, so two ops that are each other's derivatives give gradients of every order. Messages and checks as in
ATen/native/Convolution.cpp.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtypes import BY_CHAR, Array, Ints, sizes
from ...core.function_table import FUNCTIONS
from ...core.memory_layout import in_format_of
from ...core.tensor import Tensor, new_tensor
from ...core.thread_state import AUTOGRAD, tls
from ...dispatch.op_node import arrays
from ...dispatch.registration import composite, inner_op
from ..elementwise import mul_scalar
from .convolution_kernels import convolved_size, correlate, spread, weight_gradient


def _parts(t: Tensor) -> tuple[Tensor, Tensor]:
    """The real and the imaginary part."""
    pairs = FUNCTIONS["view_as_real"](t)
    return pairs.select(t.dim(), 0), pairs.select(t.dim(), 1)


def complex_convolution(
    convolve: Callable[..., Tensor], input: Tensor, weight: Tensor, bias: Tensor | None, *options: object
) -> Tensor:
    """By `convolve`, which takes real tensors, the bias and the same options."""
    x, x_i = _parts(input)
    w, w_i = _parts(weight)
    b, b_i = (None, None) if bias is None else _parts(bias)
    real, imaginary = convolve(x, w, b, *options), convolve(x_i, w_i, None, *options)
    both = convolve(x + x_i, w + w_i, None if b is None or b_i is None else b + b_i, *options)
    return real - imaginary + mul_scalar(both - real - imaginary, 1j)


def per_dimension(value: Any, count: int, name: str = "stride", function: str = "convolution") -> Ints:
    """`3` and `(3,)` as `(3, 3)`; RuntimeError for any other length than 1 and `count`."""
    if isinstance(value, int):
        return (value,) * count
    found = tuple(int(v) for v in value)
    if len(found) == 1:
        return found * count
    if len(found) != count:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {count} values to match the "
            f"{function} dimensions, but got {name}={sizes(found)}"
        )
    return found


# -- the ops


def _sum_channels(grad: Tensor, bias_shape: Ints) -> Tensor:
    if grad._array.shape[1:2] != bias_shape:  # without channels to convolve, the result has none
        return grad.new_zeros(bias_shape)
    return grad.sum([d for d in range(grad._array.ndim) if d != 1])


def _conjugate(t: Tensor) -> Tensor:
    return t.conj() if t._array.dtype.kind == "c" else t


def input_gradient(
    grad: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    groups: int,
) -> Tensor:
    weight = _conjugate(weight)
    if transposed:
        none = (0,) * len(stride)
        return convolution(grad, weight, None, stride, padding, dilation, False, none, groups)
    # Positions that no window reached get a zero gradient: as output padding they are just that.
    kernel, size, out = weight._array.shape[2:], input._array.shape[2:], grad._array.shape[2:]
    missing = tuple(
        n - ((o - 1) * s - 2 * p + d * (k - 1) + 1)
        for n, o, s, p, d, k in zip(size, out, stride, padding, dilation, kernel, strict=True)
    )
    return convolution(grad, weight, None, stride, padding, dilation, True, missing, groups)


def _weight_gradient(
    grad: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    groups: int,
) -> Tensor:
    input = _conjugate(input)
    x, g = (grad, input) if transposed else (input, grad)
    return convolution_weight(x, g, weight._array.shape, stride, padding, dilation, groups)


def _convolution_below(*args: object) -> Tensor:
    """Where no autograd kernel wraps it, the writes of PyTorch's kernels show on the result: oneDNN's adds the bias as
    it writes.
    """
    made = new_tensor(_convolution(*arrays(args)))
    if made._version_counter is not None:
        made._version_counter[0] += args[2] is not None or bool(tls.state.excluded & AUTOGRAD)
    return made


def _convolution(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
) -> Array:
    if transposed:
        size = tuple(
            (n - 1) * s - 2 * p + d * (k - 1) + q + 1
            for n, s, p, d, k, q in zip(
                input.shape[2:], stride, padding, dilation, weight.shape[2:], output_padding, strict=True
            )
        )
        if input.size:
            found = spread(input, weight, stride, padding, dilation, groups, size)
        else:
            found = _empty(input, weight.shape[1] * groups, size)
    elif input.size:
        found = correlate(input, weight, stride, padding, dilation, groups)
    else:
        found = _empty(
            input, weight.shape[0], convolved_size(input.shape[2:], weight.shape[2:], stride, padding, dilation)
        )
    if bias is not None and found.size:
        found += bias.reshape(-1, *[1] * len(stride))
    return in_format_of(found, input, weight)


def _empty(input: Array, channels: int, size: Ints) -> Array:
    """The result for an input without batch, or without channels: it has as few."""
    return np.zeros((input.shape[0], channels if input.shape[1] else 0, *size), input.dtype)


convolution = inner_op(
    "convolution", below=_convolution_below, input=input_gradient, weight=_weight_gradient, bias=_sum_channels
)(_convolution)


@inner_op(
    "convolution_weight",
    node="ConvolutionBackwardBackward0",
    x=lambda grad, x, g, stride, padding, dilation, groups: input_gradient(
        _conjugate(g), x, _conjugate(grad), stride, padding, dilation, False, groups
    ),
    g=lambda grad, x, stride, padding, dilation, groups: convolution(
        _conjugate(x), grad, None, stride, padding, dilation, False, (0,) * len(stride), groups
    ),
)
def convolution_weight(
    x: Array, g: Array, shape: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Array:
    if not x.size or not g.size:
        return np.zeros(shape, x.dtype)
    return weight_gradient(x, g, shape, stride, padding, dilation, groups)


# -- checks


def _check(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    groups: int,
) -> None:
    x, w = input._array, weight._array
    b = (None, None) if bias is None else (bias._array.shape, bias._array.dtype)
    _check_shapes((x.shape, x.dtype), (w.shape, w.dtype), b, stride, padding, dilation, transposed, groups)


@functools.lru_cache(maxsize=256)  # what fits is cached; what doesn't raises each time
def _check_shapes(
    of_input: Any,
    of_weight: Any,
    of_bias: Any,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    groups: int,
) -> None:
    """RuntimeError unless shapes and dtypes of the three tensors go together."""
    (x, x_dtype), (w, w_dtype), (bias, bias_dtype) = of_input, of_weight, of_bias
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilation) <= 0:
        raise RuntimeError(f"dilation should be greater than zero, but got {sizes(dilation)}")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if len(w) < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if len(w) - 2 != len(stride):
        raise RuntimeError(
            f"expected stride to be a single integer value or a list of {len(w) - 2} values to match the "
            f"convolution dimensions, but got stride={sizes(stride)}"
        )
    if len(w) != len(x):
        raise RuntimeError(
            f"Expected {len(w)}-dimensional input for {len(w)}-dimensional weight {sizes(w)}, but got "
            f"{len(x)}-dimensional input of size {sizes(x)} instead"
        )
    if w[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight "
            f"of size {sizes(w)} instead"
        )
    if w[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got "
            f"weight of size [{sizes(w)}] instead"
        )
    wanted = w[0] if transposed else w[1] * groups
    if x[1] != wanted:
        raise RuntimeError(
            f"Given {'transposed=1, ' if transposed else f'groups={groups}, '}weight of size {sizes(w)}, expected "
            f"input{sizes(x)} to have {wanted} channels, but got {x[1]} channels instead"
        )
    filters = w[1] * groups if transposed else w[0]
    if bias is not None and bias != (filters,):
        raise RuntimeError(
            f"Given {'transposed=1, ' if transposed else ''}weight of size {sizes(w)}, expected bias to be "
            f"1-dimensional with {filters} elements, but got bias of size {sizes(bias)} instead"
        )
    if not transposed:
        have = [n + 2 * p for n, p in zip(x[2:], padding, strict=True)]
        need = [d * (k - 1) + 1 for d, k in zip(dilation, w[2:], strict=True)]
        if True in [n < k for n, k in zip(have, need, strict=True)]:
            raise RuntimeError(
                f"Calculated padded input size per channel: ({' x '.join(map(str, have))}). Kernel size: "
                f"({' x '.join(map(str, need))}). Kernel size can't be greater than actual input size"
            )
    if bias is not None and bias_dtype != x_dtype:
        mine, theirs = BY_CHAR[x_dtype.char].short, BY_CHAR[bias_dtype.char].short
        raise RuntimeError(f"Input type ({mine}) and bias type ({theirs}) should be the same")
    if w_dtype != x_dtype:
        mine, theirs = BY_CHAR[x_dtype.char].scalar_name, BY_CHAR[w_dtype.char].scalar_name
        raise RuntimeError(
            f"Input type (torch.{mine}Tensor) and weight type (torch.{theirs}Tensor) should be the same or "
            "input should be a MKLDNN tensor and weight is a dense tensor"
            if x_dtype == np.float32
            else f"expected scalar type {mine} but found {theirs}"
        )


def _same_padding(weight: Tensor, stride: Ints, dilation: Ints) -> tuple[Ints, Ints]:
    """What "same" adds before and after."""
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for d, k in zip(dilation, weight._array.shape[2:], strict=True)]
    return tuple(t // 2 for t in total), tuple(t - t // 2 for t in total)


def _convolve(
    count: int,
    name: str,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: object,
    padding: object,
    dilation: object,
    transposed: bool = False,
    output_padding: object = 0,
    groups: int = 1,
) -> Tensor:
    for what, value in (("input", input), ("weight", weight)):
        if not isinstance(value, Tensor):
            given = ", ".join(type(v).__name__ for v in (input, weight))
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got ({given}), but expected one of:\n"
                f" * (Tensor input, Tensor weight, ...)\n      didn't match: argument '{what}' must be Tensor"
            )
    x = input
    if input._array.ndim not in (count + 1, count + 2):
        raise RuntimeError(
            f"Expected {count + 1}D (unbatched) or {count + 2}D (batched) input to {name}, but got input of "
            f"size: {sizes(input._array.shape)}"
        )
    batched = input._array.ndim == count + 2
    if not batched:
        x = input.unsqueeze(0)
    steps, dilations = per_dimension(stride, count, "stride"), per_dimension(dilation, count, "dilation")
    if isinstance(padding, str):
        if padding == "same":
            before, after = _same_padding(weight, steps, dilations)
            if before != after:
                extra = [n for a, b in zip(before[::-1], after[::-1], strict=True) for n in (0, b - a)]
                x = FUNCTIONS["constant_pad_nd"](x, extra)
            pads = before
        elif padding == "valid":
            pads = (0,) * count
        else:
            raise RuntimeError(f"Invalid padding string: '{padding}'")
    else:
        pads = per_dimension(padding, count, "padding")
    more = per_dimension(output_padding, count, "output_padding")
    if transposed:
        for extra_size, step, dilated in zip(more, steps, dilations, strict=True):
            if extra_size >= step and extra_size >= dilated:
                raise RuntimeError(
                    "output padding must be smaller than either stride or dilation, but got "
                    + " ".join(
                        f"{label}_{axis}: {n}"
                        for label, values in (
                            ("output_padding", more),
                            ("stride", steps),
                            ("dilation", dilations),
                        )
                        for axis, n in zip(("depth", "height", "width")[-count:], values, strict=True)
                    )
                )
    _check(x, weight, bias, steps, pads, dilations, transposed, groups)
    run = functools.partial(complex_convolution, convolution) if x.is_complex() else convolution
    result = run(x, weight, bias, steps, pads, dilations, transposed, more, groups)
    return result if batched else result.squeeze(0)


def _checked_options(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: object,
    padding: object,
    dilation: object,
    transposed: bool,
    output_padding: object,
    groups: int,
) -> tuple[object, ...]:
    """The options of a convolution of as many dimensions as the weight has; RuntimeError for what doesn't fit."""
    count = weight._array.ndim - 2
    if count <= 0:
        raise RuntimeError("weight should have at least three dimensions")
    steps, pads = per_dimension(stride, count, "stride"), per_dimension(padding, count, "padding")
    gaps, more = per_dimension(dilation, count, "dilation"), per_dimension(output_padding, count, "output_padding")
    _check(input, weight, bias, steps, pads, gaps, transposed, groups)
    return steps, pads, gaps, transposed, more, groups


@composite("convolution", method=False)
def convolution_of_any_rank(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: object,
    padding: object,
    dilation: object,
    transposed: bool,
    output_padding: object,
    groups: int,
) -> Tensor:
    """The convolution of a batch, plain or transposed, in as many dimensions as the weight has."""
    options = _checked_options(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    return convolution(input, weight, bias, *options)


def _register(count: int) -> None:
    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: object = 1,
        padding: object = 0,
        dilation: object = 1,
        groups: int = 1,
    ) -> Tensor:
        return _convolve(count, f"conv{count}d", input, weight, bias, stride, padding, dilation, groups=groups)

    def conv_transpose(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: object = 1,
        padding: object = 0,
        output_padding: object = 0,
        groups: int = 1,
        dilation: object = 1,
    ) -> Tensor:
        return _convolve(
            count,
            f"conv_transpose{count}d",
            input,
            weight,
            bias,
            stride,
            padding,
            dilation,
            True,
            output_padding,
            groups,
        )

    conv.__doc__ = (
        f"Cross-correlate (batch, in, {count} dims) with (out, in / groups, {count} dims); RuntimeError on "
        "shapes that do not fit, with PyTorch's text."
    )
    composite(f"conv{count}d", method=False)(conv)
    conv_transpose.__doc__ = f"The adjoint of conv{count}d: (batch, in, ...) to (batch, out, ...)."
    composite(f"conv_transpose{count}d", method=False)(conv_transpose)


for _count in (1, 2, 3):
    _register(_count)
