# Long because it is one class: all that a tensor is before any op.
"""Tensor: a numpy array with PyTorch's bookkeeping around it.

Five slots hold everything, so that making a tensor costs little:

* `_array`            the data; views share memory as numpy's do
* `_keys`             dispatch key set: NORMAL_KEYS or INFERENCE_KEYS
* `_version_counter`  one-item list shared by all aliases that count together, or None
* `_storage`          `[writes, root array]`, shared by everything that shares memory; `writes` is the true
                        write counter, which no guard can switch off
* `_meta`             AutogradMeta, or None while nothing of autograd concerns the tensor

Ops are attached as they are registered, and so is what printing, pickling and the tape give to Tensor; here is what
needs none of them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import dtypes, error_texts
from .array_kinds import check_allocated, check_readable
from .device import CPU, strided
from .dtypes import Array, Size
from .error_texts import TO_NUMBER, warn_once
from .function_table import FUNCTIONS
from .thread_state import AUTOGRAD, INFERENCE_KEYS, NORMAL_KEYS, tls

ndarray = np.ndarray
allocate = object.__new__

#: A node of the tape (`tape.nodes.Node`), which is on tensors and not they on it.
TapeNode = Any

#: Told of each subclass of Tensor, and of each function that is published late.
WHEN_SUBCLASSED: list[Callable[[type], None]] = []
WHEN_PUBLISHED: list[Callable[[Any], None]] = []

#: How a view came to be (torch/csrc/autograd/variable.h, CreationMeta); decides whether it may be written to.
DEFAULT, IN_CUSTOM_FUNCTION, MULTI_OUTPUT_NODE, NO_GRAD_MODE, INFERENCE_MODE = range(5)


class AutogradMeta:
    """What autograd knows of a tensor; for a tracked view also its root base, creation meta and attr_version.

    Most fields keep their default in most tensors, so defaults live on the class: making one stays cheap.
    """

    requires_grad = False
    grad_fn: TapeNode | None = None
    output_nr = 0
    grad: Tensor | None = None
    base: Tensor | None = None
    creation_meta = DEFAULT
    attr_version = 0
    view_fn: Callable[[Tensor], Tensor] | None = None  # replays the view on its base, where strides alone cannot
    hooks: dict[int, Any] | None = None
    post_accumulate_hooks: dict[int, Any] | None = None
    accumulator: weakref.ref[TapeNode] | None = None
    retains_grad = False


def history(node: TapeNode, output_nr: int = 0) -> AutogradMeta:
    """The meta of a fresh result: output `output_nr` of `node`."""
    meta = AutogradMeta()
    meta.grad_fn = node
    if output_nr:
        meta.output_nr = output_nr
    return meta


class read_only(property):
    """A property whose assignment fails in PyTorch's words."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __set__(self, instance: object, value: object) -> None:
        raise AttributeError(f"attribute '{self.name}' of 'torch._C.TensorBase' objects is not writable")

    def __delete__(self, instance: object) -> None:
        self.__set__(instance, None)


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of a tensor of that shape without gaps, the last dimension the fastest."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


