"""Indexing: reading, and writing in place.

`x[...]` is taken apart as PyTorch does: integers, slices, None and Ellipsis become select, slice, unsqueeze
and alias; what tensors, lists and masks are left go to `index` (a copy) or `index_put_`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes, error_texts
from ..core.array_kinds import in_order_of_iteration
from ..core.dtypes import Array, sizes
from ..core.error_texts import wrong_type
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor, attach
from ..core.thread_state import tls
from ..dispatch.op_node import arguments_of, describe_recording
from ..dispatch.registration import composite, inner_op
from ..dispatch.writing_layers import may_share, write_through_layers
from . import slicing_views, views


def _index_back(grad: Tensor, self_shape: tuple[int, ...], indices: Sequence[object]) -> Tensor:
    return FUNCTIONS["zeros"](self_shape, dtype=grad.dtype).index_put_(indices, grad, True)


_UINT8_IS_DEPRECATED = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
_NOTHING_THERE = "index is out of bounds for dimension with size 0"


def _check_count(indices: Sequence[object], shape: tuple[int, ...]) -> None:
    if len(indices) > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)} (got {len(indices)})")


def _check_dimensions(indices: Sequence[Any], shape: tuple[int, ...]) -> None:
    """IndexError if there is an index in a dimension that has nothing."""
    dim = 0
    for index in indices:
        if index is not None and not _is_mask(index) and index.size and not shape[dim]:
            raise IndexError(_NOTHING_THERE)
        dim += index.ndim if index is not None and _is_mask(index) else 1


def _is_mask(index: Any) -> bool:
    """Whether an index array says of each element whether it is taken: uint8 still does."""
    return bool(index.dtype == np.bool_ or index.dtype == np.uint8)


def _numpy_indices(indices: Sequence[Any], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Index arrays as numpy takes them (None: the whole dimension), checked as PyTorch does."""
    found: list[Any] = []
    dim = 0
    _check_count(indices, shape)
    for index in indices:
        if index is None:
            found.append(slice(None))
            dim += 1
            continue
        array = index
        if array.dtype == np.uint8:
            if array.ndim:  # a single one is a truth value
                warnings.warn(_UINT8_IS_DEPRECATED, UserWarning, stacklevel=2)
            array = array.astype(bool)
        if array.dtype.kind == "b":
            for k, n in enumerate(array.shape):
                dtypes.wrap_dim(dim + k, len(shape))
                if n != shape[dim + k]:
                    raise IndexError(
                        f"The shape of the mask {sizes(array.shape)} at index {k} does not match the shape of the "
                        f"indexed tensor {sizes(shape)} at index {dim + k}"
                    )
            dim += array.ndim
        elif array.dtype.kind in "iu":
            size = shape[dtypes.wrap_dim(dim, len(shape))]
            bad = (array < -size) | (array >= size)
            if bad.any():
                if not size:
                    raise IndexError(_NOTHING_THERE)
                raise IndexError(f"index {array[bad].flat[0]} is out of bounds for dimension {dim} with size {size}")
            dim += 1
        else:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        found.append(array)
    return tuple(found)


@inner_op("index", index_lists=("indices",), tensor_params=("self", "indices"), self=_index_back)
def index(self: Any, indices: Sequence[Any]) -> Array:
    if len(indices) == 1 and type(self) is np.ndarray and self.ndim:
        only = indices[0]
        if type(only) is np.ndarray and only.dtype.char == "l" and only.ndim and only.flags.c_contiguous:
            try:
                return self.take(only, 0)
            except IndexError:
                pass  # below, the error names the index that is out of bounds
    found = _numpy_indices(indices, self.shape)
    try:
        taken = self[found]
    except IndexError:
        raise IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            + ", ".join(sizes(i.shape) for i in found if isinstance(i, np.ndarray))
        ) from None
    return in_order_of_iteration(taken.view(np.ndarray), self, found) if taken.ndim else taken


INDEX_PUT = describe_recording(
    "index_put",
    lambda self, indices, values, accumulate: self,
    {
        "self": lambda grad, indices, accumulate: grad if accumulate else _cleared(grad, indices),
        "values": lambda grad, indices: index(grad, indices),
    },
    tensor_params=("self", "indices", "values"),
    index_lists=("indices",),
)


def _cleared(grad: Tensor, indices: Sequence[object]) -> Tensor:
    return FUNCTIONS["index_put"](grad, indices, FUNCTIONS["zeros"]((), dtype=grad.dtype))


