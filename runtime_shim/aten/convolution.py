"""Convolution in any number of dimensions, plain and transposed, and its im2col.

Plain convolution, transposed convolution and the gradient of the weight are the three sides of one trilinear
form, so two ops that are each other's derivatives give gradients of every order. Messages and checks as in
ATen/native/Convolution.cpp.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import Array, Ints, sizes
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import in_format_of
from ..core.tensor import Tensor, new_tensor
from ..core.thread_state import AUTOGRAD, tls
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import composite, op
from ..dispatch.tensor_arguments import arrays

# Elements of the column matrix that is made at a time: bounds memory while keeping the products large.
_CHUNK = 1 << 22


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


def padded(x: Array, padding: Sequence[int], fill: Any = 0, after: Sequence[int] | None = None) -> Array:
    """`x` with its last dimensions widened by `padding` in front and `after` (default the same) behind."""
    after = padding if after is None else after
    if not any(padding) and not any(after):
        return x
    lead = x.ndim - len(padding)
    inner = x.shape[lead:]
    shape = [n + p + q for n, p, q in zip(inner, padding, after, strict=True)]
    made = np.full((*x.shape[:lead], *shape), fill, x.dtype)
    interior: Any = (..., *(slice(p, p + n) for p, n in zip(padding, inner, strict=True)))
    made[interior] = x
    return made


def convolved_size(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Ints:
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
    )


def _windows(x: Array, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Array:
    """A window onto padded `x`: (batch, channels, *kernel, *out), without a copy."""
    inner = x.strides[2:]
    return np.lib.stride_tricks.as_strided(
        x,
        (*x.shape[:2], *kernel, *out),
        (
            *x.strides[:2],
            *(a * d for a, d in zip(inner, dilation, strict=True)),
            *(a * s for a, s in zip(inner, stride, strict=True)),
        ),
        writeable=False,
    )


def _offsets(kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Iterator[tuple[Ints, Any]]:
    """Each element of the kernel, with the slice of padded input that it meets."""
    for position in np.ndindex(*kernel):
        yield (
            position,
            (
                ...,
                *(
                    slice(i * d, i * d + (o - 1) * s + 1, s)
                    for i, d, o, s in zip(position, dilation, out, stride, strict=True)
                ),
            ),
        )


def _chunks(batch: int, columns: int) -> Iterator[slice]:
    step = max(1, _CHUNK // max(1, columns))
    for start in range(0, batch, step):
        yield slice(start, start + step)


def _columns(x: Array, rows: slice, groups: int, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Array:
    """im2col: (batch, groups, channels per group times kernel, positions)."""
    part = x[rows]
    shape = (len(part), groups, x.shape[1] // groups * math.prod(kernel), math.prod(out))
    return _windows(part, kernel, stride, dilation, out).reshape(shape)


def _wide(*operands: Array) -> tuple[tuple[Array, ...], np.dtype[Any]]:
    """float16 operands as float32: sums of products need the width."""
    dtype = operands[0].dtype
    if dtype == np.float16:
        return tuple(a.astype(np.float32) for a in operands), dtype
    return operands, dtype


def correlate(x: Array, w: Array, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Array:
    """(batch, in, *size) and (out, in / groups, *kernel) to (batch, out, *size)."""
    (x, w), dtype = _wide(x, w)
    kernel = w.shape[2:]
    out = convolved_size(x.shape[2:], kernel, stride, padding, dilation)
    x = padded(x, padding)
    weights = w.reshape(groups, w.shape[0] // groups, -1)
    found = np.empty((x.shape[0], w.shape[0], *out), x.dtype)
    flat = found.reshape(x.shape[0], groups, w.shape[0] // groups, math.prod(out))
    for rows in _chunks(x.shape[0], x.shape[1] * math.prod(kernel) * math.prod(out)):
        np.matmul(weights, _columns(x, rows, groups, kernel, stride, dilation, out), out=flat[rows])
    return found.astype(dtype, copy=False)


def spread(g: Array, w: Array, stride: Ints, padding: Ints, dilation: Ints, groups: int, size: Ints) -> Array:
    """The adjoint of `correlate`: (batch, out, *positions) to (batch, in, *size)."""
    (g, w), dtype = _wide(g, w)
    kernel, out = w.shape[2:], g.shape[2:]
    weights = w.reshape(groups, w.shape[0] // groups, -1).transpose(0, 2, 1)
    channels = w.shape[1] * groups
    # Wide enough for every window, then cut to what was asked for.
    wide = [
        max(n + 2 * p, (o - 1) * s + d * (k - 1) + 1)
        for n, p, o, s, d, k in zip(size, padding, out, stride, dilation, kernel, strict=True)
    ]
    found = np.zeros((g.shape[0], channels, *wide), g.dtype)
    flat = g.reshape(g.shape[0], groups, w.shape[0] // groups, math.prod(out))
    for rows in _chunks(g.shape[0], channels * math.prod(kernel) * math.prod(out)):
        columns = np.matmul(weights, flat[rows])
        columns = columns.reshape(len(columns), channels, *kernel, *out)
        part = found[rows]
        for position, where in _offsets(kernel, stride, dilation, out):
            at = (slice(None), slice(None), *position)
            part[where] += columns[at]
    cut: Any = (..., *(slice(p, p + n) for p, n in zip(padding, size, strict=True)))
    return np.ascontiguousarray(found[cut]).astype(dtype, copy=False)


def weight_gradient(x: Array, g: Array, shape: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Array:
    """The gradient of the weight: (batch, in, *size) and (batch, out, *positions) to `shape`."""
    (x, g), dtype = _wide(x, g)
    kernel, out = shape[2:], g.shape[2:]
    x = padded(x, padding)
    flat = g.reshape(g.shape[0], groups, shape[0] // groups, math.prod(out))
    found = np.zeros((groups, shape[0] // groups, shape[1] * math.prod(kernel)), x.dtype)
    for rows in _chunks(x.shape[0], x.shape[1] * math.prod(kernel) * math.prod(out)):
        columns = _columns(x, rows, groups, kernel, stride, dilation, out)
        found += np.matmul(flat[rows], columns.swapaxes(-1, -2)).sum(0)
    return found.reshape(shape).astype(dtype, copy=False)


# -- the ops
# ---------------------------------------------------------------------------------------------------


def _sum_channels(grad: Tensor) -> Tensor:
    return grad.sum([d for d in range(grad._array.ndim) if d != 1])


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
    x, g = (grad, input) if transposed else (input, grad)
    return convolution_weight(x, g, weight._array.shape, stride, padding, dilation, groups)


def _convolution_below(*args: Any) -> Tensor:
    """Where no autograd kernel wraps it, the writes of PyTorch's kernels show on the result."""
    made = new_tensor(_convolution(*arrays(args)))
    if made._version_counter is not None:
        input, weight, bias, groups = args[0], args[1], args[2], args[8]
        if bias is None:
            made._version_counter[0] += bool(tls.state.excluded & AUTOGRAD)
        else:
            made._version_counter[0] += 1 if _by_onednn(input._array, weight._array, groups) else 2
    return made


