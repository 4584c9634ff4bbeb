"""View ops: they return aliases of their argument's memory. Derivatives as in derivatives.yaml."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from guardfix.runtime_shim import dtypes, errors
from guardfix.runtime_shim._tensor import Tensor, address, alias, allocate
from guardfix.runtime_shim.autograd.node import Geometry, geometry
from guardfix.runtime_shim.dispatch import (
    FUNCTIONS,
    OPS,
    Op,
    attach,
    composite,
    functional,
    make_view,
    make_views,
    op,
    publish,
    view_op,
)
from guardfix.runtime_shim.dtypes import Array, sizes, wrap_dim
from guardfix.runtime_shim.state import AUTOGRAD, INFERENCE_KEYS, tls

_as_strided = np.lib.stride_tricks.as_strided


def strided(array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    """A writable window onto `array`'s memory, strides in bytes."""
    if array.flags.carray:
        try:
            return np.ndarray(shape, array.dtype, array, 0, strides)
        except ValueError:
            pass  # it reaches beyond `array`, which may itself be a window
    return _as_strided(array, shape, strides)


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
        from guardfix.runtime_shim.arguments import invalid_combination, public_call

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


def some_ints(args: tuple[Any, ...], param: str) -> tuple[int, ...]:
    """Like flatten_ints, but there must be an argument."""
    if not args:
        from guardfix.runtime_shim.arguments import missing, public_call

        name, method, given = public_call() or (param, True, ())
        raise missing(name, param, method, given)
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
        if known == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {sizes(shape)} because the unspecified "
                "dimension size "
                "-1 can be any value and is ambiguous"
            )
        if numel % known == 0:
            return (*shape[:inferred], numel // known, *shape[inferred + 1 :])
    elif known == numel:
        return shape
    raise RuntimeError(f"shape '{sizes(shape)}' is invalid for input of size {numel}")


# -- shape
# ------------------------------------------------------------------------------------------------------


def view_strides(array: Array, shape: tuple[int, ...]) -> Array | None:
    """`array` in another shape without a copy, or None if its strides do not allow it."""
    if array.flags.c_contiguous:
        return array.reshape(shape)
    if array.size == 0:
        return np.empty(shape, array.dtype)
    try:
        return array.reshape(shape, copy=False)
    except ValueError:
        return None
    except TypeError:  # numpy before 2.1
        found = array.view()
        try:
            found.shape = shape
        except AttributeError:
            return None
        return found


def _view_kernel(self: Any, shape: tuple[int, ...]) -> Array:
    array: Array = self
    if -1 in shape or array.size != _product(shape):
        shape = infer_shape(shape, array.size)
    found = view_strides(array, shape)
    if found is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension "
            "spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return found


def _product(shape: Sequence[int]) -> int:
    n = 1
    for size in shape:
        n *= size
    return n


_view = view_op("view", method=False, function=False, self=lambda grad, self_shape: grad.reshape(self_shape))(
    _view_kernel
)
VIEW = OPS["view"]
_reshape_alias = view_op(
    "_reshape_alias",
    node="ReshapeAliasBackward0",
    method=False,
    function=False,
    self=lambda grad, self_shape: grad.reshape(self_shape),
)(_view_kernel)


def view(self: Tensor, *shape: Any, dtype: Any = None) -> Tensor:
    """The same elements in another shape, or (given a dtype) the same bytes as another dtype."""
    if len(shape) == 1 and type(shape[0]) is not int:
        first = shape[0]
        if isinstance(first, dtypes.dtype):
            return view_dtype(self, first)
        shape = flatten_ints(shape)
    elif dtype is not None:
        return view_dtype(self, dtype)
    elif not shape:
        from guardfix.runtime_shim.arguments import invalid_combination

        raise invalid_combination("view", ())
    if self._keys == INFERENCE_KEYS and tls.state.tracer is None:
        a = self._array
        if a.flags.c_contiguous:
            try:
                array = a.reshape(shape)
            except (ValueError, TypeError):
                array = _view_kernel(a, flatten_ints(shape))
        else:
            array = _view_kernel(a, flatten_ints(shape))
        made = allocate(Tensor)
        made._array = array
        made._storage = self._storage
        made._meta = None
        made._keys = INFERENCE_KEYS
        made._version_counter = None
        return made
    return _view(self, flatten_ints(shape))


publish("view", view, function=False)

VIEW_DTYPE = Op("view_dtype", lambda self, dtype: self, "ViewBackward1", {})


def view_dtype(self: Tensor, dtype: dtypes.dtype) -> Tensor:
    if self.dtype is dtype:
        return FUNCTIONS["alias"](self)
    array = self._array
    if array.ndim == 0 and dtype.itemsize != array.itemsize:
        raise RuntimeError(
            f"self.dim() cannot be 0 to view {self.dtype.scalar_name} as {dtype.scalar_name} (different element sizes)"
        )
    found = array.view(dtype.numpy)
    return alias(self, found, self._keys, self._version_counter)


@composite("reshape")
def reshape(self: Tensor, *shape: Any) -> Tensor:
    """A view if the strides allow it, else a copy."""
    if not shape:
        some_ints(shape, "shape")
    if self._array.flags.c_contiguous:
        return view(self, *shape)
    target = flatten_ints(shape)
    array = self._array
    if -1 in target or array.size != _product(target):
        target = infer_shape(target, array.size)
    if view_strides(array, target) is not None:
        return _reshape_alias(self, target)
    return unsafe_view(self.clone(memory_format="contiguous"), target)


@op(
    "_unsafe_view",
    node="UnsafeViewBackward0",
    method=False,
    function=False,
    self=lambda grad, self_shape: grad.reshape(self_shape),
)
def unsafe_view(self: Any, shape: tuple[int, ...]) -> Array:
    return self.reshape(shape)


@composite("view_as")
def view_as(self: Tensor, other: Tensor) -> Tensor:
    return view(self, other._array.shape)


@composite("reshape_as")
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
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


# -- order of dimensions
# ----------------------------------------------------------------------------------------


@view_op("t", self=lambda grad: grad.t())
def t(self: Any) -> Array:
    array: Array = self
    if array.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {array.ndim}D")
    return array.T


@view_op("transpose", self=lambda grad, dim0, dim1: grad.transpose(dim0, dim1))
def transpose(self: Any, dim0: int, dim1: int) -> Array:
    array: Array = self
    if array.ndim == 0:
        wrap_dim(dim0, 0), wrap_dim(dim1, 0)
        return array.view()
    return array.swapaxes(wrap_dim(dim0, array.ndim), wrap_dim(dim1, array.ndim))


def _permute_back(grad: Tensor, dims: Sequence[int]) -> Tensor:
    n = len(dims)
    back = [0] * n
    for i, d in enumerate(dims):
        back[d % n] = i
    return _permute(grad, tuple(back))


@view_op("permute", method=False, function=False, self=_permute_back)
def _permute(self: Any, dims: tuple[int, ...]) -> Array:
    array: Array = self
    if len(dims) != array.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
            "the desired "
            f"ordering of dimensions i.e. input.dim() = {array.ndim} is not equal to len(dims) = {len(dims)}"
        )
    wrapped = [wrap_dim(d, array.ndim) for d in dims]
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return array.transpose(wrapped)


