"""What a wrapper subclass has in the place of a numpy array: a shape, a dtype and strides, and no elements."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

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
