"""Maxima of windows, and ops that pick them with a gradient."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...core.dtypes import Array, Ints, sizes
from ...core.error_texts import wrong_type
from ...core.function_table import FUNCTIONS, AnyFunction
from ...core.memory_layout import in_format_of
from ...core.tensor import Tensor, new_tensor, requires_grad
from ...core.thread_state import tls
from ...dispatch.op_description import Computes
from ...dispatch.registration import composite, inner_op
from .convolution_kernels import padded
from .pooling_windows import Windows, check_pooled_rank, check_two_or_three, one_int, per_window, windows_along

# -- ops that pick elements


def register_pick(
    name: str,
    rank: int,
    stem: str,
    check_gradient: Callable[[Array], None] | None = None,
    keeps_format: bool = True,
    leak: int = 0,
) -> Callable[..., Tensor]:
    """An op that takes the elements of `self` with the flat indices `result1`, and its gradients.

    `stem` is how the nodes are called; `check_gradient` refuses gradients that PyTorch's kernel does; without
    `keeps_format`, results are contiguous whatever the input is.
    """
    twice = f"{stem}BackwardBackward0"

    @inner_op(name, node=f"{stem}Backward0", leak=leak, self=lambda grad, self, result1: backward(grad, self, result1))
    def pick(self: Array, result1: Array) -> Array:
        found = _picked(self, result1, rank)
        return in_format_of(found, self) if keeps_format else found

    @inner_op(
        f"{name}_backward",
        node=twice,
        grad_output=lambda grad, indices: pick_gradient(grad, indices),
        self=lambda grad: FUNCTIONS["zeros_like"](grad),
    )
    def backward(grad_output: Array, self: Array, indices: Array) -> Array:
        if check_gradient is not None:
            check_gradient(grad_output)
        shape = self.shape
        count = math.prod(shape[:-rank])
        size, picks = math.prod(shape[-rank:]), math.prod(indices.shape[-rank:])
        found = np.zeros((count, size), grad_output.dtype)
        rows = np.arange(count)[:, None]
        np.add.at(found, (rows, indices.reshape(count, picks)), grad_output.reshape(count, picks))
        return in_format_of(found.reshape(shape), self) if keeps_format else found.reshape(shape)

    @inner_op(
        f"{name}_pick",
        node=twice,
        self=lambda grad, self_shape, indices: backward(grad, FUNCTIONS["zeros"](self_shape), indices),
    )
    def pick_gradient(self: Array, indices: Array) -> Array:
        return _picked(self, indices, rank)

    return pick


def _picked(values: Array, indices: Array, rank: int) -> Array:
    lead = values.shape[:-rank]
    flat = np.take_along_axis(
        values.reshape(*lead, math.prod(values.shape[-rank:])),
        indices.reshape(*lead, math.prod(indices.shape[-rank:])),
        -1,
    )
    return flat.reshape(indices.shape)


_PICKS = {
    rank: register_pick(f"max_pool{rank}d_with_indices", rank, f"MaxPool{rank}DWithIndices", leak=rank - 2)
    for rank in (2, 3)
}


# -- maxima


def flat_indices(places: Iterable[Array], size: Ints) -> Array:
    """The indices in the flattened input of places along each dimension."""
    found: Array = np.zeros((1,) * len(size), np.int64)
    for d, along in enumerate(places):
        shape = [1] * len(size)
        shape[d] = len(along)
        found = found + along.reshape(shape) * math.prod(size[d + 1 :])
    return found


def greatest(x: Array, first: Array, candidates: Iterable[tuple[Array, Array, Any]]) -> Array:
    """Flat indices of the maxima; the first of equal ones, NaN before all.

    `first` is taken where nothing beats the start value. A candidate is the values of one place of all windows, their
    flat indices, and where they count.
    """
    floating = x.dtype.kind in "fV"
    best: Array | None = None
    indices = np.empty(first.shape, np.int64)
    for value, flat, counts in candidates:
        if best is None:
            best = np.full(value.shape, lowest_of(x), x.dtype)
            indices = np.empty(value.shape, np.int64)
            indices[...] = first
        better = value > best
        if floating:
            better |= np.isnan(value)
        if counts is not True:
            better &= counts
        np.copyto(best, value, where=better)
        np.copyto(indices, flat, where=better)
    return indices


def lowest_of(x: Array) -> Any:
    return -np.inf if x.dtype.kind in "fV" else np.iinfo(x.dtype).min


def _maxima(x: Array, where: Windows) -> Array:
    wide = padded(x, where.padding, lowest_of(x), where.after)
    starts = where.starts()
    # Where nothing beats the start value, PyTorch names the first element inside the input.
    inside = [np.where(s < 0, s + -(s // d) * d, s) for s, d in zip(starts, where.dilation, strict=True)]

    def candidates() -> Iterable[tuple[Array, Array, Any]]:
        for position, window in where.offsets():
            places = [s + i * d for s, i, d in zip(starts, position, where.dilation, strict=True)]
            yield wide[window], flat_indices(places, where.size), True

    return greatest(x, flat_indices(inside, where.size), candidates())


def _max_pool_with_indices(
    rank: int, input: object, kernel_size: object, stride: object, padding: object, dilation: object, ceil_mode: bool
) -> tuple[Tensor, Tensor]:
    name = f"max_pool{rank}d"
    if not isinstance(input, Tensor):
        raise wrong_type(name, "input", 1, input)
    kernel = per_window(kernel_size, rank, f"{name}: kernel_size must either be")
    steps = (
        kernel
        if stride is None or stride in ((), [])
        else per_window(stride, rank, f"{name}: stride must either be omitted,")
    )
    pads = per_window(padding, rank, f"{name}: padding must either be")
    dilations = per_window(dilation, rank, f"{name}: dilation must be either")
    shape = input._array.shape
    check_pooled_rank(shape, rank, refuses_empty=True)
    where = Windows(shape[-rank:], kernel, steps, pads, dilations, ceil_mode)
    where.check(shape, "max_pool3d_with_indices_out_cpu_template()")
    if input._array.dtype.kind in "bc":
        raise NotImplementedError(f"\"{name}\" not implemented for '{input.dtype.scalar_name}'")
    indices = new_tensor(in_format_of(_maxima(input._array, where), input._array))
    values = _PICKS[rank](input, indices)
    if values._version_counter is not None and indices._version_counter is not None:
        indices._version_counter[0] = values._version_counter[0]  # both were resized, or neither
    return values, indices


def _of_rank(rank: int, always: bool) -> AnyFunction:
    """`max_pool2d` or `max_pool3d`, or the form that always gives the indices as well."""

    def pool(
        input: Tensor,
        kernel_size: object,
        stride: object = None,
        padding: object = 0,
        dilation: object = 1,
        ceil_mode: bool = False,
        return_indices: bool = always,
    ) -> Any:
        found = _max_pool_with_indices(rank, input, kernel_size, stride, padding, dilation, ceil_mode)
        return found if always or return_indices else found[0]

    name = f"max_pool{rank}d{'_with_indices' * always}"
    return composite(name, method=False, function=not always)(pool)


max_pool2d, max_pool3d = _of_rank(2, False), _of_rank(3, False)
max_pool2d_with_indices, max_pool3d_with_indices = _of_rank(2, True), _of_rank(3, True)


# -- one dimension


@composite("max_pool1d_with_indices", method=False)
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: object,
    stride: object = None,
    padding: object = 0,
    dilation: object = 1,
    ceil_mode: bool = False,
    return_indices: bool = True,
) -> tuple[Tensor, Tensor]:
    check_two_or_three("max_pool1d", input)
    kernel = one_int(kernel_size, "max_pool1d", "kernel_size")
    steps = kernel if stride is None or stride in ((), []) else one_int(stride, "max_pool1d", "stride")
    pads, dilations = one_int(padding, "max_pool1d", "padding"), one_int(dilation, "max_pool1d", "dilation")
    values, indices = max_pool2d_with_indices(
        input.unsqueeze(-2), (1, kernel), (1, steps), (0, pads), (1, dilations), ceil_mode
    )
    return values.squeeze(-2), indices.squeeze(-2)


@inner_op("max_pool1d", computes=Computes("f", "max_pool1d_impl"))
def _max_pool1d(self: Array, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> Array:
    """The values alone, for what needs no gradient."""
    x = self.reshape(-1, *self.shape[-2:])
    where = Windows(x.shape[-1:], (kernel,), (stride,), (padding,), (dilation,), ceil_mode)
    return _picked(x, _maxima(x, where), 1)


def _check_1d(input: Tensor, given: dict[str, Any], ceil_mode: bool) -> None:
    name = "max_pool1d()"
    for argument, value in given.items():
        if not isinstance(value, int) and len(value) != 1:
            kinds = "None, an int, list of ints, or" if argument == "stride" else "an int, list of ints or"
            kinds = "an int, list of ints, or" if argument == "padding" else kinds
            raise RuntimeError(f"{name} {argument} must be {kinds} tuple of ints of size 1 but got size {len(value)}")
    kernel, stride, padding, dilation = (v if isinstance(v, int) else v[0] for v in given.values())
    for argument, value in (("kernel_size", kernel), ("stride", stride)):
        if value <= 0:
            raise RuntimeError(f"{name} {argument} must be greater than zero, but got {value}")
    if padding < 0:
        raise RuntimeError(f"{name} padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(
            f"{name} padding should be at most half of kernel size, but got padding={padding} and kernel_size={kernel}"
        )
    if dilation <= 0:
        raise RuntimeError(f"{name} dilation must be greater than zero, but got {dilation}")
    count = windows_along(input.size(-1), kernel, stride, padding, dilation, ceil_mode)
    if count <= 0:
        raise RuntimeError(f"{name} Invalid computed output size: {count}")


@composite("max_pool1d", method=False)
def max_pool1d(
    input: Tensor,
    kernel_size: object,
    stride: object = None,
    padding: object = 0,
    dilation: object = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maxima of windows over the last dimension of (batch, channels, length)."""
    if return_indices:
        return max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    if not isinstance(input, Tensor):
        raise wrong_type("max_pool1d", "input", 1, input)
    if input.dim() not in (2, 3) or 0 in input.shape[input.dim() - 2 :]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{sizes(input.shape)}"
        )
    steps = kernel_size if stride is None or stride in ((), []) else stride
    given = {"kernel_size": kernel_size, "stride": steps, "padding": padding, "dilation": dilation}
    _check_1d(input, given, ceil_mode)
    if tls.state.grad_mode and requires_grad(input):
        return max_pool1d_with_indices(input, kernel_size, steps, padding, dilation, ceil_mode)[0]
    made = _max_pool1d(input, *(one_int(v, "max_pool1d", a) for a, v in given.items()), ceil_mode)
    return made.squeeze_(0) if input.dim() == 2 else made
