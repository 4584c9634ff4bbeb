"""In-place ops that are more than the write of a functional op's result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, sizes
from ..core.error_texts import invalid_combination, wrong_type
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import blank, blank_like, geometry, suggested_format
from ..core.tensor import Tensor, contiguous_strides, new_tensor, requires_grad
from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, tls
from ..dispatch.op_description import OPS, Op
from ..dispatch.op_node import arguments_of, describe_recording
from ..dispatch.registration import composite, inner_op
from ..dispatch.writing_layers import assert_no_overlap, bump, resize_storage, write_through_layers
from . import bit_views
from .bit_views import check_storage_bounds, storage_window
from .views import flatten_ints

COPY = describe_recording(
    "copy",
    lambda self, src: self,
    {"self": lambda grad: FUNCTIONS["zeros"](grad._array.shape, dtype=grad.dtype), "src": lambda grad: grad},
    node="CopyBackwards",
    rebases_integers=False,
)


@composite("copy_", function=False)
def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write `src`, broadcast and converted, into self."""
    state = tls.state
    if not isinstance(src, Tensor):
        if not isinstance(src, int | float | complex | np.generic):
            raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
        src = FUNCTIONS["tensor"](src)
    args = (self, src)
    tensors, keys = arguments_of(COPY, args)

    def kernel() -> None:
        target, source = self._array, src._array
        if src.is_set_to(self) and source.dtype == target.dtype:
            return
        assert_no_overlap(self, args)
        if source.shape != target.shape:
            shape = dtypes.broadcast_shapes(target.shape, source.shape)
            if shape != target.shape:
                raise RuntimeError(
                    f"output with shape {sizes(target.shape)} doesn't match the broadcast shape {sizes(shape)}"
                )
        np.copyto(target, source, casting="unsafe")

    return write_through_layers(COPY, state, self, args, tensors, keys, kernel)


_ZEROED = {"self": lambda grad: FUNCTIONS["zeros_like"](grad)}
ZERO = describe_recording("zero", lambda self: self, _ZEROED)
FILL_SCALAR = describe_recording("fill", lambda self, value: self, _ZEROED, node="FillBackward2")
FILL_TENSOR = describe_recording(
    "fill", lambda self, value: self, {**_ZEROED, "value": lambda grad: grad.sum()}, node="FillBackward3"
)


@composite("zero_")
def zero_(self: Tensor) -> Tensor:
    return write_through_layers(ZERO, tls.state, self, (self,), [self], self._keys, lambda: self._array.fill(0))


@composite("fill_")
def fill_(self: Tensor, value: object) -> Tensor:
    chosen = FILL_TENSOR if isinstance(value, Tensor) else FILL_SCALAR
    if isinstance(value, Tensor) and value._array.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value._array.ndim} dimensions."
        )
    if not isinstance(value, Tensor | int | float | complex | np.generic):
        raise invalid_combination("fill_", (value,))
    if not isinstance(value, Tensor):
        dtypes.check_number(value, self._array.dtype)
    args = (self, value)
    tensors, keys = arguments_of(chosen, args)
    number: Any = value._array if isinstance(value, Tensor) else value
    if isinstance(value, Tensor) and value._storage is self._storage:
        number = number.copy()

    def kernel() -> None:
        if isinstance(value, Tensor):  # PyTorch copies a tensor and fills with a number
            assert_no_overlap(self, ())
        np.copyto(self._array, number, casting="unsafe")

    return write_through_layers(chosen, tls.state, self, args, tensors, keys, kernel)


def _filled(number: int, **gradient: Any) -> Any:
    return inner_op(
        "fill", node=f"FillBackward{number}", numbers=("value",), leak=1 - number, self=_ZEROED["self"], **gradient
    )(_fill_kernel)


def _fill_kernel(self: Any, value: Any) -> Array:
    found = blank_like(self, self.dtype)
    np.copyto(found, value, casting="unsafe")
    return found


_filled_by_number, _filled_by_tensor = _filled(0), _filled(1, value=lambda grad: grad.sum())


@composite("fill", method=False)
def fill(input: Tensor, value: object) -> Tensor:
    """A copy filled with a number."""
    if not isinstance(input, Tensor) or not isinstance(value, Tensor | int | float | complex | np.generic):
        raise invalid_combination("fill", (input, value))
    if not isinstance(value, Tensor):
        dtypes.check_number(value, input._array.dtype)
        found: Tensor = _filled_by_number(input, value)
        return found
    if value._array.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value._array.ndim} dimensions."
        )
    by_tensor: Tensor = _filled_by_tensor(input, value)
    return by_tensor


# -- in-place changes of shape


def _reshaping(name: str, node: str, view: Any, derivative: Any, params: Any) -> Op:
    return describe_recording(name, params, {"self": derivative}, node=node, reshapes=True)


T_ = _reshaping("t", "TBackward1", None, lambda grad: grad.t(), lambda self: self)
TRANSPOSE_ = _reshaping(
    "transpose",
    "TransposeBackward1",
    None,
    lambda grad, dim0, dim1: grad.transpose(dim0, dim1),
    lambda self, dim0, dim1: self,
)
SQUEEZE_ = _reshaping(
    "squeeze", "SqueezeBackward3", None, lambda grad, self_shape: grad.reshape(self_shape), lambda self: self
)
SQUEEZE_DIM_ = _reshaping(
    "squeeze",
    "SqueezeBackward4",
    None,
    lambda grad, self_shape: grad.reshape(self_shape),
    lambda self, dim: self,
)
UNSQUEEZE_ = _reshaping(
    "unsqueeze", "UnsqueezeBackward1", None, lambda grad, dim: grad.squeeze(dim), lambda self, dim: self
)


