"""Pooling to a given size: each dimension is parted into nearly equal pieces, which may overlap by an element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...core.dtypes import Array, Ints, sizes
from ...core.error_texts import wrong_type
from ...core.function_table import FUNCTIONS, AnyFunction
from ...core.memory_layout import in_format_of, suggested_format
from ...core.tensor import Tensor, new_tensor
from ...dispatch.registration import composite, inner_op
from .pooling import flat_indices, greatest, register_pick
from .pooling_windows import check_two_or_three, one_int


def _pieces(size: int, out: int) -> tuple[Array, Array]:
    """Where the pieces of a dimension start and end."""
    i = np.arange(out)
    return i * size // max(out, 1), -(-(i + 1) * size // max(out, 1))


def _refuse_empty(name: str, what: str, shape: Sequence[int], first: int = 1) -> None:
    for i, n in enumerate(shape):
        if i >= first and n == 0:
            raise RuntimeError(
                f"{name}(): Expected {what} to have non-zero size for non-batch dimensions, but {what} has sizes "
                f"{sizes(shape)} with dimension {i} being empty"
            )


def _given_size(output_size: Any, input: Any, rank: int) -> Ints:
    """What is asked for; the input's size for None."""
    if not isinstance(input, Tensor):
        raise AttributeError(f"'{type(input).__name__}' object has no attribute 'size'")
    if isinstance(output_size, int):
        return (output_size,) * rank
    if input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    own = input.shape[input.dim() - len(output_size) :]
    return tuple(n if o is None else o for o, n in zip(output_size, own, strict=True))


# -- means


def _summed(x: Array, axis: int, size: int) -> tuple[Array, Array]:
    """The sums of the pieces of one dimension, and how many elements each has, to be broadcast."""
    starts, ends = _pieces(x.shape[axis], size)
    moved = np.moveaxis(x, axis, -1)
    found = np.empty((*moved.shape[:-1], size), x.dtype)
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        found[..., i] = moved[..., start:end].sum(-1)
    return np.moveaxis(found, -1, axis), (ends - starts).reshape(-1, *(1,) * (-1 - axis))


def _spread(share: Array, axis: int, size: int) -> Array:
    """Each element added to all of its piece of a dimension that has `size`."""
    moved = np.moveaxis(share, axis, -1)
    found = np.zeros((*moved.shape[:-1], size), share.dtype)
    for i, (start, end) in enumerate(zip(*_pieces(size, share.shape[axis]), strict=True)):
        found[..., start:end] += moved[..., i, None]
    return np.moveaxis(found, -1, axis)