class Tensor:
    """A tensor. Made by creation ops; `Tensor(2, 3)` and `Tensor([1.0])` are the legacy constructor."""

    __slots__ = ("__dict__", "__weakref__", "_array", "_keys", "_meta", "_storage", "_version_counter")
    __array_priority__ = 1000

    _array: Array
    _keys: int
    _version_counter: list[int] | None
    _storage: list[Any]
    _meta: AutogradMeta | None

    if TYPE_CHECKING:  # ops are attached at import

        def __getattr__(self, name: str) -> Any: ...
        def __add__(self, other: object) -> Tensor: ...
        def __radd__(self, other: object) -> Tensor: ...
        def __sub__(self, other: object) -> Tensor: ...
        def __rsub__(self, other: object) -> Tensor: ...
        def __mul__(self, other: object) -> Tensor: ...
        def __rmul__(self, other: object) -> Tensor: ...
        def __truediv__(self, other: object) -> Tensor: ...
        def __rtruediv__(self, other: object) -> Tensor: ...
        def __pow__(self, other: object) -> Tensor: ...
        def __rpow__(self, other: object) -> Tensor: ...
        def __matmul__(self, other: object) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __and__(self, other: object) -> Tensor: ...
        def __or__(self, other: object) -> Tensor: ...
        def __lt__(self, other: object) -> Tensor: ...
        def __le__(self, other: object) -> Tensor: ...
        def __gt__(self, other: object) -> Tensor: ...
        def __ge__(self, other: object) -> Tensor: ...
        def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __getitem__(self, index: Any) -> Tensor: ...
        def __setitem__(self, index: object, value: object) -> None: ...

    def __hash__(self) -> int:
        return id(self)

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        for told in WHEN_SUBCLASSED:
            told(cls)

    def __new__(cls, *args: object, **kwargs: object) -> Any:
        made = from_legacy_arguments(args, kwargs)
        return made if cls is Tensor else of_class(made, cls)

    # -- what it is
    # ---------------------------------------------------------------------------------------------

    @read_only
    def dtype(self) -> dtypes.dtype:
        return dtypes.BY_CHAR[self._array.dtype.char]

    @read_only
    def shape(self) -> Size:
        return Size(self._array.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension."""
        if dim is None:
            return Size(self._array.shape)
        if not self._array.ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return self._array.shape[dtypes.wrap_dim(dim, self._array.ndim)]

    def stride(self, dim: int | None = None) -> Any:
        """Steps between elements of each dimension, in elements."""
        array = self._array
        if array.size:
            size = array.itemsize
            strides = tuple([s // size for s in array.strides])
        else:
            strides = contiguous_strides(array.shape)
        return strides if dim is None else strides[dtypes.wrap_dim(dim, array.ndim)]

    def storage_offset(self) -> int:
        """Distance of the first element from the start of the storage, in elements."""
        array, root = self._array, self._storage[1]
        return 0 if array is root else (address(array) - address(root)) // array.itemsize

    @read_only
    def ndim(self) -> int:
        return self._array.ndim

    def dim(self) -> int:
        return self._array.ndim

    ndimension = dim

    def numel(self) -> int:
        return self._array.size

    nelement = numel

    def element_size(self) -> int:
        return self._array.itemsize

    @read_only
    def itemsize(self) -> int:
        return self._array.itemsize

    @read_only
    def nbytes(self) -> int:
        return self._array.nbytes

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self._array.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if self._array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def is_floating_point(self) -> bool:
        return self._array.dtype.kind in "fV"

    def is_complex(self) -> bool:
        return self._array.dtype.kind == "c"

    def is_signed(self) -> bool:
        return self._array.dtype.kind not in "ub"

    def data_ptr(self) -> int:
        return address(self._array) if self._array.size else 0

    def is_set_to(self, tensor: Tensor) -> bool:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"is_set_to(): argument 'tensor' (position 1) must be Tensor, not {type(tensor).__name__}")
        return (
            self._storage is tensor._storage
            and self._array.shape == tensor._array.shape
            and self._array.strides == tensor._array.strides
            and address(self._array) == address(tensor._array)
        )

    @read_only
    def device(self) -> Any:
        return CPU

    @read_only
    def layout(self) -> Any:
        return strided

    is_mkldnn = is_cuda = is_sparse = is_quantized = is_meta = is_nested = is_mps = is_xpu = False
    is_cpu = True

    def get_device(self) -> int:
        return -1

    # -- flags
    # --------------------------------------------------------------------------------------------------

    def is_inference(self) -> bool:
        """Whether the key set is that of an inference tensor; the version counter has no say in it."""
        return not self._keys & AUTOGRAD

    def _is_view(self) -> bool:
        return self._meta is not None and self._meta.base is not None

    @read_only
    def _base(self) -> Tensor | None:
        return None if self._meta is None else self._meta.base

    @read_only
    def _version(self) -> int:
        return current_version(self)

    @property
    def requires_grad(self) -> bool:
        return requires_grad(self)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if not raw_is_leaf(self):
            tail = error_texts.NON_LEAF_FLAG.partition(". ")
            raise RuntimeError(tail[0] + "." if value else error_texts.NON_LEAF_FLAG)
        if value and self._array.dtype.kind not in "fcV":
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        set_requires_grad(self, value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set the flag in place and return self. RuntimeError on an inference tensor outside inference mode."""
        if not isinstance(requires_grad, bool):
            kind = type(requires_grad).__name__
            raise TypeError(f"requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {kind}")
        if not requires_grad and not raw_is_leaf(self):
            raise RuntimeError(error_texts.NON_LEAF_FLAG)
        if requires_grad and self._array.dtype.kind not in "fcV":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        set_requires_grad(self, requires_grad)
        return self

    @read_only
    def output_nr(self) -> int:
        return 0 if self._meta is None else self._meta.output_nr

    @read_only
    def retains_grad(self) -> bool:
        return self._meta is not None and self._meta.retains_grad

    @property
    def grad(self) -> Tensor | None:
        meta = self._meta
        if meta is None:
            return None
        if meta.grad is None and not raw_is_leaf(self) and not meta.retains_grad:
            _warn_non_leaf_grad()
        return meta.grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is None:
            if self._meta is not None:
                self._meta.grad = None
            return
        if not isinstance(value, Tensor):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value._array.dtype != self._array.dtype:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{value.dtype.short}' to a tensor with grad_dtype "
                f"'{self.dtype.scalar_name}'. The gradient must match the tensor's grad_dtype (defaults to the "
                "tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to "
                "allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may "
                "break downstream systems that assume they match."
            )
        if value._array.shape != self._array.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{dtypes.sizes(value._array.shape)}' to a tensor of size "
                f"'{dtypes.sizes(self._array.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
        meta_of(self).grad = value

    @grad.deleter
    def grad(self) -> None:
        if self._meta is not None:
            self._meta.grad = None

    @property
    def data(self) -> Tensor:
        """An alias with a version counter of its own (none for an inference tensor in inference mode)."""
        inference = not self._keys & AUTOGRAD
        counter = None if inference and tls.state.inference_mode else [0]
        return alias(self, self._array, self._keys, counter)

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if requires_grad(self) and value._array.dtype.kind not in "fcV":
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        if self._meta is not None and value._array.dtype != self._array.dtype:
            self._meta.accumulator = None
        self._array, self._storage = value._array, value._storage
        self._keys = value._keys

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    # -- hooks
    # --------------------------------------------------------------------------------------------------

    # -- numpy and Python
    # ---------------------------------------------------------------------------------------

    def numpy(self, *, force: bool = False) -> Array:
        """The data as a numpy array that shares memory. RuntimeError if the tensor requires grad, unless `force`."""
        if tls.state.grad_mode and requires_grad(self) and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self._array.dtype.kind == "V":
            raise TypeError(f"Got unsupported ScalarType {self.dtype.scalar_name}")
        if type(self._array) is ndarray:
            return self._array
        if not force:
            check_readable(self._array)
        return self._array.view(ndarray)

    def __array_wrap__(self, array: object, context: object = None, return_scalar: bool = False) -> Tensor:
        """What numpy makes of a tensor by a ufunc is a tensor."""
        found = np.asarray(array)
        return new_tensor(found.astype(np.uint8) if found.dtype == bool else found)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def tolist(self) -> Any:
        check_allocated(self._array)
        return self._array.tolist()

    def item(self) -> Any:
        """The only element as a Python number; RuntimeError if there is not exactly one."""
        if self._array.size != 1:
            raise RuntimeError(f"a Tensor with {self._array.size} elements cannot be converted to Scalar")
        return self._array.item()

    def __bool__(self) -> bool:
        size = self._array.size
        if size != 1:
            kind = "more than one value" if size else "no values"
            raise RuntimeError(f"Boolean value of Tensor with {kind} is ambiguous")
        return bool(self._array.item())

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def _number(self) -> Any:
        if self._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if self._meta is not None and requires_grad(self):
            warn_once(TO_NUMBER, stacklevel=4)
        return self._array.item()

    def __index__(self) -> int:
        if self._array.size != 1 or self._array.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    def __contains__(self, element: object) -> bool:
        if isinstance(element, Tensor | bool | int | float | complex):
            return bool((self == element).any().item())
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")

    def __format__(self, spec: str) -> str:
        if self._array.ndim == 0 and type(self) is Tensor:
            return format(self.item(), spec)
        return object.__format__(self, spec)