@composite("permute")
def permute(self: Tensor, *dims: Any) -> Tensor:
    return _permute(self, some_ints(dims, "dims"))


@composite("movedim")
def movedim(self: Tensor, source: Any, destination: Any) -> Tensor:
    n = self._array.ndim
    src = [wrap_dim(d, n) for d in ([source] if isinstance(source, int) else source)]
    dst = [wrap_dim(d, n) for d in ([destination] if isinstance(destination, int) else destination)]
    if len(src) != len(dst):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({sizes(src)} dims) should contain the same number of dims as destination ({sizes(dst)} dims)"
        )
    if n == 0:
        return FUNCTIONS["alias"](self)
    order = [d for d in range(n) if d not in src]
    for place, d in sorted(zip(dst, src, strict=True)):
        order.insert(place, d)
    return _permute(self, tuple(order))


FUNCTIONS["moveaxis"] = movedim
attach("moveaxis", movedim)
for _name in ("swapaxes", "swapdims"):
    FUNCTIONS[_name] = transpose
    setattr(Tensor, _name, transpose)


def _numpy_t(self: Tensor) -> Tensor:
    return _permute(self, tuple(range(self._array.ndim - 1, -1, -1)))


def _matrix_t(self: Tensor) -> Tensor:
    if self._array.ndim < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {self._array.ndim}-D tensor."
        )
    return transpose(self, -2, -1)


attach("T", property(_numpy_t))
attach("mT", property(_matrix_t))
attach("H", property(lambda self: transpose(self, -2, -1).conj()))


