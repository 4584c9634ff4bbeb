"""Creation."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes, error_texts
from ..core.device import check_device
from ..core.dtypes import Array, NumpyDtype
from ..core.error_texts import public_call, wrong_type
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import blank, blank_like
from ..core.tensor import Tensor, meta_of, new_tensor, raw_is_leaf, set_requires_grad
from ..core.thread_state import AUTOGRAD, tls
from ..dispatch.registration import composite
from ..dispatch.writing_layers import resize_output
from .views import flatten_ints, some_ints

Maker = Callable[..., Array]


def finish(
    array: Any, requires_grad: bool = False, out: Tensor | None = None, dtype: dtypes.dtype | None = None
) -> Tensor:
    """A fresh tensor, with the flag set if asked for, or `out` with the values."""
    if out is not None:
        if dtype is not None and dtype is not out.dtype:
            raise RuntimeError(
                f"dtype {dtype.scalar_name} does not match dtype of out parameter ({out.dtype.scalar_name})"
            )
        if requires_grad_now(out):
            called = public_call()
            raise error_texts.out_requires_grad(f"aten::{called[0] if called else 'empty'}")
        resize_output(out, array.shape, warn=False)
        out.copy_(new_tensor(array))
        if raw_is_leaf(out):
            set_requires_grad(out, requires_grad)
        return out
    made = new_tensor(array)
    if requires_grad:
        if made._array.dtype.kind not in "fcV":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        meta_of(made).requires_grad = True
    if tls.state.tracer is not None:
        tls.state.tracer.record("create", 1, made)
    return made


def factory(
    name: str, *, ranged: bool = False, **published: Any
) -> Callable[[Callable[..., Array]], Callable[..., Tensor]]:
    """Publish a function that makes tensors, of one that makes their arrays from the dtype that was asked for.

    With `ranged`, that one is given `out` as well, whose own shape the values get where they are as many.
    """

    def register(make: Maker) -> Callable[..., Tensor]:
        @functools.wraps(make)
        def create(
            *args: object,
            dtype: dtypes.dtype | None = None,
            requires_grad: bool = False,
            device: object = None,
            layout: object = None,
            pin_memory: bool = False,
            out: Tensor | None = None,
            **named: object,
        ) -> Tensor:
            check_device(device)
            if not ranged:
                return finish(make(*args, dtype=dtype, **named), requires_grad, out, dtype)
            return filled(out, make(*args, dtype=dtype, out=out, **named), requires_grad)

        composite(name, method=False, **published)(create)
        return create

    return register


def filled(out: Tensor | None, array: Array, requires_grad: bool = False) -> Tensor:
    """A tensor of a range, or `out` with its values, in its own shape if it has as many elements."""
    if out is not None and out._array.size == array.size:
        array = array.reshape(out._array.shape)
    return finish(array, requires_grad, out)


def requires_grad_now(t: Tensor) -> bool:
    """Whether an op that writes to `t` would be recorded."""
    state = tls.state
    return state.grad_mode and bool(t._keys & ~state.excluded & AUTOGRAD) and t.requires_grad


def numpy_dtype(dtype: dtypes.dtype | None, default: NumpyDtype | None = None) -> NumpyDtype:
    if dtype is None:
        return default if default is not None else dtypes.get_default_dtype().numpy
    if not isinstance(dtype, dtypes.dtype):
        if dtype in dtypes.OF_PYTHON:
            return dtypes.OF_PYTHON[dtype].numpy
        called = public_call()
        name = called[0] if called else "empty"
        raise TypeError(f"{name}(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    return dtype.numpy


def checked_shape(args: tuple[object, ...]) -> tuple[int, ...]:
    shape = flatten_ints(args)
    for size in shape:
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {dtypes.sizes(shape)}")
    return shape


def _allocated(make: Any, shape: tuple[int, ...], dtype: NumpyDtype) -> Array:
    """RuntimeError if no machine has an address for so many bytes."""
    if math.prod(n for n in shape if n) * dtype.itemsize >= 2**63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")
    found: Array = make(shape, dtype)
    return found


def _size_argument(name: str, named: dict[str, object]) -> tuple[object, ...]:
    size = named.pop("size", ())
    if named:
        raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(named))}'")
    return (size,)


def _filled(name: str, make: Any) -> None:
    def create(
        *size: object,
        dtype: dtypes.dtype | None = None,
        requires_grad: bool = False,
        device: object = None,
        layout: object = None,
        pin_memory: bool = False,
        out: Tensor | None = None,
        names: object = None,
        memory_format: object = None,
        **named: object,
    ) -> Tensor:
        check_device(device)
        if named:
            size = (*size, *_size_argument(name, named))
        if not size:
            some_ints(size, "size")
        if name == "zeros" and any(n < 0 for n in flatten_ints(size)):
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        if memory_format is None or name != "empty":
            found = _allocated(make, checked_shape(size), numpy_dtype(dtype))
        else:
            found = blank(checked_shape(size), numpy_dtype(dtype), memory_format)
        if out is not None and name == "empty":
            resize_output(out, found.shape, warn=False)
            return out
        return finish(found, requires_grad, out, dtype)

    @factory(f"{name}_like")
    def like(input: Tensor, *, dtype: dtypes.dtype | None = None, memory_format: object = None) -> Array:
        target = _blank_like(f"{name}_like", input, dtype, memory_format)
        if name in _VALUES:
            target.fill(_VALUES[name])
        return target

    def new(
        self: Tensor,
        *sizes: Any,
        size: Any = None,
        dtype: dtypes.dtype | None = None,
        requires_grad: bool = False,
        device: Any = None,
        layout: Any = None,
        pin_memory: bool = False,
    ) -> Tensor:
        check_device(device)
        shape = checked_shape(sizes if size is None else (size,))
        made = finish(make(shape, numpy_dtype(dtype, self._array.dtype)), requires_grad)
        if name != "empty":
            _leak_fill(self, made)
        return made

    composite(name, method=False)(create)
    composite(f"new_{name}", function=False)(new)


def check_like(name: str, value: object) -> None:
    """TypeError unless what a tensor is to be like is a tensor."""
    if not isinstance(value, Tensor):
        raise wrong_type(name, "input", 1, value)


_VALUES = {"zeros": 0, "ones": 1}


def _leak_fill(source: Tensor, made: Tensor) -> None:
    """new_zeros and its kin fill a fresh tensor, which counts where no autograd kernel wraps them."""
    state = tls.state
    keys = (source._keys | state.included) & ~state.excluded
    if keys & 4 and not keys & 2 and made._version_counter is not None:
        made._version_counter[0] += 1


_filled("zeros", np.zeros)
_filled("ones", np.ones)
_filled("empty", np.zeros)  # zeros, so that programs are reproducible


@factory("full")
def full(size: object, fill_value: object, *, dtype: dtypes.dtype | None = None) -> Array:
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    if not isinstance(fill_value, int | float | complex | np.generic):
        kind = type(fill_value).__name__
        raise TypeError(f"full(): argument 'fill_value' (position 2) must be Number, not {kind}")
    target = numpy_dtype(dtype, dtypes.of_number(fill_value))
    dtypes.check_number(fill_value, target)
    return np.full(checked_shape((size,)), np.asarray(fill_value).astype(target))  # negative ones wrap around


@factory("full_like")
def full_like(
    input: Tensor, fill_value: object, *, dtype: dtypes.dtype | None = None, memory_format: object = None
) -> Array:
    made = _blank_like("full_like", input, dtype, memory_format)
    made.fill(fill_value)
    return made


def _blank_like(name: str, input: Tensor, dtype: dtypes.dtype | None, memory_format: object) -> Array:
    check_like(name, input)
    target = numpy_dtype(dtype, input._array.dtype)
    if memory_format is None or memory_format == "preserve":
        return blank_like(input._array, target)
    return blank(input._array.shape, target, memory_format)


@composite("new_full", function=False)
def new_full(
    self: Tensor,
    size: object,
    fill_value: object,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    device: object = None,
) -> Tensor:
    made = full(size, fill_value, dtype=dtype or self.dtype, requires_grad=requires_grad, device=device)
    _leak_fill(self, made)
    return made


@composite("new_tensor", function=False)
def _new_tensor(
    self: Tensor,
    data: object,
    *,
    dtype: dtypes.dtype | None = None,
    device: object = None,
    requires_grad: bool = False,
) -> Tensor:
    return tensor(data, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)


@composite("empty_strided", method=False)
def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    device: object = None,
) -> Tensor:
    """Uninitialised in PyTorch, zeros here."""
    check_device(device)
    target = numpy_dtype(dtype)
    shape = tuple(size)
    if len(shape) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(stride)})"
        )
    if any(s < 0 for s in stride):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(stride)}")
    extent = 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) if 0 not in shape else 0
    flat = np.zeros(extent, target)
    found = np.lib.stride_tricks.as_strided(flat, shape, [s * target.itemsize for s in stride])
    made = finish(found, requires_grad)
    made._storage[1] = flat
    return made


def _array_of(data: object, dtype: dtypes.dtype | None) -> Array:
    if isinstance(data, Tensor):
        array = data._array
    elif isinstance(data, np.ndarray):
        dtypes.of(data, given=True)
        array = data
    else:
        array = _array_of_python(data, dtype)
    if dtype is not None and array.dtype != dtype.numpy:
        return array.astype(dtype.numpy)
    return array


def _array_of_python(data: object, dtype: dtypes.dtype | None = None) -> Array:
    if isinstance(data, list | tuple) and _holds_tensors(data):
        data = _to_python(data)
    if isinstance(data, str | bytes):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    try:
        array = np.array(data)
    except ValueError:
        _ragged(data)
        raise
    if array.dtype.kind == "O":
        raise RuntimeError(f"Could not infer dtype of {type(_first(data)).__name__}")
    if array.dtype.kind in "US":
        raise TypeError(f"new(): invalid data type '{type(_first(data)).__name__}'")
    if isinstance(data, np.generic):
        return array
    kind = array.dtype.kind
    if kind == "f" and not _holds_numpy_scalars(data):
        # Numbers go to the wanted dtype at once: by way of float32 a float64 would be rounded.
        return array if dtype is not None else array.astype(dtypes.get_default_dtype().numpy)
    if kind == "c":
        return array if dtype is not None else array.astype(dtypes.get_default_dtype().to_complex().numpy)
    if kind in "iu" and not _holds_numpy_scalars(data):
        return array.astype(np.int64)
    return array


def _first(data: object) -> Any:
    while isinstance(data, list | tuple) and data:
        data = data[0]
    return data


def _holds_numpy_scalars(data: object) -> bool:
    return isinstance(_first(data), np.generic | np.ndarray)


def _holds_tensors(data: Any) -> bool:
    return any(isinstance(d, Tensor) or (isinstance(d, list | tuple) and _holds_tensors(d)) for d in data)


def _to_python(data: object) -> Any:
    if isinstance(data, Tensor):
        return data.tolist()
    return [_to_python(d) for d in data] if isinstance(data, list | tuple) else data


def _ragged(data: Any, dim: int = 0) -> None:
    lengths = [len(d) if _is_sequence(d) else None for d in data]
    for length in lengths:
        if length != lengths[0]:
            raise ValueError(f"expected sequence of length {lengths[0]} at dim {dim + 1} (got {length})")
    parts = [d for d in data if _is_sequence(d)]
    if any(isinstance(d, np.ndarray) for d in parts):
        parts = [[row for d in parts for row in d]]  # their rows are as long as each other's, or nothing fits
    for d in parts:
        _ragged(d, dim + 1)


def _is_sequence(data: object) -> bool:
    return isinstance(data, list | tuple) or (isinstance(data, np.ndarray) and data.ndim > 0)


@composite("tensor", method=False)
def tensor(
    data: object,
    *,
    dtype: dtypes.dtype | None = None,
    device: object = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor holding a copy of `data` (numbers, nested lists, arrays, tensors)."""
    check_device(device)
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        dtype = dtypes.BY_CHAR[numpy_dtype(dtype).char]
    made = finish(np.array(_array_of(data, dtype)), requires_grad)
    if isinstance(data, Tensor):
        _leak_fill(data, made)
    return made


