"""View ops: they return aliases of their argument's memory. Derivatives as in derivatives.yaml."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..autograd.gradient_shapes import expandable_to, sum_to
from ..core import dtypes, error_texts
from ..core.array_kinds import ReorderedArray, marked
from ..core.dtypes import Array, sizes, wrap_dim
from ..core.error_texts import invalid_combination, missing_argument, public_call, require_tensors
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import viewed_strides
from ..core.tensor import Tensor, alias
from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, INFERENCE_KEYS, NORMAL_KEYS, tls
from ..dispatch.op_description import OPS
from ..dispatch.op_node import describe_recording
from ..dispatch.registration import composite, inner_op, publish
from ..dispatch.view_layers import check_history, make_view, view_op

_as_strided = np.lib.stride_tricks.as_strided


def strided_array(array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    """A writable window onto `array`'s memory, strides in bytes."""
    made = _window_of(array, shape, strides)
    return made.view(ReorderedArray) if type(array) is ReorderedArray else made


def _window_of(array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    if array.flags.carray:
        try:
            return np.ndarray(shape, array.dtype, array, 0, strides)
        except ValueError:
            pass  # it reaches beyond `array`, which may itself be a window
    return _as_strided(array, shape, strides)


def window(array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    """Like strided_array, for strides that may be in any order."""
    return marked(strided_array(array, shape, strides))


def flatten_ints(args: tuple[Any, ...]) -> tuple[int, ...]:
    """`f(2, 3)` and `f((2, 3))` alike."""
    if len(args) == 1 and isinstance(args[0], list | tuple):
        args = tuple(args[0])
    for a in args:
        if type(a) is not int:
            return _converted_ints(args)
    return args


def _converted_ints(args: tuple[Any, ...]) -> tuple[int, ...]:
    try:
        return tuple(operator.index(a) for a in args)
    except TypeError:
        called = public_call()
        if called is None:
            raise
        name, _, given = called
        if name in ("view", "sum", "mean"):
            raise invalid_combination(name, given) from None
        param = {"reshape": "shape", "permute": "dims", "repeat": "repeats", "flip": "dims"}.get(name, "size")
        raise TypeError(
            f"{name}(): argument '{param}' (position 1) must be tuple of ints, not {type(args[0]).__name__}"
        ) from None


def some_ints(args: tuple[object, ...], param: str, named: object = None) -> tuple[int, ...]:
    """Like flatten_ints, but there must be an argument, be it by its name."""
    if not args:
        if named is not None:
            return flatten_ints((named,))
        name, method, given = public_call() or (param, True, ())
        raise missing_argument(name, param, method, given)
    return flatten_ints(args)


def infer_shape(shape: tuple[int, ...], numel: int) -> tuple[int, ...]:
    """`shape` with -1 filled in; RuntimeError with PyTorch's text if it does not fit `numel` elements."""
    known, inferred = 1, None
    for i, size in enumerate(shape):
        if size == -1:
            if inferred is not None:
                raise RuntimeError("only one dimension can be inferred")
            inferred = i
        elif size < 0:
            raise RuntimeError(f"invalid shape dimension {size} at index {i} of shape {sizes(shape)}")
        else:
            known *= size
    if inferred is not None:
        if known == 0 and numel == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {sizes(shape)} because the unspecified dimension size "
                "-1 can be any value and is ambiguous"
            )
        if known and numel % known == 0:
            return (*shape[:inferred], numel // known, *shape[inferred + 1 :])
    elif known == numel:
        return shape
    raise RuntimeError(f"shape '{sizes(shape)}' is invalid for input of size {numel}")


# -- shape


def view_strides(array: Array, shape: tuple[int, ...]) -> Array | None:
    """`array` in another shape without a copy, or None if its strides do not allow it."""
    have = array.shape
    if array.flags.c_contiguous and 1 not in have:
        return array.reshape(shape)
    if array.size == 0:
        return np.empty(shape, array.dtype)
    strides = viewed_strides(have, array.strides, shape, array.itemsize)
    return None if strides is None else strided_array(array, shape, strides)


def viewed(self: Any, shape: tuple[int, ...]) -> Array:
    array: Array = self
    if -1 in shape or array.size != _product(shape):
        shape = infer_shape(shape, array.size)
    found = view_strides(array, shape)
    if found is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return found


def _product(shape: Sequence[int]) -> int:
    n = 1
    for size in shape:
        n *= size
    return n


view_op("view", method=False, function=False, self=lambda grad, self_shape: grad.reshape(self_shape))(viewed)
VIEW = OPS["view"]
_reshape_alias = view_op(
    "_reshape_alias",
    node="ReshapeAliasBackward0",
    method=False,
    function=False,
    self=lambda grad, self_shape: grad.reshape(self_shape),
)(viewed)


def view(self: Tensor, *shape: Any, dtype: Any = None, size: Any = None) -> Tensor:
    """The same elements in another shape, or (given a dtype) the same bytes as another dtype."""
    if len(shape) == 1 and type(shape[0]) is not int:
        first = shape[0]
        if isinstance(first, dtypes.dtype):
            return view_dtype(self, first)
        shape = flatten_ints(shape)
    elif dtype is not None:
        return view_dtype(self, dtype)
    elif not shape:
        if size is not None:
            return view(self, *flatten_ints((size,)))
        raise invalid_combination("view", ())
    a = self._array
    try:
        array = a.reshape(shape) if a.flags.c_contiguous and 1 not in a.shape else viewed(a, flatten_ints(shape))
    except (ValueError, TypeError, RuntimeError):
        check_history(self)
        array = viewed(a, flatten_ints(shape))  # says what is wrong
    return make_view(VIEW, self, array, (flatten_ints(shape),))


publish("view", view, function=False)

VIEW_DTYPE = describe_recording("view_dtype", lambda self, dtype: self, {}, node="ViewBackward1")


def view_dtype(self: Tensor, dtype: dtypes.dtype) -> Tensor:
    array = self._array
    state = tls.state
    # PyTorch makes a fresh tensor of the bytes: it is what the mode says, not what `self` is.
    fresh = state.inference_mode or not self._keys & AUTOGRAD or state.excluded & ADINPLACEORVIEW
    if array.ndim == 0 and dtype.itemsize != array.itemsize:
        raise RuntimeError(
            f"self.dim() cannot be 0 to view {self.dtype.scalar_name} as {dtype.scalar_name} (different element sizes)"
        )
    if dtype.itemsize != array.itemsize:
        _check_regrouped(self, dtype)
    found = array.view(dtype.numpy)
    if fresh:
        return alias(self, found, *((INFERENCE_KEYS, None) if state.inference_mode else (NORMAL_KEYS, [0])))
    return alias(self, found, self._keys, self._version_counter)


def _check_regrouped(self: Tensor, dtype: dtypes.dtype) -> None:
    """RuntimeError unless the bytes of the last dimension are elements of another size."""
    *strides, last = self.stride()
    tail = f"to view {self.dtype.scalar_name} as {dtype.scalar_name} (different element sizes), but got"
    ratio = dtype.itemsize // self._array.itemsize
    if ratio < 1:
        if last != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 {tail} {last}")
        return
    checked = {"size(-1)": self._array.shape[-1], "storage_offset()": self.storage_offset()}
    checked |= {f"stride({dim})": stride for dim, stride in enumerate(strides)}
    for what, value in checked.items():
        if value % ratio:
            raise RuntimeError(f"self.{what} must be divisible by {ratio} {tail} {value}")
        if what == "storage_offset()" and last != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 {tail} {last}")


@composite("reshape")
def reshape(self: Tensor, *sizes: object, shape: object = None) -> Tensor:
    """A view if the strides allow it, else a copy."""
    if not sizes:
        sizes = (some_ints(sizes, "shape", shape),)
    if self._array.flags.c_contiguous:
        return view(self, *sizes)
    target = flatten_ints(sizes)
    array = self._array
    if -1 in target or array.size != _product(target):
        target = infer_shape(target, array.size)
    if view_strides(array, target) is not None:
        return _reshape_alias(self, target)
    return unsafe_view(self.clone(memory_format="contiguous"), target)


@inner_op("_unsafe_view", self=lambda grad, self_shape: grad.reshape(self_shape))
def unsafe_view(self: Array, shape: tuple[int, ...]) -> Array:
    return self.reshape(shape)


@composite("view_as")
def view_as(self: Tensor, other: Tensor) -> Tensor:
    require_tensors("view_as", self=self, other=other)
    return view(self, other._array.shape)


@composite("reshape_as")
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    require_tensors("reshape_as", self=self, other=other)
    return reshape(self, other._array.shape)


@composite("flatten")
def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    shape = self._array.shape
    start, end = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(self, (1,))
    if start == end:
        return self
    return reshape(self, (*shape[:start], _product(shape[start : end + 1]), *shape[end + 1 :]))


@composite("unflatten")
def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    dim = wrap_dim(dim, self._array.ndim)
    if not self._array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    size = self._array.shape[dim]
    known = _product([s for s in sizes if s != -1])
    if known != size if -1 not in sizes else known == 0 or size % known:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({size}) in the input "
            "tensor"
        )
    return view(self, (*self._array.shape[:dim], *sizes, *self._array.shape[dim + 1 :]))


@composite("ravel")
def ravel(self: Tensor) -> Tensor:
    return reshape(self.contiguous(), (-1,))


# -- sizes of dimensions


def _squeeze_back(grad: Tensor, self_shape: tuple[int, ...]) -> Tensor:
    return grad.view(self_shape) if grad._array.flags.c_contiguous else grad.reshape(self_shape)


def _squeeze_all(self: Tensor) -> Array:
    return self.squeeze()


def _squeeze_dim(self: Tensor, dim: int) -> Array:
    d = wrap_dim(dim, self.ndim)
    return self.squeeze(d) if self.ndim and self.shape[d] == 1 else self.view()


def _squeeze_dims(self: Tensor, dim: Sequence[int]) -> Array:
    found = {wrap_dim(d, self.ndim) for d in dim}
    return self.squeeze(tuple(d for d in found if self.ndim and self.shape[d] == 1))


squeeze_all = view_op("squeeze_all", node="SqueezeBackward0", method=False, function=False, self=_squeeze_back)(
    _squeeze_all
)
squeeze_dim = view_op("squeeze_dim", node="SqueezeBackward1", method=False, function=False, self=_squeeze_back)(
    _squeeze_dim
)
squeeze_dims = view_op("squeeze_dims", node="SqueezeBackward2", method=False, function=False, self=_squeeze_back)(
    _squeeze_dims
)


@composite("squeeze")
def squeeze(self: Tensor, dim: object = None, *, axis: object = None) -> Tensor:
    dim = axis if dim is None else dim
    if dim is None:
        return squeeze_all(self)
    return squeeze_dim(self, dim) if isinstance(dim, int) else squeeze_dims(self, dim)


@view_op("unsqueeze", self=lambda grad, dim: _unsqueeze_back(grad, dim))
def unsqueeze(self: Any, dim: int) -> Array:
    array: Array = self
    shape = array.shape
    n = len(shape) + 1
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    d = dim + n if dim < 0 else dim
    if array.flags.c_contiguous and 1 not in shape and array.size:  # where numpy gives the same step, and sooner
        return array.reshape((*shape[:d], 1, *shape[d:]) if d else (1, *shape))
    strides = array.strides
    # PyTorch gives the new dimension the step that spans the next one; numpy would give 0.
    step = shape[d] * strides[d] if d < array.ndim else array.itemsize
    return strided_array(array, (*shape[:d], 1, *shape[d:]), (*strides[:d], step, *strides[d:]))


def _unsqueeze_back(grad: Tensor, dim: int) -> Tensor:
    return squeeze(grad, dim)


def expand_array(array: Array, shape: tuple[int, ...]) -> Array:
    """`array` expanded to `shape` (-1 keeps a size) with stride 0; RuntimeError with PyTorch's text otherwise."""
    if not array.ndim and -1 not in shape:
        return strided_array(array, shape, (0,) * len(shape))
    lead = len(shape) - array.ndim
    if lead < 0:
        raise RuntimeError(
            f"expand({dtypes.of(array).type_text}{{{sizes(array.shape)}}}, "
            f"size={sizes(shape)}): the number "
            f"of sizes provided ({len(shape)}) must be greater or equal to the number of dimensions in the "
            "tensor "
            f"({array.ndim})"
        )
    strides, target = [0] * len(shape), list(shape)
    for i in range(len(shape) - 1, -1, -1):
        have = array.shape[i - lead] if i >= lead else 1
        if i >= lead:
            stride = array.strides[i - lead]
        else:
            stride = target[i + 1] * strides[i + 1] if array.ndim else 0
        if target[i] == -1:
            if i < lead:
                raise RuntimeError(
                    f"The expanded size of the tensor ({target[i]}) isn't allowed in a leading, "
                    f"non-existing dimension {i}"
                )
            target[i] = have
        if have != target[i]:
            if have != 1:
                raise RuntimeError(
                    f"The expanded size of the tensor ({target[i]}) must match the existing size ({have}) at "
                    f"non-singleton dimension {i}.  Target sizes: {sizes(shape)}.  Tensor sizes: {sizes(array.shape)}"
                )
            stride = 0
        strides[i] = stride
    return strided_array(array, target, strides)


@view_op("expand", method=False, function=False, self=lambda grad, self_shape: sum_back_to(grad, self_shape))
def _expand(self: Any, shape: tuple[int, ...]) -> Array:
    return expand_array(self, shape)


def sum_back_to(grad: Tensor, shape: tuple[int, ...]) -> Tensor:
    return sum_to(grad, shape) if grad._array.shape != shape else grad


@composite("expand", function=False)
def expand(self: Tensor, *shape: object, size: object = None, implicit: bool = False) -> Tensor:
    return _expand(self, some_ints(shape, "size", size))


@composite("expand_as", function=False)
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    require_tensors("expand_as", self=self, other=other)
    return _expand(self, other._array.shape)


@composite("sum_to_size", function=False)
def sum_to_size(self: Tensor, *sizes: object, size: object = None) -> Tensor:
    """Summed over the dimensions along which a tensor of this size would be expanded: the reverse of `expand`."""
    shape, have = flatten_ints(sizes or ((),) if size is None else (size,)), self._array.shape
    if not expandable_to(shape, have):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(have)}}}.")
    return sum_to(self, shape)


