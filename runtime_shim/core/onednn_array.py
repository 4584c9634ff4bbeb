"""The elements of a tensor in the layout that oneDNN chooses (`torch._mkldnn`)."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .device import mkldnn
from .dtypes import Array
from .tensor import Tensor


class OneDnnArray(np.lib.mixins.NDArrayOperatorsMixin):
    """Stands where a tensor has its numpy array, and shows what PyTorch shows of such a tensor: its shape and dtype.

    Kernels are made for numpy arrays. One that isn't made for this asks for something that isn't there, and ends with
    NotImplementedError; so no op has to ask for the layout of its inputs.
    """

    __slots__ = ("elements",)

    layout = mkldnn

    def __init__(self, elements: Array) -> None:
        self.elements = elements

    @property
    def shape(self) -> tuple[int, ...]:
        return self.elements.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.elements.dtype

    @property
    def ndim(self) -> int:
        return self.elements.ndim

    @property
    def size(self) -> int:
        return self.elements.size

    @property
    def itemsize(self) -> int:
        return self.elements.itemsize

    @property
    def strides(self) -> NoReturn:
        raise RuntimeError("Cannot access strides of a tensor in oneDNN's layout; convert it with to_dense() first")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse()

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        _refuse()

    def __array_ufunc__(self, ufunc: Any, *_: Any, **__: Any) -> NoReturn:
        _refuse(ufunc.__name__)

    def __array_function__(self, function: Any, *_: Any) -> NoReturn:
        _refuse(function.__name__)

    def __getitem__(self, index: object) -> NoReturn:
        _refuse()

    def __setitem__(self, index: object, value: object) -> NoReturn:
        _refuse()


def elements_of(t: Tensor) -> Array:
    """The elements of a tensor, whichever layout it has."""
    array: Any = t._array
    return array.elements if type(array) is OneDnnArray else array


def _refuse(name: str = "") -> NoReturn:
    raise NotImplementedError(
        f"the shim can't run {name or 'this op'} with arguments from the 'MkldnnCPU' backend; supported: "
        "convolutions, detach and to_dense"
    )
