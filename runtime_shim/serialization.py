"""deepcopy, pickling, save and load. What comes back is normal or inference by the mode at the time."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from guardfix.runtime_shim import dtypes, errors
from guardfix.runtime_shim._tensor import address, meta_of, new_tensor, requires_grad
from guardfix.runtime_shim.kernels import Tensor
from guardfix.runtime_shim.state import ADINPLACEORVIEW, tls


def _copied(t: Tensor, memo: dict[int, Any]) -> Tensor:
    """A tensor in a copy of the storage, which all that shared the storage share again."""
    storage, window = _storage_and_window(t)
    if id(storage) not in memo:
        memo[id(storage)] = [0, storage[1].copy("K")]
        memo.setdefault(id(memo), []).append(storage)  # keeps it alive, as copy does
    made = rebuild(memo[id(storage)], window, requires_grad(t), "Tensor", {})
    if type(t) is not Tensor:
        made.__class__ = type(t)
    return made


def deepcopy(t: Tensor, memo: dict[int, Any]) -> Tensor:
    if not t.is_leaf:
        raise RuntimeError(errors.DEEPCOPY_NON_LEAF)
    if id(t) in memo:
        return memo[id(t)]
    made = memo[id(t)] = _copied(t, memo)
    if t.grad is not None:
        meta_of(made).grad = deepcopy(t.grad, memo)
    if t.__dict__:
        import copy

        made.__dict__.update(copy.deepcopy(t.__dict__, memo))
    return made


def rebuild(storage: list[Any], window: Window, flag: bool, kind: str, attributes: dict[str, Any]) -> Tensor:
    """The tensor that `reduce` took apart. Tensors of one storage share it again."""
    shape, strides, offset = window
    root = storage[1]
    dtypes.of(root)
    found = root
    if (root.shape, root.strides, 0) != window:
        flat = np.ndarray((root.nbytes - offset,), np.uint8, root.reshape(-1, order="A").view(np.uint8), offset)
        found = np.ndarray(shape, root.dtype, flat, 0, strides) if 0 not in shape else np.empty(shape, root.dtype)
    made = new_tensor(found)
    made._storage = storage
    if made._version_counter is not None and not tls.state.excluded & ADINPLACEORVIEW:
        made._version_counter[0] += 1
    cls = _class(kind)
    if cls is not Tensor:
        made.__class__ = cls
    if flag:
        meta_of(made).requires_grad = True
    made.__dict__.update(attributes)
    return made


#: shape, strides and offset of a tensor in its storage, in bytes
Window = tuple[tuple[int, ...], tuple[int, ...], int]


def _class(kind: str) -> type[Tensor]:
    if kind == "Tensor":
        return Tensor
    from guardfix.runtime_shim.nn import parameter

    found: type[Tensor] = getattr(parameter, kind if kind in ("Parameter", "Buffer") else "Parameter")
    return found


def _storage_and_window(t: Tensor) -> tuple[list[Any], Window]:
    """The tensor's storage and where the tensor lies in it; a copy if the storage has another dtype."""
    root, array = t._storage[1], t._array
    if root.dtype == array.dtype and (root.flags.c_contiguous or root.flags.f_contiguous):
        return t._storage, (array.shape, array.strides, address(array) - address(root) if array.size else 0)
    array = np.array(array)
    return [0, array], (array.shape, array.strides, 0)


def reduce(t: Tensor) -> Any:
    """What pickle stores: functions and data of the shim alone, whatever name the shim was imported under."""
    storage, window = _storage_and_window(t)
    cls = type(t)
    kind = cls.__name__ if cls.__module__.startswith("torch") else "Tensor"
    made = rebuild, (storage, window, requires_grad(t), kind, dict(t.__dict__))
    if cls.__module__.startswith("torch"):
        return made
    return rebuild_subclass, (cls, *made[1])


def rebuild_subclass(cls: type[Tensor], *args: Any) -> Tensor:
    made = rebuild(*args)
    made.__class__ = cls
    return made


def save(obj: Any, f: Any, pickle_module: Any = pickle, pickle_protocol: int = 2, **kwargs: Any) -> None:
    """Write `obj` to a path or binary file; the format is the shim's own (a pickle), not PyTorch's."""
    if hasattr(f, "write"):
        pickle.dump(obj, f, protocol=4)
    else:
        with open(f, "wb") as file:
            pickle.dump(obj, file, protocol=4)


#: What a file may name where only weights are to be read: the shim's own, and plain containers and numbers.
ALLOWED = {
    "guardfix.runtime_shim.serialization": {"rebuild"},
    "guardfix.runtime_shim.dtypes": {"Size", "by_name"},
    "guardfix.runtime_shim.device": {"device"},
    "guardfix.runtime_shim.nn.state_dict": {"StateDict"},
    "collections": {"OrderedDict", "Counter", "defaultdict"},
    "builtins": {"set", "frozenset", "complex", "slice", "range", "bytearray"},
    "numpy": {"ndarray", "dtype"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "numpy.core.numeric": {"_frombuffer"},
    "_codecs": {"encode"},
}


class _WeightsOnly(pickle.Unpickler):
    """Refuses every global that is not on the list: unpickling others can run any code."""

    def find_class(self, module: str, name: str) -> Any:
        if name in ALLOWED.get(module, ()):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(
            "Weights only load failed. The file is not trusted: it refers to the global "
            f"{module}.{name}, which is not among those that torch.load reads by default. If you trust where "
            "the file comes from, call torch.load(..., weights_only=False), which can run any code in it."
        )


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Read what `save` wrote: tensors, containers and numbers alone, unless `weights_only` is false.

    pickle.UnpicklingError if the file names anything else. With `weights_only=False` the file can run code.
    """
    if not hasattr(f, "read"):
        with open(f, "rb") as file:
            return load(file, weights_only=weights_only)
    return pickle.load(f) if weights_only is False else _WeightsOnly(f).load()
