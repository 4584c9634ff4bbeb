"""Arrays that hold no elements of their own: of zeros, and those that stand in for others.

Products of them, quotients and sums of two are such zeros again; all else that is computed with them is an ordinary
array, and so is what they are converted to. Nothing can be written to them. The shim's have memory, which nothing shows
but the methods that PyTorch refuses.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

_ndarray = np.ndarray


def _immutable(*args: Any) -> Any:
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


def check_allocated(array: Any) -> None:
    """RuntimeError, in PyTorch's words, if `tolist` is asked for zeros without memory."""
    if type(array) is ZeroArray:
        raise RuntimeError("tolist() shouldn't be called on a tensor with unallocated storage")


def check_readable(array: Any) -> None:
    """RuntimeError, in PyTorch's words, if numpy is to see zeros without memory."""
    if type(array) is ZeroArray:
        raise RuntimeError(" Cannot convert a ZeroTensor to numpy. Set force=True if you need the zero array.")


#: Functions of numpy that look at shapes and strides alone.
_VIEWS = frozenset("broadcast_to reshape transpose swapaxes moveaxis expand_dims squeeze ndim shape size".split())


class StandInArray(np.ndarray[Any, Any]):
    """Placeholder zeros that must never be read: the tensor's class holds the real elements and answers for them."""

    def __array_ufunc__(self, ufunc: Any, *_: Any, **__: Any) -> NoReturn:
        _refuse(ufunc.__name__)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function.__name__ not in _VIEWS:
            _refuse(function.__name__)
        return super().__array_function__(function, types, args, kwargs)

    def view(self, *args: Any, **kwargs: Any) -> Any:
        if np.ndarray in args:
            _refuse("view")
        return super().view(*args, **kwargs)


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"the shim can't run {name} on a tensor without elements of its own, whose class has a __torch_dispatch__; "
        "supported: the ops that ask the class"
    )


def _refusing(name: str) -> Any:
    def method(self: Any, *_: Any, **__: Any) -> NoReturn:
        _refuse(name)

    return method


for _name in "item tolist astype copy tobytes fill __setitem__ __iter__ byteswap take put repeat sort argsort".split():
    setattr(StandInArray, _name, _refusing(_name))


def stand_in(shape: tuple[int, ...], strides: tuple[int, ...], offset: int, dtype: Any) -> tuple[Any, Any]:
    """An array of that shape and those strides, that far (in elements) into a memory, and the memory. Nothing touches
    the memory, and so it costs none.
    """
    target = np.dtype(dtype)
    extent = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if math.prod(shape) else 0
    steps = tuple(s * target.itemsize for s in strides)
    try:
        memory = np.zeros(offset + extent, target).view(StandInArray)
    except (MemoryError, ValueError):  # more than the machine has addresses for: the strides can't be shown
        memory, steps, offset = np.zeros(1, target).view(StandInArray), (0,) * len(shape), 0
    return np.lib.stride_tricks.as_strided(memory[offset:], shape, steps, subok=True), memory
