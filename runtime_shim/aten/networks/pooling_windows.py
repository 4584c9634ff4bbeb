"""Windows of pooling, and their averages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core.dtypes import Array, Ints, sizes, wrap_dim
from ...core.error_texts import wrong_type
from ...core.function_table import FUNCTIONS
from ...core.memory_layout import in_format_of
from ...core.tensor import Tensor
from ...dispatch.registration import composite, inner_op
from .convolution_kernels import padded

_COUNTS = {2: "two", 3: "three"}


def per_window(value: Any, rank: int, refusal: str) -> Ints:
    """A number for each dimension; RuntimeError with `refusal` if as many are not given."""
    if isinstance(value, int):
        return (value,) * rank
    found = tuple(int(v) for v in value)
    if len(found) == 1:
        return found * rank
    if len(found) != rank:
        raise RuntimeError(f"{refusal} a single int, or a tuple of {_COUNTS[rank]} ints")
    return found


def one_int(value: Any, name: str, argument: str) -> int:
    """A number, or a list of one."""
    if isinstance(value, int):
        return value
    if len(value) != 1:
        raise RuntimeError(f"{name}() argument '{argument}' should contain one int (got {len(value)})")
    return int(value[0])


def check_two_or_three(name: str, input: object) -> None:
    if not isinstance(input, Tensor):
        raise wrong_type(name, "input", 1, input)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input.dim()}-dimensional tensor for argument #1 'self' (while "
            f"checking arguments for {name})"
        )


def windows_along(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows a dimension has."""
    if stride == 0:
        raise RuntimeError("stride should not be zero")
    if padding < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {padding}")
    if padding > int(((kernel - 1) * dilation + 1) / 2):
        raise RuntimeError(
            "pad should be at most half of effective kernel size, but got "
            f"pad={padding}, kernel_size={kernel} and dilation={dilation}"
        )
    span = size + 2 * padding - dilation * (kernel - 1) - 1 + (stride - 1 if ceil_mode else 0)
    found = span // stride + 1
    # A last window that would start beyond the input and its left padding is not taken.
    if ceil_mode and (found - 1) * stride >= size + padding:
        found -= 1
    return found


class Windows:
    """Sizes of the output, slices of the padded input."""

    def __init__(
        self, size: Sequence[int], kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
    ) -> None:
        self.size, self.kernel, self.stride, self.padding = tuple(size), kernel, stride, padding
        self.dilation = dilation
        self.out = tuple(
            windows_along(n, k, s, p, d, ceil_mode)
            for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
        )
        self.after = tuple(
            max(0, (o - 1) * s + d * (k - 1) + 1 - p - n)
            for o, s, d, k, p, n in zip(self.out, stride, dilation, kernel, padding, size, strict=True)
        )

    def offsets(self) -> Iterator[tuple[Ints, Any]]:
        for position in np.ndindex(*self.kernel):
            yield (
                position,
                (
                    ...,
                    *(
                        slice(i * d, i * d + (o - 1) * s + 1, s)
                        for i, d, o, s in zip(position, self.dilation, self.out, self.stride, strict=True)
                    ),
                ),
            )

    def interior(self) -> Any:
        return (..., *(slice(p, p + n) for p, n in zip(self.padding, self.size, strict=True)))

    def starts(self) -> list[Array]:
        """Along each dimension, where in the input a window starts: before it, in the padding, below 0."""
        return [np.arange(o) * s - p for o, s, p in zip(self.out, self.stride, self.padding, strict=True)]

    def _refuse_below_1(self, what: str, values: Ints, letter: str) -> None:
        if any(v <= 0 for v in values):
            given = " ".join(f"{letter}{axis}: {v}" for axis, v in zip("THW"[-len(values) :], values, strict=True))
            raise RuntimeError(f"{what} should be greater than zero, but got {given}")

    def check(self, shape: Sequence[int], function: str, *, whole_kernel: bool = False) -> None:
        """RuntimeError for windows or an input that cannot be; with `whole_kernel`, an input smaller than one."""
        rank = len(self.size)
        self._refuse_below_1("kernel size", self.kernel, "k")
        self._refuse_below_1("stride", self.stride, "d")
        self._refuse_below_1("dilation", self.dilation, "dilation")
        if rank == 3:
            empty = [n for n in shape[len(shape) - 4 :] if n == 0]
            if empty:
                raise RuntimeError(
                    f"{function}: Expected input's non-batch dimensions to have positive length, but input has a shape "
                    f"of {sizes(shape)} and non-batch dimension 0 has length zero!"
                )
            if whole_kernel and any(n < k for n, k in zip(self.size, self.kernel, strict=True)):
                (t, h, w), (kt, kh, kw) = self.size, self.kernel
                raise RuntimeError(
                    f"input image (T: {t} H: {h} W: {w}) smaller than kernel size (kT: {kt} kH: {kh} kW: {kw})"
                )
        elif len(shape) not in (3, 4) or 0 in shape[-3:]:
            raise RuntimeError(
                "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
                f"{sizes(shape)}"
            )
        if any(o < 1 for o in self.out):
            channels = shape[-rank - 1]
            given, out = ("x".join(map(str, (channels, *size))) for size in (self.size, self.out))
            raise RuntimeError(
                f"Given input size: ({given}). Calculated output size: ({out}). Output size is too small"
            )