@composite("as_tensor", method=False)
def as_tensor(data: object, dtype: dtypes.dtype | None = None, device: object = None) -> Tensor:
    """Like `tensor`, but shares memory (and is `data` itself) where no conversion is needed."""
    check_device(device)
    if isinstance(data, Tensor):
        return data if dtype is None or data.dtype is dtype else data.to(dtype)
    array = _array_of(data, dtype)
    return finish(array)


@composite("asarray", method=False)
def asarray(
    obj: object,
    *,
    dtype: dtypes.dtype | None = None,
    device: object = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """A tensor of what is given: itself or an alias where it can be, a copy with `copy=True`.

    It requires grad as what is given does, unless said otherwise. ValueError with `copy=False` where it must be copied.
    """
    check_device(device)
    if isinstance(obj, Tensor | np.ndarray):
        source = obj if isinstance(obj, Tensor) else from_numpy(obj)
        found = source if dtype is None else source.to(dtype)
        if found is not source and copy is False:
            raise ValueError("can't alias tensor with a different dtype.")
        if copy and found is source:
            found = source.clone()
        wanted = source.requires_grad if requires_grad is None else requires_grad
        if raw_is_leaf(found):
            return found.requires_grad_(wanted) if wanted != found.requires_grad or wanted else found
        return found if wanted else found.detach()
    if type(obj).__name__ == "PyCapsule" or hasattr(obj, "__dlpack__"):
        return asarray(FUNCTIONS["from_dlpack"](obj), dtype=dtype, copy=copy, requires_grad=requires_grad)
    if isinstance(obj, (bytes, bytearray, memoryview)) or type(obj).__name__ in ("array", "mmap"):
        found = FUNCTIONS["frombuffer"](obj, dtype=dtype or dtypes.get_default_dtype())
        return asarray(found, copy=copy, requires_grad=requires_grad)
    if copy is False:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    made = FUNCTIONS["tensor"](obj, dtype=dtype)
    return made.requires_grad_() if requires_grad else made


@factory("scalar_tensor")
def scalar_tensor(s: object, *, dtype: dtypes.dtype | None = None) -> Array:
    return np.asarray(s.item() if isinstance(s, Tensor) else s, numpy_dtype(dtype))


@composite("from_numpy", method=False)
def from_numpy(array: Array) -> Tensor:
    """A tensor sharing the memory of a numpy array."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtypes.of(array, given=True)
    if any(s % array.itemsize for s in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the "
            "memory."
        )
    if any(s < 0 for s in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )
    return finish(array if type(array) is np.ndarray else array.view(np.ndarray))