def _set_array(self: Tensor, array: Any) -> None:
    self._array = array


@composite("t_", function=False)
def t_(self: Tensor) -> Tensor:
    def kernel() -> None:
        if self._array.ndim > 2:
            raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self._array.ndim}D")
        self._array = OPS["t"].kernel(self._array)

    return write_through_layers(T_, tls.state, self, (self,), [self], self._keys, kernel)


@composite("transpose_", function=False)
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    return write_through_layers(
        TRANSPOSE_,
        tls.state,
        self,
        (self, dim0, dim1),
        [self],
        self._keys,
        lambda: _set_array(self, OPS["transpose"].kernel(self._array, dim0, dim1)),
    )


for _name in ("swapaxes_", "swapdims_"):
    composite(_name, function=False)(transpose_)


@composite("squeeze_", function=False)
def squeeze_(self: Tensor, dim: int | None = None) -> Tensor:
    if dim is None:
        return write_through_layers(
            SQUEEZE_,
            tls.state,
            self,
            (self,),
            [self],
            self._keys,
            lambda: _set_array(self, self._array.squeeze()),
        )
    return write_through_layers(
        SQUEEZE_DIM_,
        tls.state,
        self,
        (self, dim),
        [self],
        self._keys,
        lambda: _set_array(self, OPS["squeeze_dim"].kernel(self._array, dim)),
    )


@composite("unsqueeze_", function=False)
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    return write_through_layers(
        UNSQUEEZE_,
        tls.state,
        self,
        (self, dim),
        [self],
        self._keys,
        lambda: _set_array(self, OPS["unsqueeze"].kernel(self._array, dim)),
    )


AS_STRIDED_ = describe_recording(
    "as_strided",
    lambda self, window, base: self,
    {"self": lambda grad, window, base: bit_views.as_strided_backward(grad, base, window)},
    node="AsStridedBackward1",
    reshapes=True,
)


@composite("as_strided_")
def as_strided_(self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    offset = self.storage_offset() if storage_offset is None else storage_offset
    window = (tuple(size), tuple(stride), offset)
    check_storage_bounds(self, window)
    args = (self, window, geometry(self))
    return write_through_layers(
        AS_STRIDED_,
        tls.state,
        self,
        args,
        [self],
        self._keys,
        lambda: _set_array(self, storage_window(self, window)),
    )


@composite("resize_", function=False)
def resize_(self: Tensor, *size: object, memory_format: object = None) -> Tensor:
    """Change the shape in place, growing the storage if need be; new elements are zero."""
    _resize(self, flatten_ints(size), self._keys)
    if memory_format is not None:
        _restride(self, memory_format)
    return self


def _restride(self: Tensor, format: object) -> None:
    """See the memory of a contiguous tensor in the order of a memory format."""
    if format == "preserve":
        raise RuntimeError("Unsupported memory formatPreserve")
    shape = self._array.shape
    strides = blank(shape, self._array.dtype, format).strides
    self._array = np.lib.stride_tricks.as_strided(self._array, shape, strides)


@composite("resize_as_")
def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: object = None) -> Tensor:
    """`resize_` to the shape of another tensor; a write only if the shape changes."""
    if not isinstance(the_template, Tensor):
        raise wrong_type("resize_as_", "the_template", 2, the_template, "Tensor")
    _resize(self, the_template._array.shape, self._keys | the_template._keys)
    if memory_format is not None:
        found = suggested_format(the_template._array) if memory_format == "preserve" else memory_format
        _restride(self, found or "contiguous")
    return self


def _resize(self: Tensor, shape: tuple[int, ...], keys: int) -> None:
    """Give self a shape, and count a write if it had another."""
    state = tls.state
    keys = (keys | state.included) & ~state.excluded
    if keys & AUTOGRAD and requires_grad(self):
        raise RuntimeError("cannot resize variables that require grad")
    if shape != self._array.shape:
        resize_storage(self, shape)
        if keys & ADINPLACEORVIEW:
            bump(self, state)


@composite("set_", function=False)
def set_(self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
    """Take over the storage of another tensor; keeps the own version counter, which counts it as a write.

    With a size, the tensor is a window of the storage from the offset on.
    """
    state = tls.state
    described, recorded = (SET, (self, source)) if isinstance(source, Tensor) else (SET_STORAGE, (self,))
    if source is not None and not isinstance(source, Tensor):  # a storage
        whole = new_tensor(source._record[1].reshape(-1).view(self._array.dtype))
        whole._storage = source._record
        source = whole
    if source is not None and size is not None:
        shape = flatten_ints((size,))
        source = source.as_strided(shape, contiguous_strides(shape) if stride is None else stride, storage_offset)
    if source is not None and source._array.dtype != self._array.dtype:
        raise RuntimeError(f"Could not set tensor of type {source.dtype.short} to a tensor of type {self.dtype.short}")

    def kernel() -> None:
        if source is None:
            empty = np.empty(0, self._array.dtype)
            self._array, self._storage = empty, [self._storage[0], empty]
        else:
            self._array, self._storage = source._array, source._storage
        if self._meta is not None:
            self._meta.accumulator = None  # it knows the shape that was

    tensors = [self] if source is None else [self, source]
    keys = self._keys if described is SET_STORAGE else self._keys | source._keys  # a storage has none
    return write_through_layers(described, state, self, recorded, tensors, keys, kernel)


def _no_derivative(grad: Tensor) -> Tensor:
    raise RuntimeError("derivative for set_ is not implemented")


SET = describe_recording(
    "set", lambda self, source: self, {"self": _no_derivative, "source": _no_derivative}, node="NotImplemented"
)
SET_STORAGE = describe_recording("set", lambda self: self, {"self": _no_derivative}, node="NotImplemented")
