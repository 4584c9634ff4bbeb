"""`torch.nn.cpp`: modules written in C++ as modules of Python.

Source of the behaviour: torch/nn/cpp.py, torch/csrc/api/src/python/init.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core.tensor import Tensor
from .module import Module


class OrderedItems:
    """What a torch::OrderedDict is for Python: it goes through pairs, and has keys, values and items as lists."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        self._pairs = list(pairs)

    def items(self) -> list[tuple[str, Any]]:
        return list(self._pairs)

    def keys(self) -> list[str]:
        return [key for key, _ in self._pairs]

    def values(self) -> list[Any]:
        return [value for _, value in self._pairs]

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def __getitem__(self, key: str | int) -> Any:
        """The value under a key, or the pair at an index."""
        return self._pairs[key] if isinstance(key, int) else dict(self._pairs)[key]


class OrderedDictWrapper:
    """The parameters, buffers or children that a C++ module has now, as a dictionary."""

    def __init__(self, cpp_module: object, attr: str) -> None:
        self.cpp_module = cpp_module
        self.attr = attr

    @property
    def cpp_dict(self) -> OrderedItems:
        found: OrderedItems = getattr(self.cpp_module, self.attr)
        return found

    def items(self) -> list[tuple[str, Any]]:
        return self.cpp_dict.items()

    def keys(self) -> list[str]:
        return self.cpp_dict.keys()

    def values(self) -> list[Any]:
        return self.cpp_dict.values()

    def __iter__(self) -> Iterator[str]:
        return iter(self.cpp_dict.keys())

    def __len__(self) -> int:
        return len(self.cpp_dict)

    def __contains__(self, key: object) -> bool:
        return key in self.cpp_dict

    def __getitem__(self, key: str) -> Any:
        return self.cpp_dict[key]


class ModuleWrapper(Module):
    """A module of Python around one of C++, to which everything goes. `torch::python::bind_module` derives from it."""

    def __init__(self, cpp_module: object) -> None:
        self.__dict__["cpp_module"] = cpp_module  # before all else: `training` asks it
        super().__init__()
        for table in ("_parameters", "_buffers", "_modules"):
            self.__dict__[table] = OrderedDictWrapper(cpp_module, table)
        for name in dir(cpp_module):
            if not name.startswith("_") and name != "training":
                self.__dict__[name] = getattr(cpp_module, name)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> ModuleWrapper:
        for parameter in self.cpp_module.parameters():
            parameter.data = fn(parameter.data)
            if parameter.grad is not None:
                parameter.grad.data = fn(parameter.grad.data)
        for buffer in self.cpp_module.buffers():
            buffer.data = fn(buffer.data)
        return self

    @property
    def training(self) -> bool:
        return bool(self.cpp_module.training)

    @training.setter
    def training(self, mode: bool) -> None:
        self.cpp_module.train(mode)

    def __repr__(self) -> str:
        return repr(self.cpp_module)
