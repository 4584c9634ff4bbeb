"""Tensors whose memory is seen otherwise: as another dtype, as real and imaginary parts, conjugated or negated."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, sizes
from ..core.function_table import FUNCTIONS, INTERNAL, AnyFunction
from ..core.memory_layout import Geometry, geometry
from ..core.storage import UntypedStorage
from ..core.tensor import Tensor, address, attach, new_tensor
from ..core.thread_state import tls
from ..dispatch.op_description import ANY_DTYPE, OPS
from ..dispatch.op_node import describe_recording, recorded_write
from ..dispatch.registration import composite, inner_op, op, publish
from ..dispatch.view_layers import make_view, view_op
from .slicing_views import select
from .views import reshape, strided_array, unsqueeze
from .views import window as any_window


@composite("resolve_conj")
def resolve_conj(self: Tensor) -> Tensor:
    """The tensor itself: conjugates are computed at once."""
    return self


@composite("resolve_neg")
def resolve_neg(self: Tensor) -> Tensor:
    """The tensor itself: negatives are computed at once."""
    return self


@composite("is_conj")
def is_conj(self: Tensor) -> bool:
    return False


@composite("is_neg")
def is_neg(self: Tensor) -> bool:
    return False


@op(
    "conj_physical",
    computes=ANY_DTYPE,
    inplace=True,
    recorded_in_place=recorded_write(
        "conj_physical", "ConjPhysicalBackward1", lambda self: self, self=lambda grad: grad.conj_physical()
    ),
    self=lambda grad: grad.conj_physical(),
)
def _conj_physical(self: Array) -> Array:
    return np.conjugate(self) if self.dtype.kind == "c" else self.copy()


@composite("conj_physical")
def conj_physical(self: Tensor, *, out: Tensor | None = None) -> Any:
    if out is not None:
        return _conj_physical(self, out=out)
    return _conj_physical(self) if self._array.dtype.kind == "c" else self


class TypedStorage(UntypedStorage):
    """The memory that aliases share as elements, as `tensor.storage()` shows it."""

    __slots__ = ("dtype",)

    dtype: dtypes.dtype

    _data_ptr = UntypedStorage.data_ptr

    def untyped(self) -> UntypedStorage:
        return UntypedStorage.of(self._record)

    def element_size(self) -> int:
        return self.dtype.itemsize

    def _flat(self) -> Any:
        return super()._flat().view(self.dtype.numpy)

    def _element(self, value: object) -> Any:
        return value

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return super().__getitem__(index)

    def clone(self) -> TypedStorage:
        return storage_of([0, self._flat().copy()], self.dtype)

    def _title(self) -> str:
        return f"torch.storage.TypedStorage(dtype={self.dtype}, device=cpu)"


def storage_of(record: list[object], dtype: dtypes.dtype) -> TypedStorage:
    made = TypedStorage.__new__(TypedStorage)
    made._record, made.dtype = record, dtype
    return made


@composite("storage", function=False)
def storage(self: Tensor) -> TypedStorage:
    return storage_of(self._storage, self.dtype)


composite("_typed_storage", function=False)(storage)


def _split_along(name: str, least: int) -> None:
    def split(self: Tensor, *sections: object, indices_or_sections: object = None) -> Any:
        found = indices_or_sections if indices_or_sections is not None else sections
        if isinstance(found, tuple) and len(found) == 1:
            found = found[0]
        ndim = self._array.ndim
        if ndim < least:
            at_least = {1: "1 dimension", 2: "2 dimensions", 3: "3 dimensions"}[least]
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {at_least}, but got a tensor with {ndim} dimensions!"
            )
        dim = {"hsplit": 0 if ndim == 1 else 1, "vsplit": 0, "dsplit": 2}[name]
        if isinstance(found, int) and (found == 0 or self._array.shape[dim] % found):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                f"{self._array.shape[dim]} is not divisible by the split_size {found}!"
            )
        return FUNCTIONS["tensor_split"](self, found, dim)

    composite(name)(split)


for _name, _least in (("hsplit", 1), ("vsplit", 2), ("dsplit", 3)):
    _split_along(_name, _least)


class _LegacyMeta(type):
    """What is an instance of `torch.LongTensor` says the dtype."""

    dtype: dtypes.dtype

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype


@functools.cache
def legacy_constructor(dtype: dtypes.dtype) -> Any:
    """`torch.LongTensor` and the like: a tensor of that dtype from sizes or from a sequence."""

    class Legacy(metaclass=_LegacyMeta):
        def __new__(cls, *args: Any) -> Any:
            import numpy as np

            if args and all(isinstance(a, int) for a in args):
                return new_tensor(np.empty(args, dtype.numpy))
            if not args:
                return new_tensor(np.empty(0, dtype.numpy))
            if isinstance(args[0], dtypes.Size):
                return new_tensor(np.empty(tuple(args[0]), dtype.numpy))
            return FUNCTIONS["tensor"](args[0], dtype=dtype)

    Legacy.dtype = dtype
    Legacy.__name__ = Legacy.__qualname__ = f"{dtype.scalar_name}Tensor"
    Legacy.__module__ = "torch"
    return Legacy


@composite("new", function=False)
def new(self: Tensor, *args: object) -> Tensor:
    """The legacy constructor, in the dtype of `self`."""
    made: Tensor = legacy_constructor(self.dtype)(*args)
    return made


@view_op("view_as_real", method=False, self=lambda grad: view_as_complex(grad.contiguous()))
def view_as_real(self: Any) -> Array:
    array: Array = self
    if array.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    real = np.dtype(np.float32 if array.itemsize == 8 else np.float64)
    return array[..., None].view(real)


@view_op("view_as_complex", method=False, self=lambda grad: view_as_real(grad))
def view_as_complex(self: Any) -> Array:
    array: Array = self
    if array.dtype.kind != "f" or array.itemsize < 4:
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{dtypes.of(array).scalar_name}"
        )
    if array.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if array.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    kind = np.dtype(np.complex64 if array.itemsize == 4 else np.complex128)
    if array.size == 0:  # numpy gives it strides of 0
        return np.empty(array.shape[:-1], kind)
    if array.strides[-1] != array.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    strides = array.strides[:-1]
    if any(stride % (2 * array.itemsize) for stride, n in zip(strides, array.shape, strict=False) if n != 1):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    # That of a dimension of size 1 needn't be a number of whole elements, which PyTorch's strides count.
    whole = [stride // kind.itemsize * kind.itemsize for stride in strides]
    if whole != list(strides):
        return strided_array(array, (*array.shape[:-1], 2), (*whole, array.itemsize)).view(kind)[..., 0]
    return array.view(kind)[..., 0]


def _real(self: Tensor) -> Tensor:
    return select(view_as_real(self), -1, 0) if self._array.dtype.kind == "c" else self


def _imag(self: Tensor) -> Tensor:
    if self._array.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return select(view_as_real(self), -1, 1)


def _write_part(part: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Any], None]:
    def write(self: Tensor, value: object) -> None:
        part(self).copy_(value) if isinstance(value, Tensor) else part(self).fill_(value)

    return write


attach("real", property(_real, _write_part(_real)))
attach("imag", property(_imag, _write_part(_imag)))
FUNCTIONS["real"], FUNCTIONS["imag"] = _real, _imag


def _each(view: Callable[[Tensor], Tensor]) -> AnyFunction:
    """The view of a tensor, or a tuple with that of each of several tensors."""

    def call(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return view(tensors[0])
        given = tensors[0] if len(tensors) == 1 else tensors
        return tuple(view(t) for t in given)

    return call


def _atleast_1d(self: Tensor) -> Tensor:
    return self if self._array.ndim else reshape(self, (1,))


def _atleast_2d(self: Tensor) -> Tensor:
    if self._array.ndim >= 2:
        return self
    return unsqueeze(self, 0) if self._array.ndim else reshape(self, (1, 1))


def _atleast_3d(self: Tensor) -> Tensor:
    n = self._array.ndim
    if n >= 3:
        return self
    if n == 2:
        return unsqueeze(self, -1)
    return unsqueeze(unsqueeze(self, 0), -1) if n else reshape(self, (1, 1, 1))


for _name, _view in (("atleast_1d", _atleast_1d), ("atleast_2d", _atleast_2d), ("atleast_3d", _atleast_3d)):
    publish(_name, _each(_view))


def check_storage_bounds(self: Tensor, window: Geometry) -> None:
    shape, strides, offset = window
    if any(s < 0 for s in strides):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {sizes(strides)}"
        )
    if 0 in shape:
        return
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    root = self._storage[1]
    itemsize = self._array.itemsize
    if (last + 1) * itemsize > root.nbytes or offset < 0:
        raise RuntimeError(
            f"setStorage: sizes {sizes(shape)}, strides {sizes(strides)}, storage offset {offset}, and itemsize "
            f"{itemsize} requiring a storage size of {(last + 1) * itemsize} are out of bounds for storage of size "
            f"{root.nbytes}"
        )


def storage_window(self: Tensor, window: Geometry) -> Array:
    """The array that a geometry describes in the storage of `self`; strides and offset in elements."""
    shape, strides, offset = window
    array, root = self._array, self._storage[1]
    item = array.itemsize
    byte_strides = [s * item for s in strides]
    start = offset * item - (address(array) - address(root))
    if start == 0:
        return any_window(array, shape, byte_strides)
    flat = (
        strided_array(root, (root.size,), (root.itemsize,)) if root.ndim != 1 or not root.flags.c_contiguous else root
    )
    if flat.dtype != array.dtype:
        flat = flat.view(array.dtype)
    return any_window(flat[offset:], shape, byte_strides)


AS_STRIDED = OPS["as_strided"] = describe_recording(
    "as_strided",
    lambda self, window, base: self,
    {"self": lambda grad, window, base: as_strided_backward(grad, base, window)},
)


@composite("as_strided")
def as_strided(self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """A window onto the storage. Strides and offset in elements; the offset counts from the storage's start."""
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    offset = self.storage_offset() if storage_offset is None else storage_offset
    window = (tuple(size), tuple(stride), offset)
    check_storage_bounds(self, window)
    return make_view(AS_STRIDED, self, storage_window(self, window), (window, geometry(self)))