@composite("index_put_")
def index_put_(self: Tensor, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Tensor:
    """Write `values` where the index tensors point; with `accumulate`, add, each repetition counting."""
    if not isinstance(values, Tensor):
        values = FUNCTIONS["tensor"](values, dtype=self.dtype)
    if not isinstance(indices, list | tuple):
        raise wrong_type("index_put_", "indices", 2, indices, "tuple of Tensors")
    indices = tuple(indices)
    args = (self, indices, values, accumulate)
    tensors, keys = arguments_of(INDEX_PUT, args)

    def kernel() -> None:
        target, source = self._array, values._array
        _check_count(indices, target.shape)
        mask = _single_mask(indices, target)
        if not accumulate and mask is not None and source.size == 1:
            np.copyto(target, source.reshape(()), where=mask, casting="unsafe")
            return
        if may_share(self, values) or any(may_share(self, i) for i in indices if i is not None):
            raise RuntimeError(error_texts.PARTIAL_OVERLAP)
        _check_dimensions([None if i is None else i._array for i in indices], target.shape)
        where = _numpy_indices([None if i is None else i._array for i in indices], target.shape)
        if source.dtype != target.dtype:
            _place(target.copy(), where, source.astype(target.dtype), False)  # shapes are looked at first
            raise RuntimeError(
                f"Index put requires the source and destination dtypes match, got {self.dtype.scalar_name} for the "
                f"destination and {values.dtype.scalar_name} for the source."
            )
        _place(target, where, source, accumulate)

    return write_through_layers(INDEX_PUT, tls.state, self, args, tensors, keys, kernel)


def _single_mask(indices: tuple[Any, ...], target: Array) -> Any:
    """The mask, broadcast to the target, if one mask is all there is; then PyTorch does a masked_fill."""
    masks = [(i, t) for i, t in enumerate(indices) if t is not None]
    if len(masks) != 1 or masks[0][1]._array.dtype.kind != "b":
        return None
    place, mask = masks[0][0], masks[0][1]._array
    if target.shape[place : place + mask.ndim] != mask.shape:
        return None
    trailing = target.ndim - place - mask.ndim
    return np.broadcast_to(mask.reshape(mask.shape + (1,) * trailing), target.shape)


def _place(target: Array, where: tuple[Any, ...], source: Array, accumulate: bool) -> None:
    try:
        if accumulate:
            np.add.at(target, where, source)
        else:
            target[where] = source
    except (ValueError, TypeError):  # the latter for a mask and a source of several dimensions
        shape = target[where].shape
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {sizes(source.shape)} cannot be broadcast to indexing result of "
            f"shape {sizes(shape)}"
        ) from None


def _index_put_below(self: Tensor, indices: Sequence[object], values: object, accumulate: bool = False) -> Tensor:
    found: Tensor = self.clone().index_put_(indices, values, accumulate)
    return found


@inner_op(
    "index_put",
    index_lists=("indices",),
    tensor_params=("self", "indices", "values"),
    below=_index_put_below,
    self=lambda grad, indices, accumulate: grad if accumulate else _cleared(grad, indices),
    values=lambda grad, indices: index(grad, indices),
)
def _index_put(self: Array, indices: Sequence[Any], values: Array, accumulate: bool) -> Array:
    if values.dtype != self.dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {dtypes.of(self).scalar_name} for the "
            f"destination and {dtypes.of(values).scalar_name} for the source."
        )
    found = self.copy()
    _place(found, _numpy_indices(indices, self.shape), values, accumulate)
    return found


@composite("index_put")
def index_put(self: Tensor, indices: Sequence[object], values: object, accumulate: bool = False) -> Tensor:
    """A copy with `values` where the index tensors point."""
    if not isinstance(values, Tensor):
        values = FUNCTIONS["tensor"](values, dtype=self.dtype)
    return _index_put(self, tuple(indices), values, accumulate)


# -- x[...]


def _as_tuple(key: object) -> tuple[object, ...]:
    if isinstance(key, tuple):
        return key
    if isinstance(key, list) and any(
        isinstance(k, slice | Tensor | type(None) | type(Ellipsis) | list | tuple) for k in key
    ):
        return tuple(key) if len(key) <= 32 else (key,)
    return (key,)


def _consumes(part: object) -> int:
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    if isinstance(part, Tensor) and part._array.dtype in (np.bool_, np.uint8):
        return part._array.ndim
    return 1


def _too_many(self: Tensor) -> IndexError:
    return IndexError(f"too many indices for tensor of dimension {self._array.ndim}")


