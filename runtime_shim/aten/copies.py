"""Copies of tensors, in memory and by pickle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes, error_texts
from ..core.array_kinds import marked
from ..core.device import check_device
from ..core.dtypes import Array
from ..core.error_texts import require_tensors
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import blank_like, is_laid_out, laid_out
from ..core.tensor import Tensor, address, attach, meta_of, new_tensor, of_class, requires_grad
from ..core.thread_state import ADINPLACEORVIEW, tls
from ..dispatch.function_overrides import asks
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import composite, op
from .creation import finish


def _clone_below(self: Tensor, memory_format: object = None) -> Tensor:
    made: Tensor = FUNCTIONS["empty_like"](self, memory_format=memory_format)
    return made.copy_(self)


@op("clone", computes=ANY_DTYPE, out=RESIZED, below=_clone_below, self=lambda grad: grad)
def clone(self: Array, *, memory_format: Any = None) -> Array:
    return laid_out(self, memory_format)


@composite("contiguous", function=False)
def contiguous(self: Tensor, *, memory_format: object = None) -> Tensor:
    """The tensor itself if its elements already lie in the order of the format, else a copy."""
    if self._array.flags.c_contiguous if memory_format is None else is_laid_out(self._array, memory_format):
        return self
    if memory_format == "preserve":
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return clone(self, memory_format=memory_format or "contiguous")


def _to_copy_below(self: Tensor, dtype: dtypes.dtype) -> Tensor:
    made = blank_like(self._array, dtype.numpy)
    made.fill(0)
    return finish(made).copy_(self)


@op("_to_copy", computes=ANY_DTYPE, out=RESIZED, method=False, below=_to_copy_below, self=lambda grad: grad)
def to_copy(self: Array, dtype: dtypes.dtype) -> Array:
    if self.flags.c_contiguous and 1 not in self.shape:
        return self.astype(dtype.numpy)
    made = blank_like(self, dtype.numpy)
    np.copyto(made, self, casting="unsafe")
    return made


@composite("to", function=False)
def to(
    self: Tensor,
    *args: Any,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """The tensor in another dtype; itself if that changes nothing and `copy` is false."""
    for arg in args:
        if isinstance(arg, dtypes.dtype) or arg in (float, int, bool, complex):
            dtype = dtypes.OF_PYTHON.get(arg, arg)
        elif isinstance(arg, Tensor):
            dtype = arg.dtype
        elif not isinstance(arg, bool):
            device = arg
    check_device(device)
    if memory_format is not None and memory_format != "preserve" and not is_laid_out(self._array, memory_format):
        return clone(self if dtype in (None, self.dtype) else to_copy(self, dtype), memory_format=memory_format)
    if dtype is None or self.dtype is dtype:
        return to_copy(self, self.dtype) if copy else self
    return to_copy(self, dtype)


def _converter(name: str, target: dtypes.dtype) -> None:
    def convert(self: Tensor, memory_format: object = None) -> Tensor:
        return self if self.dtype is target else to_copy(self, target)

    composite(name, function=False)(convert)


for _name, _target in {
    "half": dtypes.float16,
    "bfloat16": dtypes.bfloat16,
    "float": dtypes.float32,
    "double": dtypes.float64,
    "char": dtypes.int8,
    "short": dtypes.int16,
    "int": dtypes.int32,
    "long": dtypes.int64,
    "byte": dtypes.uint8,
    "bool": dtypes.bool_,
    "cfloat": dtypes.complex64,
    "cdouble": dtypes.complex128,
}.items():
    _converter(_name, _target)


@composite("type_as", function=False)
def type_as(self: Tensor, other: Tensor) -> Tensor:
    require_tensors("type_as", self=self, other=other)
    return to(self, other.dtype)


@composite("type", function=False)
def type_(self: Tensor, dtype: dtypes.dtype | None = None) -> Any:
    if dtype is None:
        return f"torch.{self.dtype.scalar_name}Tensor"
    if isinstance(dtype, str):
        found = {f"torch.{d.scalar_name}Tensor": d for d in (*dtypes.ALL, dtypes.bfloat16)}
        if dtype not in found:
            raise ValueError(f"invalid type: '{dtype}'")
        return to(self, found[dtype])
    if dtype is Tensor:  # the type of tensors by default
        return to(self, dtypes.get_default_dtype())
    return to(self, getattr(dtype, "dtype", dtype))


@composite("to_dense", function=False)
def to_dense(self: Tensor, dtype: object = None, *, masked_grad: object = None) -> Tensor:
    """The tensor itself, which is dense, in the given dtype."""
    return self if dtype is None else self.to(dtype)


@composite("cpu", function=False)
def cpu(self: Tensor) -> Tensor:
    return self


@composite("is_inference", method=False)
def is_inference(input: Tensor) -> bool:
    if not isinstance(input, Tensor):
        raise TypeError(f"is_inference(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    return input.is_inference()


@composite("is_tensor", method=False)
def is_tensor(obj: object) -> bool:
    return isinstance(obj, Tensor)


@composite("is_floating_point", method=False)
def is_floating_point(input: Tensor) -> bool:
    return input.is_floating_point()


@composite("is_complex", method=False)
def is_complex(input: Tensor) -> bool:
    return input.is_complex()


@composite("numel", method=False)
def numel(input: Tensor) -> int:
    return input.numel()


def _copied(t: Tensor, memo: dict[int, Any]) -> Tensor:
    """A tensor in a copy of the storage, which all that shared the storage share again."""
    storage, window = _storage_and_window(t)
    if id(storage) not in memo:
        memo[id(storage)] = [0, storage[1].copy("K")]
        memo.setdefault(id(memo), []).append(storage)  # keeps it alive, as copy does
    made = rebuild(memo[id(storage)], window, requires_grad(t), {})
    if type(t) is not Tensor:
        made = of_class(made, type(t))
    return made


def deepcopy(t: Tensor, memo: dict[int, Any]) -> Tensor:
    if not t.is_leaf:
        raise RuntimeError(error_texts.DEEPCOPY_NON_LEAF)
    if id(t) in memo:
        return memo[id(t)]
    if asks(type(t)) and type(t.new_empty([])) is not type(t):
        raise RuntimeError(error_texts.DEEPCOPY_SUBCLASS)
    made = memo[id(t)] = _copied(t, memo)
    if t.grad is not None:
        meta_of(made).grad = deepcopy(t.grad, memo)
    if t.__dict__:
        import copy

        made.__dict__.update(copy.deepcopy(t.__dict__, memo))
    return made


def rebuild(storage: list[Any] | _OwnStorage, window: Window, flag: bool, attributes: dict[str, Any]) -> Tensor:
    """The tensor that `reduce` took apart. Tensors of one storage share it again."""
    shape, strides, offset, *named = window
    if isinstance(storage, _OwnStorage):
        storage = storage.storage
    root = storage[1]
    dtypes.of(root)
    found = root
    if (root.shape, root.strides, 0) != window:
        dtype = dtypes.by_name(named[0]).numpy if named else root.dtype
        flat = np.ndarray((root.nbytes - offset,), np.uint8, root.reshape(-1, order="A").view(np.uint8), offset)
        found = np.ndarray(shape, dtype, flat, 0, strides) if 0 not in shape else np.empty(shape, dtype)
        found = marked(found)
    made = new_tensor(found)
    made._storage = storage
    if made._version_counter is not None and not tls.state.excluded & ADINPLACEORVIEW:
        made._version_counter[0] += 1
    if flag:
        meta_of(made).requires_grad = True
    made.__dict__.update(attributes)
    return made


#: shape, strides and offset of a tensor in its storage, in bytes; the name of its dtype if its storage has another
Window = tuple[tuple[int, ...], tuple[int, ...], int] | tuple[tuple[int, ...], tuple[int, ...], int, str]


#: Classes of the shim, and the function that a pickle names for each.
REBUILT_BY: dict[type, Callable[..., Tensor]] = {Tensor: rebuild}


def _storage_and_window(t: Tensor) -> tuple[list[Any], Window]:
    """The tensor's storage and where the tensor lies in it; a copy if the storage has another dtype."""
    root, array = t._storage[1], t._array
    same = root.dtype == array.dtype
    if (same or array.dtype.kind in "biufc") and (root.flags.c_contiguous or root.flags.f_contiguous):
        window = array.shape, array.strides, address(array) - address(root) if array.size else 0
        return t._storage, window if same else (*window, dtypes.of(array).name)
    array = np.array(array)
    return [0, array], (array.shape, array.strides, 0)


