"""Arrays of numpy's with more to them: of zeros, standing in for others, or with their own order in memory.

Products of them, quotients and sums of two are such zeros again; all else that is computed with them is an ordinary
array, and so is what they are converted to. Nothing can be written to them. The shim's have memory, which nothing shows
but the methods that PyTorch refuses.

numpy's ufuncs find their own order where the operands have several, and give dimensions of size 1 any stride.
Views that reorder dimensions are of a class of arrays that asks PyTorch's rules; all other arrays pay nothing for it.

Source of the behaviour: aten/src/ATen/TensorIterator.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .dtypes import Array

_ndarray = np.ndarray


def _immutable(*args: object) -> object:
    raise RuntimeError(
        "ZeroTensors are immutable. Please use the materialized zero tensor obtained using .clone() if you want a "
        "mutable tensor."
    )


class ZeroArray(np.ndarray[Any, Any]):
    """Zeros without memory of their own, as PyTorch has it."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        plain = [i.view(_ndarray) if type(i) is ZeroArray else i for i in inputs]
        if out is not None:
            if any(type(o) is ZeroArray for o in out):
                _immutable()
            options["out"] = out
        found = getattr(ufunc, method)(*plain, **options)
        if out is not None:
            return out[0] if len(out) == 1 else out
        stays = ufunc is np.multiply or (ufunc is np.true_divide and type(inputs[0]) is ZeroArray)
        stays = stays or (ufunc is np.add and all(type(i) is ZeroArray for i in inputs))
        return found.view(ZeroArray) if stays and isinstance(found, _ndarray) else found

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.copyto and type(args[0]) is ZeroArray:
            _immutable()
        return super().__array_function__(function, types, args, kwargs)

    fill = __setitem__ = _immutable  # type: ignore[assignment]

    def copy(self, order: Any = "C") -> Any:
        return self.view(_ndarray).copy(order)

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        return self.view(_ndarray).astype(dtype, *args, **options)


def check_allocated(array: object) -> None:
    """RuntimeError, in PyTorch's words, if `tolist` is asked for zeros without memory."""
    if type(array) is ZeroArray:
        raise RuntimeError("tolist() shouldn't be called on a tensor with unallocated storage")


def check_readable(array: object) -> None:
    """RuntimeError, in PyTorch's words, if numpy is to see zeros without memory."""
    if type(array) is ZeroArray:
        raise RuntimeError(" Cannot convert a ZeroTensor to numpy. Set force=True if you need the zero array.")


Strides = tuple[int, ...]


class ReorderedArray(np.ndarray[Any, Any]):
    """A numpy array. Elementwise results of it have the strides that PyTorch gives them."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        plain = _plain(inputs)
        if out is not None:
            options["out"] = tuple(o.view(_ndarray) if isinstance(o, ReorderedArray) else o for o in out)
        found = getattr(ufunc, method)(*plain, **options)
        if out is not None:
            return out[0] if len(out) == 1 else out
        if method != "__call__" or ufunc.signature is not None or type(found) is not _ndarray or not found.ndim:
            return found
        if ufunc in _BOUNDS:
            plain = [i for i in plain if isinstance(i, _ndarray)]
        return in_order_of(found, plain)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.where and len(args) == 3:
            plain = _plain(args)
            return in_order_of(np.where(*plain), plain)
        return super().__array_function__(func, types, args, kwargs)


#: relu and clamp are made of these here. PyTorch doesn't count their numbers as operands.
_BOUNDS = np.maximum, np.minimum, (getattr(np, "_core", None) or np.core).umath.clip


def _plain(values: Sequence[Any]) -> list[Any]:
    return [value.view(_ndarray) if isinstance(value, ReorderedArray) else value for value in values]


def marked(array: Array) -> Array:
    """A window of any strides, as an array whose results have PyTorch's."""
    if array.ndim < 2 or (array.flags.c_contiguous and 1 not in array.shape):
        return array
    return array.view(ReorderedArray)


def elementwise(found: Array, *operands: object) -> Array:
    """A result computed in several steps, with the strides of an op of one step on these operands."""
    if any(type(o) is ReorderedArray for o in operands):
        return in_order_of(found.view(_ndarray), _plain(operands))
    return found


def packed(found: Array) -> Array:
    """The result of an op that gives it no order but the usual one."""
    if type(found) is _ndarray and found.flags.c_contiguous and 1 not in found.shape:
        return found
    return found.view(_ndarray).copy()