def as_strided_backward(grad: Tensor, base: Geometry, window: Geometry) -> Tensor:
    """Gradient of the base of a strided window: what several elements share is added up."""
    found: Tensor = _as_strided_backward(grad, base, window)
    # PyTorch adds up in a tensor as great as the storage, and returns a window onto it.
    if tls.state.grad_mode:
        return found
    if found._version_counter is not None:
        found._version_counter[0] += 1
    return found.as_strided(found._array.shape, found.stride())


INTERNAL["as_strided_backward"] = as_strided_backward


def _as_strided_again(grad: Tensor, base: Geometry, window: Geometry) -> Tensor:
    shape, strides, offset = window
    return grad.contiguous().as_strided(shape, strides, offset - base[2])


@inner_op("as_strided_backward", self=_as_strided_again)
def _as_strided_backward(self: Array, base: Geometry, window: Geometry) -> Array:
    array: Array = self
    low = min(base[2], window[2])
    extent = 1 + max(
        g[2] - low + sum((n - 1) * s for n, s in zip(g[0], g[1], strict=True)) if 0 not in g[0] else 0
        for g in (base, window)
    )
    positions = _positions(window, low)
    base_positions = _positions(base, low)
    flat = np.zeros(extent, array.dtype)
    np.add.at(flat, positions.ravel(), array.ravel())
    if 0 in base[1]:  # an expanded base: each element's gradient is spread over those that share its memory
        counts = np.zeros(extent, array.dtype)
        np.add.at(counts, base_positions.ravel(), 1)
        flat /= np.where(counts == 0, 1, counts)
    return flat[base_positions]


def _positions(g: Geometry, low: int) -> Array:
    shape, strides, offset = g
    found: Array = np.full(shape, offset - low, np.intp)
    for i, (n, s) in enumerate(zip(shape, strides, strict=True)):
        found += (np.arange(n) * s).reshape((n,) + (1,) * (len(shape) - i - 1))
    return found