def parts_to_pickle(t: Tensor) -> Any:
    """What pickle stores: functions and data of the shim alone, whatever name the shim was imported under."""
    storage, window = _storage_and_window(t)
    parts = storage, window, requires_grad(t), dict(t.__dict__)
    rebuilt_by = REBUILT_BY.get(type(t))
    return (rebuild_subclass, (type(t), *parts)) if rebuilt_by is None else (rebuilt_by, parts)


def rebuild_subclass(cls: type[Tensor], *args: Any) -> Tensor:
    return of_class(rebuild(*args), cls)


class _OwnStorage:
    """A storage that is copied when it is pickled; `copy.copy` goes on with the storage itself."""

    __slots__ = ("storage",)

    def __init__(self, storage: list[Any]) -> None:
        self.storage = storage

    def __reduce__(self) -> Any:
        return _storage_of, (self.storage[1].copy("K"),)


def _storage_of(root: object) -> list[Any]:
    return [0, root]


def _reduce_ex(self: Tensor, protocol: object) -> Any:
    """For pickle itself, which gives each tensor its own storage."""
    function, parts = parts_to_pickle(self)
    return function, tuple(_OwnStorage(part) if type(part) is list else part for part in parts)


attach("__deepcopy__", deepcopy)
attach("__reduce_ex__", _reduce_ex)