@composite("adjoint")
def adjoint(self: Tensor) -> Tensor:
    return _matrix_t(self).conj()


# -- sizes of dimensions
# ----------------------------------------------------------------------------------------


def _squeeze_back(grad: Tensor, self_shape: tuple[int, ...]) -> Tensor:
    return grad.view(self_shape) if grad._array.flags.c_contiguous else grad.reshape(self_shape)


def _squeeze_all(self: Any) -> Array:
    return self.squeeze()


def _squeeze_dim(self: Any, dim: int) -> Array:
    d = wrap_dim(dim, self.ndim)
    return self.squeeze(d) if self.ndim and self.shape[d] == 1 else self.view()


def _squeeze_dims(self: Any, dim: Sequence[int]) -> Array:
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
def squeeze(self: Tensor, dim: Any = None) -> Tensor:
    if dim is None:
        return squeeze_all(self)
    return squeeze_dim(self, dim) if isinstance(dim, int) else squeeze_dims(self, dim)


@view_op("unsqueeze", self=lambda grad, dim: _unsqueeze_back(grad, dim))
def unsqueeze(self: Any, dim: int) -> Array:
    array: Array = self
    n = array.ndim + 1
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    d = dim + n if dim < 0 else dim
    shape, strides = array.shape, array.strides
    # PyTorch gives the new dimension the step that spans the next one; numpy would give 0.
    step = shape[d] * strides[d] if d < array.ndim else array.itemsize
    return strided(array, (*shape[:d], 1, *shape[d:]), (*strides[:d], step, *strides[d:]))


def _unsqueeze_back(grad: Tensor, dim: int) -> Tensor:
    return squeeze(grad, dim)


def expand_array(array: Array, shape: tuple[int, ...]) -> Array:
    """`array` expanded to `shape` (-1 keeps a size) with stride 0; RuntimeError with PyTorch's text
    otherwise.
    """
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
        stride = array.strides[i - lead] if i >= lead else 0
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
                    f"The expanded size of the tensor ({target[i]}) must match the existing size ({have}) "
                    "at non-singleton "
                    f"dimension {i}.  Target sizes: {sizes(shape)}.  Tensor sizes: {sizes(array.shape)}"
                )
            stride = 0
        strides[i] = stride
    return strided(array, target, strides)


@view_op("expand", method=False, function=False, self=lambda grad, self_shape: sum_to(grad, self_shape))
def _expand(self: Any, shape: tuple[int, ...]) -> Array:
    return expand_array(self, shape)


def sum_to(grad: Tensor, shape: tuple[int, ...]) -> Tensor:
    from guardfix.runtime_shim.autograd import engine

    return engine.sum_to(grad, shape) if grad._array.shape != shape else grad


@composite("expand", function=False)
def expand(self: Tensor, *shape: Any, implicit: bool = False) -> Tensor:
    return _expand(self, some_ints(shape, "size"))


@composite("expand_as", function=False)
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    return _expand(self, other._array.shape)


@composite("broadcast_to")
def broadcast_to(self: Tensor, *shape: Any) -> Tensor:
    return _expand(self, flatten_ints(shape))


@composite("broadcast_tensors", method=False)
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    shape: tuple[int, ...] = ()
    for each in tensors:
        shape = dtypes.broadcast_shapes(shape, each._array.shape)
    return tuple(_expand(each, shape) for each in tensors)


# -- parts
# ------------------------------------------------------------------------------------------------------


def _select_back(grad: Tensor, self_shape: tuple[int, ...], dim: int, index: int) -> Tensor:
    return select_backward(grad, self_shape, dim, index)


@op("select_backward", method=False, function=False, self=lambda grad, dim, index: grad.select(dim, index))
def select_backward(self: Any, shape: tuple[int, ...], dim: int, index: int) -> Array:
    found: Array = np.zeros(shape, self.dtype)
    found[(slice(None),) * wrap_dim(dim, len(shape)) + (index,)] = self
    return found


@view_op("select", self=_select_back)
def select(self: Any, dim: int, index: int) -> Array:
    array: Array = self
    if array.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, array.ndim)
    index = int(index)
    if not -array.shape[d] <= index < array.shape[d]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {sizes(array.shape)} at dimension {d}"
        )
    return array[(slice(None),) * d + (index, Ellipsis)]