def _by_onednn(x: Array, w: Array, groups: int) -> bool:
    """Whether PyTorch would leave it to oneDNN (ConvParams::use_mkldnn), whose result is written once."""
    large = all(k > 3 for k in w.shape[2:]) or x.shape[0] > 1 or x.size > 20480
    return x.dtype == np.float32 and (groups > 1 or large)


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
        found = spread(input, weight, stride, padding, dilation, groups, size)
    else:
        found = correlate(input, weight, stride, padding, dilation, groups)
    if bias is not None:
        found += bias.reshape(-1, *[1] * len(stride))
    return in_format_of(found, input, weight)


convolution = op(
    "convolution",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="ConvolutionBackward0",
    method=False,
    function=False,
    below=_convolution_below,
    input=input_gradient,
    weight=_weight_gradient,
    bias=_sum_channels,
)(_convolution)


@op(
    "convolution_weight",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="ConvolutionBackwardBackward0",
    method=False,
    function=False,
    x=lambda grad, x, g, stride, padding, dilation, groups: input_gradient(
        g, x, grad, stride, padding, dilation, False, groups
    ),
    g=lambda grad, x, stride, padding, dilation, groups: convolution(
        x, grad, None, stride, padding, dilation, False, (0,) * len(stride), groups
    ),
)
def convolution_weight(x: Any, g: Any, shape: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Array:
    return weight_gradient(x, g, shape, stride, padding, dilation, groups)


# -- checks
# ----------------------------------------------------------------------------------------------------


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
    if any(p < 0 for p in padding):
        raise RuntimeError("negative padding is not supported")
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(d <= 0 for d in dilation):
        raise RuntimeError(f"dilation should be greater than zero, but got {sizes(dilation)}")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if w.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if w.ndim - 2 != len(stride):
        raise RuntimeError(
            f"expected stride to be a single integer value or a list of {w.ndim - 2} values to match the "
            f"convolution dimensions, but got stride={sizes(stride)}"
        )
    if w.ndim != x.ndim:
        raise RuntimeError(
            f"Expected {w.ndim}-dimensional input for {w.ndim}-dimensional weight {sizes(w.shape)}, but got "
            f"{x.ndim}-dimensional input of size {sizes(x.shape)} instead"
        )
    if w.shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight "
            f"of size {sizes(w.shape)} instead"
        )
    if w.shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got "
            f"weight of size [{sizes(w.shape)}] instead"
        )
    wanted = w.shape[0] if transposed else w.shape[1] * groups
    if x.shape[1] != wanted:
        raise RuntimeError(
            f"Given {'transposed=1, ' if transposed else f'groups={groups}, '}weight of size "
            f"{sizes(w.shape)}, expected input{sizes(x.shape)} to have {wanted} channels, but got "
            f"{x.shape[1]} channels instead"
        )
    filters = w.shape[1] * groups if transposed else w.shape[0]
    if bias is not None and bias._array.shape != (filters,):
        raise RuntimeError(
            f"Given {'transposed=1, ' if transposed else ''}weight of size {sizes(w.shape)}, expected bias "
            f"to be 1-dimensional with {filters} elements, but got bias of size {sizes(bias._array.shape)} "
            "instead"
        )
    if not transposed:
        have = [n + 2 * p for n, p in zip(x.shape[2:], padding, strict=True)]
        need = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:], strict=True)]
        if any(n < k for n, k in zip(have, need, strict=True)):
            raise RuntimeError(
                f"Calculated padded input size per channel: ({' x '.join(map(str, have))}). Kernel size: "
                f"({' x '.join(map(str, need))}). Kernel size can't be greater than actual input size"
            )
    if bias is not None and bias._array.dtype != x.dtype:
        raise RuntimeError(f"Input type ({input.dtype.short}) and bias type ({bias.dtype.short}) should be the same")
    if w.dtype != x.dtype:
        mine, theirs = input.dtype.scalar_name, weight.dtype.scalar_name
        raise RuntimeError(
            f"Input type (torch.{mine}Tensor) and weight type (torch.{theirs}Tensor) should be the same or "
            "input should be a MKLDNN tensor and weight is a dense tensor"
            if x.dtype == np.float32
            else f"expected scalar type {mine} but found {theirs}"
        )


def _same_padding(weight: Tensor, stride: Ints, dilation: Ints) -> tuple[Ints, Ints]:
    """What "same" adds in front and behind."""
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
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool = False,
    output_padding: Any = 0,
    groups: int = 1,
) -> Tensor:
    for what, value in (("input", input), ("weight", weight)):
        if not isinstance(value, Tensor):
            given = ", ".join(type(v).__name__ for v in (input, weight))
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got ({given}), but "
                f"expected one of:\n"
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
    result = convolution(x, weight, bias, steps, pads, dilations, transposed, more, groups)
    return result if batched else result.squeeze(0)


def _register(count: int) -> None:
    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        return _convolve(count, f"conv{count}d", input, weight, bias, stride, padding, dilation, groups=groups)

    def conv_transpose(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
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
