"""Joining, repeating and reordering copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.array_kinds import packed
from ..core.dtypes import Array, sizes, wrap_dim
from ..core.error_texts import public_call
from ..core.function_table import FUNCTIONS, concatenate
from ..core.memory_layout import in_common_format, laid_out_like
from ..core.tensor import Tensor, ndarray, new_tensor
from ..dispatch.op_description import ANY_DTYPE, OPS, RESIZED, OutRule
from ..dispatch.registration import composite, inner_op, op
from .ufunc_makers import cast
from .views import flatten_ints, some_ints


def _castable_joined(title: str, want: Any, got: Any) -> None:
    if not dtypes.can_cast(want, got):
        name = dtypes.BY_CHAR[got.char].scalar_name
        raise TypeError(f"torch.cat(): input types can't be cast to the desired output type {name}")


JOINED_OUT = OutRule(_castable_joined, resized_first=True, apart=True)


def _of_one_kind(arrays: Sequence[Any]) -> bool:
    """Whether numpy joins these as PyTorch does: plain arrays of one dtype and of as many dimensions, up to 3."""
    first = arrays[0]
    dtype, n = first.dtype, first.ndim
    if not 0 < n < 4:
        return False
    for a in arrays:
        if type(a) is not ndarray or a.dtype is not dtype or a.ndim != n or not a.flags.c_contiguous:
            return False
        if n == 1 and not a.size:  # goes with every dimension
            return False
    return True


def _promoted(arrays: Sequence[Any]) -> list[Any]:
    common = dtypes.result_type(*arrays)
    return [cast(a, common) for a in arrays]


def _cat_back(grad: Tensor, tensors_shape: Sequence[tuple[int, ...]], dim: int) -> list[Tensor | None]:
    found: list[Tensor | None] = []
    start = 0
    d = wrap_dim(dim, grad._array.ndim)
    for shape in tensors_shape:
        if shape == (0,) and grad._array.ndim != 1:
            found.append(FUNCTIONS["zeros"]((0,), dtype=grad.dtype))
            continue
        found.append(grad.narrow(d, start, shape[d]))
        start += shape[d]
    return found


def _stack_below(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    shape = _stacked_shape([t._array for t in tensors], dim)
    if wrap_dim(dim, len(shape)) or len(shape) == 1:
        return new_tensor(OPS["stack"].kernel([t._array for t in tensors], dim))
    return FUNCTIONS["cat"]([t.reshape(t._array.shape or (1,)) for t in tensors], 0).view(shape)


def _cat_leak(tensors: Sequence[Tensor], dim: int = 0) -> int:
    """One for each tensor that is converted; those that hold nothing are left out."""
    common = dtypes.result_type(*(t._array for t in tensors))
    return sum(t._array.dtype != common and t._array.shape != (0,) for t in tensors)


@op(
    "cat",
    computes=ANY_DTYPE,
    out=JOINED_OUT,
    lists=("tensors",),
    empty_list=(ValueError, "torch.cat(): expected a non-empty list of Tensors"),
    method=False,
    leak=_cat_leak,
    tensors=_cat_back,
)
def cat(tensors: Any, dim: int = 0) -> Array:
    if type(dim) is int and _of_one_kind(tensors):
        n = tensors[0].ndim
        try:
            joined: Array = concatenate(tensors, dim if 0 <= dim < n else wrap_dim(dim, n))
            return joined
        except ValueError:
            pass  # the error is raised below
    kept = [a for a in tensors if a.shape != (0,)]
    if not kept:  # tensors of that shape go with every dimension
        return np.empty(0, dtypes.result_type(*tensors))
    if any(a.ndim == 0 for a in kept):
        i = next(i for i, a in enumerate(tensors) if a.ndim == 0)
        raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    d = wrap_dim(dim, kept[0].ndim)
    first = kept[0]
    for i, a in enumerate(tensors):
        if a.shape == (0,):
            continue
        if a.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {a.ndim}")
        for k in range(a.ndim):
            if k != d and a.shape[k] != first.shape[k]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {d}. Expected size {first.shape[k]} but got size "
                    f"{a.shape[k]} for tensor number {i} in the list."
                )
    common = dtypes.result_type(*tensors)
    found = np.ascontiguousarray(np.concatenate([cast(a, common) for a in kept], d))
    return in_common_format(found, kept) if found.ndim > 3 else found


for _name in ("concat", "concatenate"):
    FUNCTIONS[_name] = cat


def _stacked_shape(arrays: Sequence[Any], dim: int) -> tuple[int, ...]:
    first = arrays[0].shape
    for i, a in enumerate(arrays):
        if a.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {sizes(first)} at entry 0 and {sizes(a.shape)} "
                f"at entry {i}"
            )
    d = wrap_dim(dim, len(first) + 1)
    return (*first[:d], len(arrays), *first[d:])


@op(
    "stack",
    computes=ANY_DTYPE,
    out=JOINED_OUT,
    lists=("tensors",),
    empty_list=(RuntimeError, "stack expects a non-empty TensorList"),
    method=False,
    below=_stack_below,
    tensors=lambda grad, dim: list(grad.unbind(dim)),
)
def stack(tensors: Any, dim: int = 0) -> Array:
    if dim == 0 and _of_one_kind(tensors):
        have = tensors[0].shape
        for a in tensors:
            if a.shape != have:
                break
        else:
            found: Array = concatenate(tensors).reshape((len(tensors), *have))
            return found
    _stacked_shape(tensors, dim)
    return np.ascontiguousarray(np.stack(_promoted(tensors), wrap_dim(dim, tensors[0].ndim + 1)))


def check_tensors(name: str, tensors: object) -> None:
    """TypeError unless it is a list or tuple, RuntimeError if that is empty."""
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}"
        )
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")


@composite("hstack", method=False, out=RESIZED)
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    check_tensors("hstack", tensors)
    parts = [FUNCTIONS["atleast_1d"](t) for t in tensors]
    return cat(parts, 0 if parts[0]._array.ndim == 1 else 1)


@composite("vstack", method=False, out=RESIZED)
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    check_tensors("vstack", tensors)
    return cat([FUNCTIONS["atleast_2d"](t) for t in tensors], 0)


def _repeat_back(grad: Tensor, self_shape: tuple[int, ...], repeats: tuple[int, ...]) -> Tensor:
    lead = len(repeats) - len(self_shape)
    if 0 in repeats:
        return FUNCTIONS["zeros"](self_shape, dtype=grad.dtype)
    for _ in range(lead):
        grad = grad.sum(0)
    shape: list[int] = []
    dims: list[int] = []
    for count, size in zip(repeats[lead:], self_shape, strict=True):
        if count != 1:
            dims.append(len(shape))
            shape.append(count)
        shape.append(size)
    return grad.reshape(shape).sum(dims) if dims else grad


def _repeat_below(self: Tensor, repeats: tuple[int, ...]) -> Tensor:
    # PyTorch copies into a window of a fresh tensor and returns a view of that.
    made = FUNCTIONS["empty"](np.tile(self._array, repeats).shape, dtype=self.dtype)
    return made.copy_(FUNCTIONS["tensor"](np.tile(self._array, repeats))).view(made.shape)


@inner_op("repeat", below=_repeat_below, self=_repeat_back)
def _repeat(self: Array, repeats: tuple[int, ...]) -> Array:
    return np.tile(self, repeats)


@composite("repeat", function=False)
def repeat(self: Tensor, *times: object, repeats: object = None) -> Tensor:
    counts = some_ints(times, "repeats", repeats)
    if len(counts) < self._array.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    return _repeat(self, counts)


@composite("tile")
def tile(self: Tensor, *times: object, dims: object = None) -> Tensor:
    counts = flatten_ints(times if dims is None else (dims,))
    return _repeat(self, (1,) * (self._array.ndim - len(counts)) + counts)


def _flip_below(self: Tensor, dims: tuple[int, ...]) -> Tensor:
    shape = self._array.shape
    axes = [wrap_dim(d, len(shape)) for d in dims]
    if self._array.size > 1 and any(shape[d] > 1 and self._array.strides[d] for d in axes):
        return new_tensor(OPS["flip"].kernel(self._array, dims))
    return FUNCTIONS["empty_like"](self).copy_(self)  # nothing to turn around: PyTorch copies


@inner_op("flip", below=_flip_below, self=lambda grad, dims: _flip(grad, dims))
def _flip(self: Array, dims: tuple[int, ...]) -> Array:
    if self.ndim == 0:
        for d in dims:
            wrap_dim(d, 0)
        return self.copy()
    axes = tuple(wrap_dim(d, self.ndim) for d in dims)
    for d in axes:
        if axes.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return laid_out_like(np.flip(self, axes).copy(), self)


@composite("flip")
def flip(self: Tensor, *args: object, dims: object = None) -> Tensor:
    if not args and dims is None:
        raise TypeError('flip() missing 1 required positional arguments: "dims"')
    if isinstance(dims, int):
        raise TypeError(f"flip(): argument 'dims' must be tuple of ints, not {type(dims).__name__}")
    called = public_call()
    if called is not None and called[:2] == ("flip", False) and len(args) == 1 and isinstance(args[0], int):
        raise TypeError(f"flip(): argument 'dims' (position 2) must be tuple of ints, not {type(args[0]).__name__}")
    return _flip(self, flatten_ints(args if dims is None else (dims,)))


def _roll_below(self: Tensor, shifts: tuple[int, ...], dims: tuple[int, ...]) -> Tensor:
    made = new_tensor(OPS["roll"].kernel(self._array, shifts, dims))
    return made if dims else made.view(made._array.shape)


@inner_op("roll", below=_roll_below, self=lambda grad, shifts, dims: _roll(grad, tuple(-s for s in shifts), dims))
def _roll(self: Array, shifts: tuple[int, ...], dims: tuple[int, ...]) -> Array:
    for d in dims:
        if self.ndim == 0:
            raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
        wrap_dim(d, self.ndim)
    if len(shifts) != max(len(dims), 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    return np.roll(np.ascontiguousarray(self) if self.ndim else self, shifts if dims else shifts[0], dims or None)


@composite("roll")
def roll(self: Tensor, shifts: object, dims: object = ()) -> Tensor:
    steps = flatten_ints((shifts,))
    if not steps:
        raise RuntimeError("`shifts` required")
    return _roll(self, steps, () if dims is None else flatten_ints((dims,)))


def _check_matrix(array: Any, name: str) -> None:
    if array.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


def _triangle_in_place(triangle: Any) -> Any:
    def kernel(self: Tensor, diagonal: int = 0) -> None:
        _check_matrix(self, triangle.__name__)
        self[triangle(np.ones(self.shape, np.bool_), diagonal) == 0] = 0

    return kernel


def _triangle(name: str, function: Any) -> None:
    """tril or triu. They write to expanded tensors as well."""

    @op(
        name,
        computes=ANY_DTYPE,
        out=RESIZED,
        checks_overlap=False,
        inplace=True,
        inplace_kernel=_triangle_in_place(function),
        self=lambda grad, diagonal: getattr(grad, name)(diagonal),
    )
    def triangle(self: Array, diagonal: int = 0) -> Array:
        _check_matrix(self, name)
        return packed(function(self, diagonal))


_triangle("tril", np.tril)
_triangle("triu", np.triu)


@composite("repeat_interleave")
def repeat_interleave(
    self: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element along `dim` (by default of the flattened tensor) as often as `repeats` says.

    Of one tensor alone, the index that does so.
    """
    if repeats is None:
        return _repeated_index(self)
    source = self.flatten() if dim is None else self
    ndim = source._array.ndim
    along = wrap_dim(0 if dim is None else dim, ndim)
    if not isinstance(repeats, Tensor) and repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if not isinstance(repeats, Tensor) and not ndim:
        wrap_dim(along + 1, 0)
    if isinstance(repeats, int) and output_size is None:
        repeated = source.unsqueeze(along + 1).expand(*[-1] * (along + 1), repeats, *[-1] * (ndim - along - 1))
        return repeated.clone(memory_format="contiguous").flatten(along, along + 1)
    if not ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    size = source._array.shape[along]
    counts = repeats._array if isinstance(repeats, Tensor) else np.asarray(repeats, np.int64)
    if counts.size == 1 and counts.ndim < 2:
        counts = np.broadcast_to(counts.reshape(()), size)
    elif counts.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    elif counts.size != size:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got "
            f"repeats.size(0) = {counts.size} and input.size({along}) = {size}"
        )
    return FUNCTIONS["index_select"](source, along, _repeated_index(new_tensor(counts), output_size))


def _repeated_index(repeats: Tensor, output_size: int | None = None) -> Tensor:
    counts = repeats._array
    if counts.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if counts.dtype not in (np.int64, np.int32):
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{repeats.dtype.scalar_name}'")
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")
    found = np.repeat(np.arange(counts.size, dtype=counts.dtype), counts)
    if output_size is not None and output_size != found.size:
        raise RuntimeError("allocated size does not match required size")
    return new_tensor(found)