def _apply_basic(self: Tensor, key: tuple[Any, ...], skip_full_slices: bool) -> tuple[Tensor, list[Any] | None]:
    """Apply the integer, slice, None and Ellipsis parts; return the view and the index tensors that are left."""
    specified = sum(_consumes(part) for part in key)
    if specified > self._array.ndim:
        raise _too_many(self)
    found, dim = self, 0
    tensors: list[Any] = []
    covered = 0  # dimensions of `found` that `tensors` already speaks for

    def put(tensor: object, count: int) -> None:
        nonlocal covered, dim
        tensors.extend([None] * (dim - covered))
        tensors.append(tensor)
        dim += count
        covered = dim

    for i, part in enumerate(key):
        if isinstance(part, bool) or (isinstance(part, Tensor) and not part._array.ndim and _is_mask(part._array)):
            found = views.unsqueeze(found, dim)
            put(FUNCTIONS["tensor"]([bool(part)]), 1)
        elif isinstance(part, int | np.integer) or (
            isinstance(part, Tensor)
            and part._array.ndim == 0
            and part._array.dtype.kind in "iu"
            and part._array.dtype != np.uint8
        ):
            number = int(part)
            size = found._array.shape[dim] if found._array.ndim else 0
            if not -size <= number < size:
                raise IndexError(f"index {number} is out of bounds for dimension {i} with size {size}")
            found = slicing_views.select(found, dim, number)
        elif isinstance(part, slice):
            start, stop, step = (None if x is None else int(x) for x in (part.start, part.stop, part.step))
            whole = start in (None, 0) and (stop is None or stop >= found._array.shape[dim])
            if skip_full_slices and whole and step in (None, 1):
                dim += 1
                continue
            if step is not None and step <= 0:
                raise ValueError("step must be greater than zero")
            found = slicing_views.slice_(found, dim, start, stop, 1 if step is None else step)
            dim += 1
        elif part is Ellipsis:
            dim += self._array.ndim - specified
        elif part is None:
            found = views.unsqueeze(found, dim)
            dim += 1
        else:
            if not isinstance(part, Tensor):
                part = _index_tensor(part)
            put(part, _consumes(part))
    return found, tensors or None


def _index_tensor(part: object) -> Tensor:
    if isinstance(part, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(part, bytes) or not isinstance(part, list | tuple | range | np.ndarray):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
            f"{type(part).__name__})"
        )
    made: Tensor = FUNCTIONS["tensor"](list(part) if isinstance(part, range) else part)
    return made.long() if made.numel() == 0 else made


_INDEX_OF_NUMBER = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
    "tensor to a number"
)


def getitem(self: Tensor, key: Any) -> Tensor:
    kind = type(key)
    if kind is int:
        if self._array.ndim and -self._array.shape[0] <= key < self._array.shape[0]:
            return slicing_views.select(self, 0, key)
    elif kind is slice and self._array.ndim:
        start, stop, step = key.start, key.stop, key.step
        if (start is None or type(start) is int) and (stop is None or type(stop) is int) and step is None:
            return slicing_views.slice_(self, 0, start, stop, 1)
    if kind is Tensor and self._array.ndim and key._array.ndim and key._array.dtype.kind == "i":
        return index(self, (key,))
    if key is Ellipsis or (kind is tuple and not any(k is not Ellipsis for k in key)):
        return views.alias_op(self)
    split = _as_tuple(key)
    if self._array.ndim == 0 and any(isinstance(k, int | slice) and not isinstance(k, bool) for k in split):
        if isinstance(key, int):
            if key:
                raise IndexError(f"index {key} is out of bounds for dimension 0 with size 0")
            raise IndexError(_INDEX_OF_NUMBER)
        if isinstance(key, slice):
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    found, tensors = _apply_basic(self, split, isinstance(key, tuple))
    if tensors is None:
        return views.alias_op(self) if found is self else found
    return index(found, tuple(tensors))


def _value_tensor(self: Tensor, value: object) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, int | float | complex | np.generic):
        if self._array.dtype.kind != "f" or isinstance(value, complex):  # what is too great becomes infinite
            dtypes.check_number(value, self._array.dtype)
        return FUNCTIONS["tensor"](value, dtype=self.dtype)
    raise TypeError(f"can't assign a {type(value).__name__} to a torch.{self.dtype.scalar_name}Tensor")


def _copy_to(target: Tensor, value: Tensor) -> None:
    shape = value._array.shape
    if shape == target._array.shape:
        target.copy_(value)
        return
    if not shape:
        target.fill_(value)
        return
    value = _without_leading_ones(value, always=True)
    shape = value._array.shape
    if shape != target._array.shape:
        value = _expanded_for_setitem(value, target)
    target.copy_(value)


def _without_leading_ones(value: Tensor, always: bool = False) -> Tensor:
    """The value as a view without leading dimensions of size 1 (slicePrefix1sSize)."""
    shape = value._array.shape
    first = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    return views.view(value, shape[first:]) if first or always else value


def _expanded_for_setitem(value: Tensor, target: Tensor) -> Tensor:
    return value.expand(target._array.shape)


def setitem(self: Tensor, key: object, value: object) -> None:
    wrapped = _value_tensor(self, value)
    if key is Ellipsis:
        _copy_to(self, wrapped)
        return
    if self._array.ndim == 0 and isinstance(key, int) and not isinstance(key, bool):
        raise IndexError(_INDEX_OF_NUMBER)
    found, tensors = _apply_basic(self, _as_tuple(key), True)
    if tensors is None:
        _copy_to(found, wrapped)
        return
    if wrapped.dtype is not self.dtype and not isinstance(value, Tensor):
        wrapped = wrapped.to(self.dtype)
    index_put_(found, tuple(tensors), _without_leading_ones(wrapped))


attach("__getitem__", getitem)
attach("__setitem__", setitem)
