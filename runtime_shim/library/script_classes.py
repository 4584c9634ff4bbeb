"""Classes of C++ libraries in Python: `torch.classes.<namespace>.<name>`, registered by `torch::class_`."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from typing import Any

from ..core.function_table import AnyFunction

#: The real paths of the libraries that were loaded by name.
LOADED: set[str] = set()
#: What went wrong while a library was loaded: nothing can be raised through the loader.
_failures: list[str] = []


def registration_failed(message: str) -> None:
    """Remember an error for `raise_failures`; said at once as well, since not every loader asks."""
    _failures.append(message)
    print(f"error while a C++ library registered its ops: {message}", file=sys.stderr)


def raise_failures() -> None:
    """RuntimeError if something went wrong since the last call."""
    if _failures:
        message = "; ".join(_failures)
        _failures.clear()
        raise RuntimeError(message)


def load_library(path: str | os.PathLike[str]) -> None:
    """Load a shared library whose static initializers register ops. OSError if that fails, RuntimeError if they do."""
    real = os.path.realpath(path)
    ctypes.PyDLL(real)
    raise_failures()
    LOADED.add(real)


class TorchbindObject:
    """An object of a class that a C++ library registered; `_pointer` owns the C++ one."""

    _pointer: Any = None

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise RuntimeError(
            f"{type(self).__qualname__} has no constructor: its library gives torch::class_ no torch::init"
        )

    @classmethod
    def _type(cls) -> str:
        return f"__torch__.torch.classes.{cls.__module__.rpartition('.')[2]}.{cls.__qualname__}"


def define_class(namespace: str, name: str, doc: str) -> type[TorchbindObject]:
    """A new class. RuntimeError if there is one of the name."""
    holder = getattr(classes, namespace)
    if name in vars(holder):
        raise RuntimeError(f"Custom class with name __torch__.torch.classes.{namespace}.{name} is already registered.")
    made = type(name, (TorchbindObject,), {"__doc__": doc or None, "__module__": f"torch.classes.{namespace}"})
    setattr(holder, name, made)
    return made


def add_method(
    owner: type[TorchbindObject], kind: str, name: str, function: AnyFunction, doc: str, names: list[str],
    defaults: list[Any],
) -> None:  # fmt: skip
    """Give `owner` what C++ registered; `names` are those of the parameters after self, `defaults` the last values."""
    bind = _binder(f"{owner.__qualname__}.{name}", names, defaults)

    def construct(self: TorchbindObject, *args: object, **kwargs: object) -> None:
        self._pointer = function(*bind(args, kwargs))

    def call(self: TorchbindObject, *args: object, **kwargs: object) -> Any:
        return function(self, *bind(args, kwargs))

    def get_state(self: TorchbindObject) -> tuple[object, str]:
        return function(self), self._type()  # with the class's name, as PyTorch has it

    def set_state(self: TorchbindObject, state: tuple[object, str]) -> None:
        self._pointer = function(state[0])

    def assign(self: TorchbindObject, value: object) -> None:
        function(self, value)

    def read(self: TorchbindObject) -> object:
        return function(self)

    made: Any = {"constructor": construct, "method": call, "set_state": set_state, "get_state": get_state}.get(kind)
    if made is not None:
        made.__name__, made.__qualname__, made.__doc__ = name, f"{owner.__qualname__}.{name}", doc or None
    elif kind == "static":
        made = staticmethod(lambda *args, **kwargs: function(*bind(args, kwargs)))
    elif kind == "getter":
        made = property(read, doc=doc or None)
    else:
        made = vars(owner)[name].setter(assign)
    setattr(owner, name, made)


def _binder(
    shown: str, names: list[str], defaults: list[object]
) -> Callable[[tuple[Any, ...], dict[str, Any]], list[Any]]:
    def bind(args: tuple[object, ...], kwargs: dict[str, object]) -> list[object]:
        values = list(args)
        for position in range(len(args), len(names)):
            name = names[position]
            first_default = len(names) - len(defaults)
            if name in kwargs:
                values.append(kwargs.pop(name))
            elif position >= first_default:
                values.append(defaults[position - first_default])
            else:
                raise RuntimeError(f"{shown}() is missing value for argument '{name}'.")
        if kwargs:
            raise RuntimeError(f"Unknown keyword argument '{next(iter(kwargs))}' for {shown}().")
        return values

    return bind


def wrapped(owner: type[TorchbindObject], pointer: object) -> TorchbindObject:
    """An object of `owner` around a C++ object."""
    made = owner.__new__(owner)
    made._pointer = pointer
    return made


def unwrapped(value: object) -> object:
    """The C++ object of `value`. TypeError if it is of no such class."""
    if not isinstance(value, TorchbindObject):
        raise TypeError(f"expected an object of a class from torch.classes, not {type(value).__name__}")
    return value._pointer


class ClassNamespace:
    """`torch.classes.<namespace>`."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise RuntimeError(
            f"Tried to instantiate class '{self._name}.{name}', but it does not exist! Ensure that it is "
            "registered via torch::class_"
        )


class Classes:
    """`torch.classes`."""

    @property
    def loaded_libraries(self) -> set[str]:
        return LOADED

    def load_library(self, path: str | os.PathLike[str]) -> None:
        """Load a shared library that registers classes. OSError if that fails."""
        load_library(path)

    def __getattr__(self, name: str) -> ClassNamespace:
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = self.__dict__[name] = ClassNamespace(name)
        return namespace


classes = Classes()
