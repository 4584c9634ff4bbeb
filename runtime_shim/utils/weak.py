"""`torch.utils.weak`: dictionaries with weak keys that compare by identity, as tensors must."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from ..core.tensor import Tensor

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):  # type: ignore[type-arg]
    """A weak reference that is equal to another of the same object, and to no other."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, theirs = self(), other() if isinstance(other, weakref.ref) else None
        return mine is theirs if mine is not None and theirs is not None else self is other


class _WeakHashRef(weakref.ref):  # type: ignore[type-arg]
    """A weak reference with the hash and the equality of its object, also where that is a tensor or dead."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = hash(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, theirs = self(), other() if isinstance(other, weakref.ref) else None
        return bool(mine == theirs) if mine is not None and theirs is not None else self is other


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary whose entries go when nothing else refers to their keys."""

    def __init__(self, dict: Any = None, ref_type: type = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type = ref_type
        this = weakref.ref(self)

        def remove(reference: Any) -> None:
            owner = this()
            if owner is not None:
                owner.data.pop(reference, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: Any) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # of a class without weak references
            return False

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        for reference in self.keyrefs():
            key = reference()
            if key is not None:
                yield key

    keys = __iter__  # type: ignore[assignment]

    def items(self) -> Any:
        return ((key, self.data[reference]) for key, reference in self._alive())

    def values(self) -> Any:
        return (self.data[reference] for _, reference in self._alive())

    def _alive(self) -> Iterator[tuple[Any, Any]]:
        """The keys with their references; a key stays while its entry is looked at."""
        for reference in self.keyrefs():
            key = reference()
            if key is not None and reference in self.data:
                yield key, reference

    def keyrefs(self) -> list[Any]:
        """The weak references, some of which may be dead."""
        return list(self.data)

    def get(self, key: Any, default: Any = None) -> Any:
        return self.data.get(self.ref_type(key), default)

    def pop(self, key: Any, *default: Any) -> Any:
        return self.data.pop(self.ref_type(key), *default)

    def popitem(self) -> tuple[Any, Any]:
        while True:
            reference, value = self.data.popitem()
            key = reference()
            if key is not None:
                return key, value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self.data.setdefault(self.ref_type(key, self._remove), default)

    def update(self, dict: Any = None, /, **more: Any) -> None:
        if dict is not None:
            for key, value in (dict if hasattr(dict, "items") else {**builtin_dict(dict)}).items():
                self[key] = value
        for name, value in more.items():
            self[name] = value

    def copy(self) -> WeakIdKeyDictionary:
        return self._of(self)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary:
        return self._of({key: copy.deepcopy(value, memo) for key, value in self.items()})

    def _of(self, entries: Any) -> WeakIdKeyDictionary:
        made = type(self)(ref_type=self.ref_type)
        made.update(entries)
        return made

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def __or__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        made = self._of(other)
        made.update(self)
        return made

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        """Whether the keys are the same objects, with equal values."""
        if not isinstance(other, Mapping):
            return NotImplemented
        return {id(k): v for k, v in self.items()} == {id(k): v for k, v in other.items()}

    __hash__ = None  # type: ignore[assignment]


builtin_dict = dict

WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor."""

    def __init__(self, tensor: Tensor) -> None:
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