def check_pooled_rank(shape: Sequence[int], rank: int, *, refuses_empty: bool) -> None:
    """What PyTorch says before it looks at the sizes of an input."""
    if rank == 3 and len(shape) not in (4, 5):
        raise RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input")
    if rank == 2 and refuses_empty and len(shape) not in (3, 4):
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
    if not shape:
        raise IndexError(f"Dimension specified as {-rank - 1} but tensor has no dimensions")
    if len(shape) <= rank:
        wrap_dim(-rank - 1, len(shape))


def _divisors(where: Windows, count_include_pad: bool, divisor_override: int | None) -> Any:
    """What each window's sum is divided by: an array of the output's last dimensions."""
    if divisor_override is not None:
        return divisor_override
    rank = len(where.size)
    found: Any = 1
    for d, (start, n, k, p) in enumerate(zip(where.starts(), where.size, where.kernel, where.padding, strict=True)):
        end = np.minimum(start + k, n + p)
        count = end - start if count_include_pad else np.minimum(end, n) - np.maximum(start, 0)
        shape = [1] * rank
        shape[d] = len(count)
        found = found * count.reshape(shape)
    return found


def _divided(total: Array, divisors: Any) -> Array:
    if total.dtype.kind == "i":  # toward zero, as in C++
        signs = np.sign(total) * np.sign(divisors)
        return np.asarray(signs * (np.abs(total) // np.abs(divisors)), total.dtype)
    return np.true_divide(total, np.asarray(divisors, total.dtype), out=total)


def _register(rank: int) -> Callable[..., Tensor]:
    name = f"avg_pool{rank}d"
    ones = (1,) * rank

    @inner_op(
        name,
        node=f"AvgPool{rank}DBackward0",
        self=lambda grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: backward(
            grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        ),
    )
    def forward(
        self: Array,
        kernel_size: Ints,
        stride: Ints,
        padding: Ints,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Array:
        where = Windows(self.shape[-rank:], kernel_size, stride, padding, ones, ceil_mode)
        wide = padded(self, where.padding, 0, where.after)
        total: Array = np.zeros((*self.shape[:-rank], *where.out), self.dtype)
        for _, window in where.offsets():
            total += wide[window]
        found = _divided(total, _divisors(where, count_include_pad, divisor_override))
        return in_format_of(found, self) if rank == 2 else found

    @inner_op(
        f"{name}_backward",
        node=f"AvgPool{rank}DBackwardBackward0",
        grad_output=lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: forward(
            grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        ),
        self=lambda grad: FUNCTIONS["zeros_like"](grad),
    )
    def backward(
        grad_output: Array,
        self: Array,
        kernel_size: Ints,
        stride: Ints,
        padding: Ints,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Array:
        shape = self.shape
        where = Windows(shape[-rank:], kernel_size, stride, padding, ones, ceil_mode)
        divisors = np.asarray(_divisors(where, count_include_pad, divisor_override), grad_output.dtype)
        share = grad_output / divisors
        wide = [n + p + q for n, p, q in zip(where.size, where.padding, where.after, strict=True)]
        found = np.zeros((*shape[:-rank], *wide), grad_output.dtype)
        for _, window in where.offsets():
            found[window] += share
        return np.ascontiguousarray(found[where.interior()])

    return forward


_FORWARD = {rank: _register(rank) for rank in (2, 3)}


def _published(rank: int) -> Callable[..., Tensor]:
    name = f"avg_pool{rank}d"

    @composite(name, method=False, function=False)
    def pool(
        input: Tensor,
        kernel_size: object,
        stride: object = None,
        padding: object = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        if not isinstance(input, Tensor):
            raise wrong_type(name, "input", 1, input)
        be = "must be" if rank == 3 else "must either be"
        kernel = per_window(kernel_size, rank, f"{name}: kernel_size {be}")
        omitted = stride is None or stride in ((), [])
        steps = kernel if omitted else per_window(stride, rank, f"{name}: stride {be} omitted,")
        pads = per_window(padding, rank, f"{name}: padding {be}")
        shape = input._array.shape
        if rank == 3:
            check_pooled_rank(shape, rank, refuses_empty=False)
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        check_pooled_rank(shape, rank, refuses_empty=False)
        where = Windows(shape[-rank:], kernel, steps, pads, (1,) * rank, ceil_mode)
        where.check(shape, "avg_pool3d()", whole_kernel=True)
        dtype = input._array.dtype
        taken = dtype == np.int64 or (dtype.kind in "fV" and (rank == 2 or dtype in (np.float32, np.float64)))
        if not taken:
            label = name if rank == 2 else "avg_pool3d_out_frame"
            raise NotImplementedError(f"\"{label}\" not implemented for '{input.dtype.scalar_name}'")
        return _FORWARD[rank](input, kernel, steps, pads, ceil_mode, count_include_pad, divisor_override)

    return pool


avg_pool2d, avg_pool3d = _published(2), _published(3)


@composite("avg_pool1d", method=False)
def avg_pool1d(
    input: Tensor,
    kernel_size: object,
    stride: object = None,
    padding: object = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    check_two_or_three("avg_pool1d", input)
    kernel = one_int(kernel_size, "avg_pool1d", "kernel_size")
    steps = kernel if stride is None or stride in ((), []) else one_int(stride, "avg_pool1d", "stride")
    pads = one_int(padding, "avg_pool1d", "padding")
    found = avg_pool2d(input.unsqueeze(-2), (1, kernel), (1, steps), (0, pads), ceil_mode, count_include_pad)
    return found.squeeze(-2)