@composite("broadcast_to")
def broadcast_to(self: Tensor, *shape: object, size: object = None) -> Tensor:
    return _expand(self, flatten_ints(shape if size is None else (size,)))


@composite("broadcast_tensors", method=False)
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    shape: tuple[int, ...] = ()
    for each in tensors:
        shape = dtypes.broadcast_shapes(shape, each._array.shape)
    return tuple(each if each._array.shape == shape else _expand(each, shape) for each in tensors)


# -- detach and alias


@view_op("alias", method=False, function=False, self=lambda grad: grad)
def alias_op(self: Tensor) -> Array:
    return self.view()


FUNCTIONS["alias"] = alias_op


@composite("detach")
def detach(self: Tensor) -> Tensor:
    """An alias without history that shares the version counter and is not a view."""
    state = tls.state
    if not self._keys & AUTOGRAD:
        # Outside inference mode an inference tensor's alias gets a counter, and so may be written to.
        found = alias(self, self._array, self._keys, None if state.inference_mode else [0])
    elif (self._keys | state.included) & ~state.excluded & 4:
        found = alias(self, self._array, self._keys, self._version_counter)
    else:
        found = alias(self, self._array, self._keys, [0])
    if state.tracer is not None:
        state.tracer.record("detach", (self._keys | state.included) & ~state.excluded, found)
    return found


@composite("detach_")
def detach_(self: Tensor) -> Tensor:
    """Forget history in place. Does nothing where the autograd kernel is not reached."""
    state = tls.state
    if (self._keys | state.included) & ~state.excluded & AUTOGRAD:
        if self._is_view():
            raise RuntimeError(error_texts.DETACH_VIEW)
        meta = self._meta
        if meta is not None:
            meta.requires_grad = False
            meta.grad_fn = None
            meta.output_nr = 0
    return self