Tensor.__module__ = "torch"


def disabled_torch_function(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """What a class has in the place of `__torch_function__` that functions treat as they treat Tensor."""
    state = tls.state
    before, state.function_off = state.function_off, max(state.function_off, 1)
    try:
        return func(*args, **(kwargs or {}))
    finally:
        state.function_off = before


def disabled_torch_dispatch(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """What Tensor has in the place of `__torch_dispatch__`, and classes that opt out of it."""
    return func(*args, **(kwargs or {}))


Tensor.__torch_dispatch__ = staticmethod(disabled_torch_dispatch)  # type: ignore[attr-defined]


def of_class(made: Tensor, cls: type[Tensor]) -> Any:
    """`made` as an instance of a subclass. UnsupportedError if the class wants to be asked in the place of kernels."""
    # Where a program is recorded, what Tensor has is wrapped.
    if cls.__torch_dispatch__ not in (Tensor.__torch_dispatch__, disabled_torch_dispatch):  # type: ignore[attr-defined]
        raise error_texts.UnsupportedError(
            f"the shim runs no __torch_dispatch__, which {cls.__name__} has; use __torch_function__"
        )
    try:
        made.__class__ = cls
    except TypeError:  # a class with slots of its own
        made = _moved(made, cls)
    return made


def _moved(t: Tensor, cls: type[Tensor]) -> Tensor:
    made: Tensor = allocate(cls)
    made._array, made._keys, made._meta = t._array, t._keys, t._meta
    made._storage, made._version_counter = t._storage, t._version_counter
    return made


def attach(name: str, value: object) -> None:
    """Give Tensor an attribute, method or operator."""
    if hasattr(value, "__set_name__"):
        value.__set_name__(Tensor, name)
    setattr(Tensor, name, value)


def new_tensor(array: object) -> Tensor:
    """A tensor that owns `array`: an inference tensor in inference mode, else a normal one."""
    if type(array) is not ndarray:
        array = np.asanyarray(array)
    t = allocate(Tensor)
    t._array = array
    t._storage = [0, array]
    t._meta = None
    if tls.state.inference_mode:
        t._keys = INFERENCE_KEYS
        t._version_counter = None
    else:
        t._keys = NORMAL_KEYS
        t._version_counter = [0]
    return t


def alias(source: Tensor, array: Array, keys: int, counter: list[int] | None) -> Tensor:
    """An untracked alias of `source`'s storage."""
    t = allocate(Tensor)
    t._array = array
    t._storage = source._storage
    t._meta = None
    t._keys = keys
    t._version_counter = counter
    return t


def meta_of(t: Tensor) -> AutogradMeta:
    """The tensor's autograd meta, made if there is none yet."""
    meta = t._meta
    if meta is None:
        meta = t._meta = AutogradMeta()
    return meta


def requires_grad(t: Tensor) -> bool:
    """Own flag, own history, or (for a view) those of the base."""
    meta = t._meta
    while meta is not None:
        if meta.requires_grad or meta.grad_fn is not None:
            return True
        if meta.base is None:
            return False
        meta = meta.base._meta
    return False


def raw_is_leaf(t: Tensor) -> bool:
    """`is_leaf` as C++ reads it: looks at the stored grad_fn, regenerates nothing, never raises."""
    return t._meta is None or t._meta.grad_fn is None


def set_requires_grad(t: Tensor, value: bool) -> None:
    if value and not t._keys & AUTOGRAD and not tls.state.inference_mode:
        raise RuntimeError(error_texts.REQUIRES_GRAD_ON_INFERENCE)
    if value and t._array.dtype.kind not in "fcV":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    if value or t._meta is not None:
        meta_of(t).requires_grad = value


def current_version(t: Tensor) -> int:
    counter = t._version_counter
    if counter is None:
        raise RuntimeError(error_texts.NO_VERSION)
    return counter[0]


def from_legacy_arguments(args: tuple[object, ...], kwargs: dict[str, object]) -> Tensor:
    if kwargs:
        raise TypeError(f"Tensor() got unexpected keyword arguments {sorted(kwargs)}; use torch.tensor() instead")
    if len(args) == 1 and isinstance(args[0], Tensor):
        return FUNCTIONS["alias"](args[0])
    if len(args) == 1 and not isinstance(args[0], int):
        return new_tensor(np.array(args[0], dtype=dtypes.get_default_dtype().numpy))
    if len(args) == 1 and isinstance(args[0], tuple | Size):
        args = tuple(args[0])
    return new_tensor(np.empty(cast("tuple[int, ...]", args or (0,)), dtype=dtypes.get_default_dtype().numpy))


def _warn_non_leaf_grad() -> None:
    import warnings

    warnings.warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
        "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
        "you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more informations.",
        UserWarning,
        stacklevel=3,
    )


def address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])