def _computed(x: Array) -> Array:
    """In the precision that PyTorch adds up in."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def _register_means(rank: int) -> Callable[..., Tensor]:
    name = f"adaptive_avg_pool{rank}d"

    @inner_op(name, node=f"AdaptiveAvgPool{rank}DBackward0", leak=1, self=lambda grad, self: backward(grad, self))
    def forward(self: Array, output_size: Ints) -> Array:
        found, counts = _computed(self), []
        for axis, size in zip(range(-rank, 0), output_size, strict=True):
            found, count = _summed(found, axis, size)
            counts.append(count)
        for count in counts:
            found = found / count.astype(found.dtype)
        found = np.ascontiguousarray(found.astype(self.dtype, copy=False))
        return in_format_of(found, self) if rank == 2 else found

    @inner_op(
        f"{name}_backward",
        node=f"AdaptiveAvgPool{rank}DBackwardBackward0",
        grad_output=lambda grad, grad_output_shape: forward(grad, grad_output_shape[-rank:]),
        self=lambda grad: FUNCTIONS["zeros_like"](grad),
    )
    def backward(grad_output: Array, self: Array) -> Array:
        _refuse_empty(f"{name}_backward", "grad_output", grad_output.shape)
        found = _computed(grad_output)
        for axis, size in zip(range(-rank, 0), self.shape[-rank:], strict=True):
            starts, ends = _pieces(size, found.shape[axis])
            found = found / (ends - starts).reshape(-1, *(1,) * (-1 - axis)).astype(found.dtype)
        for axis, size in zip(range(-rank, 0), self.shape[-rank:], strict=True):
            found = _spread(found, axis, size)
        found = np.ascontiguousarray(found.astype(grad_output.dtype, copy=False))
        return in_format_of(found, self) if rank == 2 else found

    return forward


_MEANS = {rank: _register_means(rank) for rank in (2, 3)}


def _adaptive_mean(rank: int, input: Tensor, output_size: object) -> Tensor:
    name = f"adaptive_avg_pool{rank}d"
    size = _given_size(output_size, input, rank)
    shape = input._array.shape
    if len(size) != rank:
        raise RuntimeError(f"{name}: output_size must be {rank}")
    if any(n < 0 for n in size):
        listed = ", ".join(map(str, size)) if rank == 2 else f"{size[0]}, {size[1]},{size[2]}"
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {{{listed}}}"
        )
    if size == (1,) * rank:
        found: Tensor = FUNCTIONS["mean"](input, [-1, -2, -3][:rank], True)
        if suggested_format(input._array) is not None:
            batch, channels = shape[:2]
            found = found.as_strided_((batch, channels, *size), (channels, 1, *(channels,) * rank))
        return found
    if rank == 3:
        _refuse_empty(name, "input", shape)
    if len(shape) not in (rank + 1, rank + 2):
        raise RuntimeError(f"{name}(): Expected {rank + 1}D or {rank + 2}D tensor, but got {sizes(shape)}")
    _refuse_empty(name, "input", shape, len(shape) - rank)
    if input._array.dtype.kind not in "fV" and (rank == 3 or (0 not in size and 0 not in shape)):
        label = name if rank == 2 else f"{name}_cpu"
        raise NotImplementedError(f"\"{label}\" not implemented for '{input.dtype.scalar_name}'")
    return _MEANS[rank](input, size)


@composite("adaptive_avg_pool2d", method=False, function=False)
def adaptive_avg_pool2d(input: Tensor, output_size: object) -> Tensor:
    """Means over pieces of (batch, channels, height, width) so that the output has the given size."""
    return _adaptive_mean(2, input, output_size)


@composite("adaptive_avg_pool3d", method=False, function=False)
def adaptive_avg_pool3d(input: Tensor, output_size: object) -> Tensor:
    """The same over the last three dimensions."""
    return _adaptive_mean(3, input, output_size)


def _one_size(name: str, input: object, output_size: object) -> int:
    if output_size is None:
        raise wrong_type(name, "output_size", 2, output_size, "tuple of ints")
    check_two_or_three(name, input)
    return one_int(output_size, name, "output_size")


@composite("adaptive_avg_pool1d", method=False)
def adaptive_avg_pool1d(input: Tensor, output_size: object) -> Tensor:
    wanted = _one_size("adaptive_avg_pool1d", input, output_size)
    return adaptive_avg_pool2d(input.unsqueeze(-2), (1, wanted)).squeeze(-2)


# -- maxima


def _adaptive_maxima(x: Array, size: Ints) -> Array:
    rank = len(size)
    inner = x.shape[-rank:]
    pieces = [_pieces(n, o) for n, o in zip(inner, size, strict=True)]
    longest = [int((end - start).max(initial=0)) for start, end in pieces]

    def candidates() -> Iterable[tuple[Array, Array, object]]:
        for position in np.ndindex(*longest):
            counts: Any = np.ones((1,) * rank, bool)
            places = []
            for d, ((start, end), i) in enumerate(zip(pieces, position, strict=True)):
                shape = [1] * rank
                shape[d] = len(start)
                counts = counts & (start + i < end).reshape(shape)
                places.append(np.minimum(start + i, inner[d] - 1))
            yield x[(..., *np.ix_(*places))], flat_indices(places, inner), counts

    first = flat_indices([start for start, _ in pieces], inner)
    found = greatest(x, first, candidates())
    return found if 0 not in size else np.empty((*x.shape[:-rank], *size), np.int64)


def _register_maxima(rank: int) -> Callable[..., Tensor]:
    name = f"adaptive_max_pool{rank}d"

    def check(grad_output: Array) -> None:
        _refuse_empty(f"{name}_backward", "grad_output", grad_output.shape)

    return register_pick(name, rank, f"AdaptiveMaxPool{rank}D", check, keeps_format=rank == 2)


_MAXIMA = {rank: _register_maxima(rank) for rank in (2, 3)}


def _adaptive_max(rank: int, input: Tensor, output_size: object) -> tuple[Tensor, Tensor]:
    name = f"adaptive_max_pool{rank}d"
    size = _given_size(output_size, input, rank)
    shape = input._array.shape
    if len(shape) not in (rank + 1, rank + 2):
        raise RuntimeError(f"{name}(): Expected {rank + 1}D or {rank + 2}D tensor, but got: {sizes(shape)}")
    _refuse_empty(name, "input", shape)
    if len(size) != rank:
        raise RuntimeError(f"{name}(): internal error: output_size.size() must be {rank}")
    if any(n < 0 for n in size):
        negative = next(n for n in size if n < 0)
        whole = sizes((*shape[:-rank], *size))
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {whole}")
    if input._array.dtype.kind not in "fV":
        label = name if rank == 2 else f"{name}_cpu"
        raise NotImplementedError(f"\"{label}\" not implemented for '{input.dtype.scalar_name}'")
    found = _adaptive_maxima(input._array, size)
    indices = new_tensor(in_format_of(found, input._array) if rank == 2 else found)
    return _MAXIMA[rank](input, indices), indices


def _published(rank: int) -> tuple[Callable[..., tuple[Tensor, Tensor]], AnyFunction]:
    def with_indices(input: Tensor, output_size: object, return_indices: bool = True) -> tuple[Tensor, Tensor]:
        """The greatest elements of the pieces, and their indices in the flattened input."""
        return _adaptive_max(rank, input, output_size)

    def values(input: Tensor, output_size: object, return_indices: bool = False) -> Any:
        """The greatest elements of the pieces."""
        found = _adaptive_max(rank, input, output_size)
        return found if return_indices else found[0]

    for call, name in ((with_indices, f"adaptive_max_pool{rank}d_with_indices"), (values, f"adaptive_max_pool{rank}d")):
        call.__name__ = call.__qualname__ = name
    return with_indices, values


adaptive_max_pool2d_with_indices, adaptive_max_pool2d = _published(2)
adaptive_max_pool3d_with_indices, adaptive_max_pool3d = _published(3)


@composite("adaptive_max_pool1d", method=False)
def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: object, return_indices: bool = True
) -> tuple[Tensor, Tensor]:
    wanted = _one_size("adaptive_max_pool1d", input, output_size)
    _refuse_empty("adaptive_max_pool1d", "input", input.shape)
    values, indices = _adaptive_max(2, input.unsqueeze(-2), (1, wanted))
    return values.squeeze(-2), indices.squeeze(-2)


def adaptive_max_pool1d(input: Tensor, output_size: object, return_indices: bool = False) -> Any:
    found = adaptive_max_pool1d_with_indices(input, output_size)
    return found if return_indices else found[0]


__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices",
]  # fmt: skip