def in_order_of(found: Array, operands: Sequence[object]) -> Array:
    """A result with the strides that an elementwise op of these operands gives it."""
    shape = found.shape
    arrays = [o for o in operands if isinstance(o, _ndarray) and o.ndim]
    alone = len(arrays) == len(operands) and all(a.shape == shape for a in arrays)
    if alone and all(a.flags.c_contiguous for a in arrays):
        wanted = usual_strides(shape)
    elif alone and (kept := _common_strides(arrays)) is not None:
        wanted = kept
    else:
        wanted = _packed(shape, _order(shape, [_broadcast_strides(a, shape) for a in arrays]))
    size = found.itemsize
    strides = tuple([stride * size for stride in wanted])
    if strides != found.strides:
        made = _ndarray(shape, found.dtype, strides=strides)
        np.copyto(made, found)
        found = made
    usual = found.flags.c_contiguous and (alone or 1 not in shape)
    return found if usual and (1 not in shape or wanted == usual_strides(shape)) else found.view(ReorderedArray)


def in_order_of_iteration(taken: Array, self: Array, indices: Sequence[Any]) -> Array:
    """The elements in the strides that PyTorch's loop over the indices and what is left whole gives them.

    Source of the behaviour: make_info and restride_src in aten/src/ATen/native/TensorAdvancedIndexing.cpp.
    """
    given = [i for i in indices if isinstance(i, _ndarray)]
    if type(self) is not ReorderedArray and all(i.flags.c_contiguous and type(i) is not ReorderedArray for i in given):
        return packed(taken)
    places = [i if i.dtype != np.bool_ else np.zeros(np.count_nonzero(i), np.int64) for i in given]
    replaced = np.broadcast_shapes(*[i.shape for i in places])
    whole: list[int] = []  # the dimensions that no index is for
    before: list[int] = []  # those of them that are before the indices
    d, runs, last_indexed = 0, 0, False
    for i in indices:
        indexed = isinstance(i, _ndarray)
        runs += indexed and not last_indexed
        if not indexed:
            whole.append(d)
            if not runs:
                before.append(d)
        d += i.ndim if indexed and i.dtype == np.bool_ else 1
        last_indexed = indexed
    whole += range(d, self.ndim)
    if runs > 1:  # the indices aren't adjacent: their dimensions go to the front
        before = []
    lead, tail = whole[: len(before)], whole[len(before) :]
    strides = [*(self.strides[d] for d in lead), *(0,) * len(replaced), *(self.strides[d] for d in tail)]
    source = np.lib.stride_tricks.as_strided(taken, taken.shape, strides)  # never read: its strides matter
    operands = [source]
    for place in places:
        full = np.broadcast_to(place, replaced)
        operands.append(full.reshape((1,) * len(lead) + replaced + (1,) * len(tail)))
    return in_order_of(taken, operands)


def _common_strides(arrays: Sequence[Array]) -> Strides | None:
    """The strides of all arrays, if they are the same and leave no gap."""
    first = _strides(arrays[0])
    if any(_strides(a) != first for a in arrays):
        return None
    expected = 1
    for stride, size in sorted((stride, n) for stride, n in zip(first, arrays[0].shape, strict=True) if n != 1):
        if stride != expected:
            return None
        expected *= size
    return first


def _strides(array: Array) -> Strides:
    return tuple([stride // array.itemsize for stride in array.strides])


def _broadcast_strides(array: Array, shape: tuple[int, ...]) -> Strides:
    lead = len(shape) - array.ndim
    own = zip(array.shape, _strides(array), shape[lead:], strict=True)
    return (0,) * lead + tuple(0 if n == 1 and wanted != 1 else stride for n, stride, wanted in own)


def _order(shape: tuple[int, ...], operands: Sequence[Strides]) -> list[int]:
    """The dimensions, the fastest first: by the first operand that tells two of them apart."""

    def swapped(a: int, b: int) -> int:
        for strides in operands:
            if not strides[a] or not strides[b]:
                continue
            if strides[a] != strides[b]:
                return -1 if strides[a] < strides[b] else 1
            if shape[a] > shape[b]:
                return 1
        return 0

    order = list(range(len(shape) - 1, -1, -1))
    for start in range(1, len(order)):
        at = start
        for before in range(start - 1, -1, -1):
            found = swapped(order[before], order[at])
            if found > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif found < 0:
                break
    return order


def usual_strides(shape: tuple[int, ...]) -> Strides:
    return _packed(shape, range(len(shape) - 1, -1, -1))


def _packed(shape: tuple[int, ...], order: Sequence[int]) -> Strides:
    strides, step = [0] * len(shape), 1
    for dim in order:
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)