@op(
    "slice_backward",
    method=False,
    function=False,
    self=lambda grad, dim, start, end, step: slice_(grad, dim, start, end, step),
)
def slice_backward(self: Any, shape: tuple[int, ...], dim: int, start: Any, end: Any, step: int) -> Array:
    found: Array = np.zeros(shape, self.dtype)
    found[(slice(None),) * wrap_dim(dim, len(shape)) + (slice(start, end, step),)] = self
    return found


@view_op(
    "slice",
    method=False,
    function=False,
    self=lambda grad, self_shape, dim, start, end, step: slice_backward(grad, self_shape, dim, start, end, step),
)
def slice_(self: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Array:
    array: Array = self
    if array.ndim == 0:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    return array[(slice(None),) * wrap_dim(dim, array.ndim) + (slice(start, end, step),)]


@composite("narrow")
def narrow(self: Tensor, dim: int, start: Any, length: int) -> Tensor:
    if self._array.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    size = self._array.shape[wrap_dim(dim, self._array.ndim)]
    start = int(start)
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    if start < 0:
        start += size
    if start > size - length:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return slice_(self, dim, start, start + length, 1)


@view_op(
    "diagonal",
    self=lambda grad, self_shape, offset, dim1, dim2: diagonal_backward(grad, self_shape, offset, dim1, dim2),
)
def diagonal(self: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    array: Array = self
    a, b = wrap_dim(dim1, array.ndim), wrap_dim(dim2, array.ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return _diagonal(array, offset, a, b)


def _diagonal(array: Array, offset: int, dim1: int, dim2: int) -> Array:
    """Like numpy's diagonal, but writable."""
    rest = [d for d in range(array.ndim) if d not in (dim1, dim2)]
    moved = array.transpose(*rest, dim1, dim2)
    moved = moved[..., offset:] if offset >= 0 else moved[..., -offset:, :]
    n = min(moved.shape[-2:])
    return strided(moved, (*moved.shape[:-2], n), (*moved.strides[:-2], moved.strides[-2] + moved.strides[-1]))


@op(
    "diagonal_backward",
    method=False,
    function=False,
    self=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
)
def diagonal_backward(self: Any, shape: tuple[int, ...], offset: int, dim1: int, dim2: int) -> Array:
    found: Array = np.zeros(shape, self.dtype)
    _diagonal(found, offset, wrap_dim(dim1, len(shape)), wrap_dim(dim2, len(shape)))[...] = self
    return found


@view_op(
    "unfold",
    function=False,
    self=lambda grad, self_shape, dimension, size, step: unfold_backward(grad, self_shape, dimension, size, step),
)
def unfold(self: Any, dimension: int, size: int, step: int) -> Array:
    array: Array = self
    d = wrap_dim(dimension, array.ndim)
    have = array.shape[d] if array.ndim else 1
    if size > have:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {have} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if array.ndim == 0:
        return strided(array, (size,), (array.itemsize,))
    shape = (*array.shape[:d], (have - size) // step + 1, *array.shape[d + 1 :], size)
    strides = (*array.strides[:d], array.strides[d] * step, *array.strides[d + 1 :], array.strides[d])
    return strided(array, shape, strides)


@op(
    "unfold_backward",
    method=False,
    function=False,
    self=lambda grad, dimension, size, step: grad.unfold(dimension, size, step),
)
def unfold_backward(self: Any, shape: tuple[int, ...], dimension: int, size: int, step: int) -> Array:
    found: Array = np.zeros(shape, self.dtype)
    d = wrap_dim(dimension, len(shape))
    for i in range(self.shape[d]):
        part = found[(slice(None),) * d + (slice(i * step, i * step + size),)]
        part += np.moveaxis(self[(slice(None),) * d + (i,)], -1, d)
    return found


# -- strides
# ----------------------------------------------------------------------------------------------------


def _contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    strides, step = [0] * len(shape), 1
    for i in range(len(shape) - 1, -1, -1):
        strides[i] = step
        step *= max(shape[i], 1)
    return tuple(strides)


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
            f"setStorage: sizes {sizes(shape)}, strides {sizes(strides)}, storage offset {offset}, and "
            f"itemsize {itemsize} "
            f"requiring a storage size of {(last + 1) * itemsize} are out of bounds for storage of size "
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
        return strided(array, shape, byte_strides)
    flat = strided(root, (root.size,), (root.itemsize,)) if root.ndim != 1 or not root.flags.c_contiguous else root
    if flat.dtype != array.dtype:
        flat = flat.view(array.dtype)
    return strided(flat[offset:], shape, byte_strides)


AS_STRIDED = Op(
    "as_strided",
    lambda self, window, base: self,
    None,
    {"self": lambda grad, window, base: as_strided_backward(grad, base, window)},
)
AS_STRIDED.tensor_positions = (0,)
OPS["as_strided"] = AS_STRIDED


@composite("as_strided")
def as_strided(self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """A window onto the storage. Strides and offset in elements; the offset counts from the storage's
    start.
    """
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    offset = self.storage_offset() if storage_offset is None else storage_offset
    window = (tuple(size), tuple(stride), offset)
    check_storage_bounds(self, window)
    return make_view(AS_STRIDED, self, storage_window(self, window), (window, geometry(self)))


def as_strided_backward(grad: Tensor, base: Geometry, window: Geometry) -> Tensor:
    """Gradient of the base of a strided window: what several elements share is added up."""
    found: Tensor = _as_strided_backward(grad, base, window)
    return found


def _as_strided_again(grad: Tensor, base: Geometry, window: Geometry) -> Tensor:
    shape, strides, offset = window
    return grad.contiguous().as_strided(shape, strides, offset - base[2])


@op("as_strided_backward", method=False, function=False, self=_as_strided_again)
def _as_strided_backward(self: Any, base: Geometry, window: Geometry) -> Array:
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


# -- detach and alias
# -------------------------------------------------------------------------------------------


@view_op("alias", method=False, function=False, self=lambda grad: grad)
def alias_op(self: Any) -> Array:
    return self.view()


FUNCTIONS["alias"] = alias_op


@composite("detach")
def detach(self: Tensor) -> Tensor:
    """An alias without history that shares the version counter and is no view."""
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
            raise RuntimeError(errors.DETACH_VIEW)
        meta = self._meta
        if meta is not None:
            meta.requires_grad = False
            meta.grad_fn = None
            meta.output_nr = 0
    return self


# -- several views
# ----------------------------------------------------------------------------------------------


def _zeros_like_window(grads: Sequence[Tensor | None]) -> Tensor:
    return next(g for g in grads if g is not None)


def _unbind_back(grads: Sequence[Any], self_shape: tuple[int, ...], dim: int) -> Tensor:
    like = _zeros_like_window(grads)
    return FUNCTIONS["stack"]([FUNCTIONS["zeros_like"](like) if g is None else g for g in grads], dim)


def _split_back(grads: Sequence[Any], self_shape: tuple[int, ...], split_size: Any, dim: int) -> Tensor:
    like = _zeros_like_window(grads)
    d = wrap_dim(dim, len(self_shape))
    parts = []
    for g, n in zip(grads, split_lengths(self_shape[d], split_size), strict=True):
        shape = (*self_shape[:d], n, *self_shape[d + 1 :])
        parts.append(FUNCTIONS["zeros"](shape, dtype=like.dtype) if g is None else g)
    return FUNCTIONS["cat"](parts, d)


UNBIND = Op("unbind", lambda self, dim: self, None, {"self": _unbind_back})
SPLIT = Op("split", lambda self, split_size, dim: self, None, {"self": _split_back})
SPLIT_WITH_SIZES = Op("split_with_sizes", lambda self, split_size, dim: self, None, {"self": _split_back})


def split_lengths(size: int, split_size: Any) -> list[int]:
    if not isinstance(split_size, int):
        return list(split_size)
    if split_size == 0:
        return [0]
    count = max((size + split_size - 1) // split_size, 1)
    return [split_size] * (count - 1) + [size - split_size * (count - 1)]


def _pieces(array: Array, lengths: Sequence[int], dim: int) -> list[Array]:
    lead = (slice(None),) * dim
    found, start = [], 0
    for n in lengths:
        found.append(array[(*lead, slice(start, start + n))])
        start += n
    return found


@composite("unbind")
def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the slices along one dimension; they may not be written to where that would be recorded."""
    array: Any = self._array
    d = wrap_dim(dim, array.ndim)
    if array.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    lead = (slice(None),) * d
    return tuple(make_views(UNBIND, self, [array[(*lead, i, Ellipsis)] for i in range(array.shape[d])], (dim,)))


def _check_split(self: Tensor, split_size: Any, dim: int) -> list[int]:
    if self._array.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    size = self._array.shape[wrap_dim(dim, self._array.ndim)]
    if isinstance(split_size, int):
        if split_size < 0:
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
        if split_size == 0 and size != 0:
            raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
        return split_lengths(size, split_size)
    if any(n < 0 for n in split_size):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={sizes(split_size)}"
        )
    if sum(split_size) != size:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at "
            "dimension "
            f"{dim}), but got split_sizes={sizes(split_size)}"
        )
    return list(split_size)


@composite("split")
def split(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    if not isinstance(self, Tensor):
        raise AttributeError(f"'{type(self).__name__}' object has no attribute 'split'")
    lengths = _check_split(self, split_size, dim)
    chosen = SPLIT if isinstance(split_size, int) else SPLIT_WITH_SIZES
    d = wrap_dim(dim, self._array.ndim)
    return tuple(make_views(chosen, self, _pieces(self._array, lengths, d), (split_size, dim)))


@composite("split_with_sizes")
def split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    return split(self, list(split_sizes), dim)


@composite("chunk")
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    if self._array.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = self._array.shape[wrap_dim(dim, self._array.ndim)]
    each = (size + chunks - 1) // chunks
    if each == 0 and size == 0:
        return split(self, [0] * chunks, dim)
    return split(self, each, dim)


@composite("tensor_split")
def tensor_split(self: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    d = wrap_dim(dim, self._array.ndim)
    size = self._array.shape[d]
    if isinstance(indices_or_sections, int):
        least, extra = divmod(size, indices_or_sections)
        ends, bounds = 0, []
        for i in range(indices_or_sections - 1):
            ends += least + (i < extra)
            bounds.append(ends)
    else:
        bounds = [int(i) for i in indices_or_sections]
    starts, stops = [0, *bounds], [*bounds, size]
    return tuple(slice_(self, d, a, b, 1) for a, b in zip(starts, stops, strict=True))


def _list_outputs(found: Sequence[Tensor]) -> tuple[Tensor, ...]:
    return tuple(found)


def _copies(self: Any, split_size: Any, dim: int = 0) -> tuple[Array, ...]:
    d = wrap_dim(dim, self.ndim)
    return tuple(p.copy() for p in _pieces(self, split_lengths(self.shape[d], split_size), d))


@composite("unsafe_split")
def unsafe_split(self: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Like split, but autograd does not know that the pieces are views."""
    lengths = _check_split(self, split_size, dim)
    pieces = _pieces(self._array, lengths, wrap_dim(dim, self._array.ndim))
    found: Sequence[Tensor] = functional(UNSAFE_SPLIT, tls.state, (self, split_size, dim))
    for made, piece in zip(found, pieces, strict=True):
        made._array, made._storage = piece, self._storage
    return tuple(found)


UNSAFE_SPLIT = Op("unsafe_split", _copies, None, {"self": _split_back})
UNSAFE_SPLIT.tensor_positions = (0,)
UNSAFE_SPLIT.below = split
UNSAFE_SPLIT.outputs = _list_outputs


@composite("unsafe_chunk")
def unsafe_chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    size = self._array.shape[wrap_dim(dim, self._array.ndim)]
    return unsafe_split(self, (size + chunks - 1) // chunks, dim)


# -- complex
# ----------------------------------------------------------------------------------------------------


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
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
            "scalar type: "
            f"{dtypes.of(array).scalar_name}"
        )
    if array.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if array.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if array.strides[-1] != array.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    return array.view(np.dtype(np.complex64 if array.itemsize == 4 else np.complex128))[..., 0]


def _real(self: Tensor) -> Tensor:
    return select(view_as_real(self), -1, 0) if self._array.dtype.kind == "c" else self


def _imag(self: Tensor) -> Tensor:
    if self._array.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return select(view_as_real(self), -1, 1)


attach("real", property(_real))
attach("imag", property(_imag))
FUNCTIONS["real"], FUNCTIONS["imag"] = _real, _imag


@composite("atleast_1d")
def atleast_1d(self: Tensor) -> Tensor:
    return self if self._array.ndim else reshape(self, (1,))


@composite("atleast_2d")
def atleast_2d(self: Tensor) -> Tensor:
    if self._array.ndim >= 2:
        return self
    return unsqueeze(self, 0) if self._array.ndim else reshape(self, (1, 1))


@composite("atleast_3d")
def atleast_3d(self: Tensor) -> Tensor:
    n = self._array.ndim
    if n >= 3:
        return self
    if n == 2:
        return unsqueeze(self, -1)
    return unsqueeze(unsqueeze(self, 0), -1) if n else reshape(self, (1, 1, 1))
