"""deepcopy and pickling of tensors. What comes back is normal or inference by the mode at the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes, error_texts
from ..core.reordered_array import marked
from ..core.tensor import Tensor, address, attach, meta_of, new_tensor, of_class, requires_grad, set_requires_grad
from ..core.thread_state import ADINPLACEORVIEW, tls
from ..core.zero_array import StandInArray
from ..dispatch.function_overrides import asks


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


def _cloned(t: Tensor) -> Tensor:
    """A tensor without elements, as its class copies it. RuntimeError if that makes another kind of tensor."""
    state = tls.state
    grad_mode, state.grad_mode = state.grad_mode, False
    try:
        made: Tensor = t.clone()
    finally:
        state.grad_mode = grad_mode
    if type(made) is not type(t):
        raise RuntimeError(error_texts.DEEPCOPY_WRAPPER)
    if requires_grad(t):
        set_requires_grad(made, True)
    return made


def deepcopy(t: Tensor, memo: dict[int, Any]) -> Tensor:
    if not t.is_leaf:
        raise RuntimeError(error_texts.DEEPCOPY_NON_LEAF)
    if id(t) in memo:
        return memo[id(t)]
    if asks(type(t)) and type(t.new_empty([])) is not type(t):
        raise RuntimeError(error_texts.DEEPCOPY_SUBCLASS)
    if type(t._array) is StandInArray:
        made = memo[id(t)] = _cloned(t)
    else:
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
    if type(t._array) is StandInArray:
        facts = (t.dtype, tuple(t.size()), t.stride(), t.storage_offset(), requires_grad(t))
        return rebuild_wrapper, (type(t), *facts, _attributes(t))
    storage, window = _storage_and_window(t)
    parts = storage, window, requires_grad(t), dict(t.__dict__)
    rebuilt_by = REBUILT_BY.get(type(t))
    return (rebuild_subclass, (type(t), *parts)) if rebuilt_by is None else (rebuilt_by, parts)


def _attributes(t: Tensor) -> dict[str, Any]:
    """What a program gave a tensor, in its dictionary or in slots of its class."""
    classes = [k for k in type(t).__mro__ if issubclass(k, Tensor) and k is not Tensor]
    own = [name for k in classes for name in vars(k).get("__slots__", ())]
    return {**{name: getattr(t, name) for name in own if hasattr(t, name)}, **t.__dict__}


def rebuild_wrapper(
    cls: Any, dtype: Any, size: Any, strides: Any, offset: int, requires_grad: bool, attributes: dict[str, Any]
) -> Tensor:
    """A tensor of a class that has its elements itself."""
    made: Tensor = Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
        cls, size, strides=strides, storage_offset=offset, dtype=dtype, requires_grad=requires_grad
    )
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def rebuild_subclass(cls: type[Tensor], *args: Any) -> Tensor:
    return of_class(rebuild(*args), cls)


class _OwnStorage:
    """A storage that is copied when it is pickled; `copy.copy` goes on with the storage itself."""

    __slots__ = ("storage",)

    def __init__(self, storage: list[Any]) -> None:
        self.storage = storage

    def __reduce__(self) -> Any:
        return _storage_of, (self.storage[1].copy("K"),)


def _storage_of(root: Any) -> list[Any]:
    return [0, root]


def _reduce_ex(self: Tensor, protocol: Any) -> Any:
    """For pickle itself, which gives each tensor a storage of its own."""
    function, parts = parts_to_pickle(self)
    return function, tuple(_OwnStorage(part) if type(part) is list else part for part in parts)


attach("__deepcopy__", deepcopy)
attach("__reduce_ex__", _reduce_ex)
