"""Names that the shim doesn't support: the error that names them, and what it lists instead."""

from __future__ import annotations

import difflib
import functools
import inspect
import opcode
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, Union

from ..core.late_modules import late_module
from .error_texts import UnsupportedError

#: While names are listed, one that is missing is only that.
_listing = False
_NAMING = frozenset(["LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"])
#: The shim's own modules: a program may have functions of the same names.
_SHIM = __name__.removesuffix(".core.supported_names")
#: What a class inherits from that `except` or a filter of warnings may name, by how it is called.
_EXCEPTIONS = {"Error": Exception, "Exception": Exception, "Warning": Warning}


@functools.cache
def _rows() -> dict[str, str]:
    """The names of PyTorch's modules, as bench/write_torch_names.py wrote them; read when a lookup has failed."""
    text = Path(__file__).with_name("pytorch_names.txt").read_text(encoding="ascii")
    return {namespace: names for namespace, _, names in (line.partition(":") for line in text.splitlines())}


@functools.cache
def _pytorch_names(namespace: str) -> dict[str, str]:
    """The names in a module of PyTorch's, each with its marks: `*` for a class, `=` for what is the same above it."""
    return {marked.strip("=*"): marked for marked in _rows().get(namespace, "").split()}


def _short(dotted: str) -> str:
    return dotted.removeprefix("torch.")


def is_pytorchs_module(dotted: str) -> bool:
    """Whether PyTorch has the module `torch.…`."""
    return _short(dotted) in _rows()


def missing(module: str, name: str) -> Any:
    """What stands for `module.name`, which the shim lacks.

    A program that names something of PyTorch's gets a placeholder, so that an import goes on and what uses the name
    stops. One that looks whether it is there (`hasattr`, `getattr`) gets an UnsupportedError.
    Raises AttributeError for what PyTorch lacks as well.
    """
    dotted = f"{module}.{name}"
    if _listing or name.startswith("__") or not (name in _pytorch_names(_short(module)) or is_pytorchs_module(dotted)):
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    if not _is_named():
        raise _refusal(dotted)
    return _placeholder(dotted)


def refuses_missing(module: str) -> Callable[[str], Any]:
    """A `__getattr__` for the module of that name, for what the shim doesn't have."""
    return _MissingModule(module).__getattr__


def missing_module(dotted: str) -> ModuleType:
    """The module that stands for one that the shim lacks."""
    return _module_placeholder(dotted)


def _is_named() -> bool:
    """Whether the program has `x.name` or `from x import name` where it asks, rather than a call such as `hasattr`."""
    frame: Any = sys._getframe(1)
    asking = ("__getattr__", "__get__", missing.__name__)
    while frame.f_code.co_name in asking and str(frame.f_globals.get("__name__")).startswith(_SHIM):
        frame = frame.f_back
    return opcode.opname[frame.f_code.co_code[frame.f_lasti]] in _NAMING


def _refusal(dotted: str) -> UnsupportedError:
    package, _, name = dotted.rpartition(".")
    has = supported(_short(package), name)
    return UnsupportedError(f"the shim has no {dotted}" + (f"; supported: {has}" if has else ""))


@functools.cache
def _module_placeholder(dotted: str) -> ModuleType:
    return _MissingModule(dotted)


@functools.cache
def _placeholder(dotted: str) -> Any:
    package, _, name = dotted.rpartition(".")
    marked = _pytorch_names(_short(package)).get(name, "")
    if not marked:
        return _module_placeholder(dotted)
    if marked.startswith("="):
        above = package
        while name not in _pytorch_names(_short(above := above.rpartition(".")[0])):
            pass
        found = getattr(_reached(above), name, None)
        if found is not None or marked.endswith("*"):
            return _placeholder(f"{above}.{name}") if found is None else found
    if marked.endswith("*"):
        bases = tuple(base for ending, base in _EXCEPTIONS.items() if name.endswith(ending))
        own = {"__module__": package, "__qualname__": name, "_missing": dotted, "_is_protocol": False}
        return _MissingClass(name, bases, own)
    return _MissingValue(dotted)


def _reached(dotted: str) -> object:
    """The shim's module of this name; None if it lacks that."""
    found: object = late_module()
    for part in dotted.split(".")[1:]:
        found = getattr(found, part, None)
    return found


class _MissingModule(ModuleType):
    """Stands for a module of PyTorch's. What PyTorch has in it has a placeholder as well."""

    __path__: list[str] = []  # noqa: RUF012 - modules in it are imported as well

    def __getattr__(self, name: str) -> Any:
        return missing(self.__name__, name)


def _is_imported(frame: Any) -> bool:
    """Whether the code is of a module that is being imported, or of a class or a comprehension in it."""
    while not frame.f_code.co_flags & inspect.CO_OPTIMIZED or _is_passed_over(frame):
        if frame.f_code.co_name == "<module>":
            return bool(frame.f_globals.get("__name__", "__main__") != "__main__")
        frame = frame.f_back
    return False


def _is_passed_over(frame: Any) -> bool:
    """Whether it is of a comprehension, or makes classes (`watch_for_classes`)."""
    name = frame.f_code.co_name
    if name == "build":
        return str(frame.f_globals.get("__name__")).startswith(_SHIM)
    return name in ("<listcomp>", "<setcomp>", "<dictcomp>")


def _called(dotted: str) -> Any:
    """What a call of what the shim lacks gives: while a module of the program is imported, what refuses when used."""
    if _is_imported(sys._getframe(2)):
        return _MissingValue(dotted)
    raise _refusal(dotted)


_OF_PROTOCOLS: Any = type(Protocol)  # an ABCMeta; a class can be both


class _MissingClass(_OF_PROTOCOLS):  # type: ignore[misc]
    """Stands for a class of PyTorch's: can be named, asked about and inherited from, and makes no instance."""

    _missing: str

    def __call__(cls, *_args: object, **_named: object) -> Any:
        return _called(cls._missing)

    def __getitem__(cls, _parameters: object) -> Any:
        return cls

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
        if "_missing" not in vars(cls) or not _is_named():  # a program's own subclass has what it defines
            raise _refusal(cls._missing)
        return _MissingValue(cls._missing)


_ASKS_WHETHER_IT_IS_THERE = frozenset({"is_available", "is_built", "is_enabled", "is_initialized"})
"""Functions of PyTorch's that programs call, mostly while they are imported, to do without what isn't there."""


class _MissingValue:
    """Stands for a function or a constant of PyTorch's: equals nothing else, and refuses calls."""

    def __init__(self, dotted: str) -> None:
        self._missing = dotted
        self.__module__, _, self.__name__ = dotted.rpartition(".")
        self.__qualname__ = self.__name__

    def __call__(self, *_args: object, **_named: object) -> Any:
        if self.__name__ in _ASKS_WHETHER_IT_IS_THERE:
            return False
        return _called(self._missing)

    def __getitem__(self, _parameters: object) -> Any:
        return self

    def __mro_entries__(self, _bases: object) -> tuple[type, ...]:
        return (_MissingClass(self.__name__, (), {"_missing": self._missing}),)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"'{self.__name__}' has no attribute '{name}'")
        raise _refusal(self._missing)

    def __or__(self, other: Any) -> Any:
        return Union[self, other]  # noqa: UP007 - `|` would call this again; raises TypeError for what isn't a type

    def __ror__(self, other: Any) -> Any:
        return Union[other, self]  # noqa: UP007

    def __repr__(self) -> str:
        return f"<{self._missing}, which the shim has not>"


def _refuses(self: _MissingValue, *_operands: object) -> Any:
    raise _refusal(self._missing)


_OPERATORS = """add radd sub rsub mul rmul truediv rtruediv pow rpow matmul rmatmul mod neg lt le gt ge iter len enter
exit float int index"""
for _operator in _OPERATORS.split():
    setattr(_MissingValue, f"__{_operator}__", _refuses)


def is_placeholder(found: object) -> bool:
    """Whether this stands for something that the shim lacks."""
    return isinstance(found, _MissingModule | _MissingClass | _MissingValue)


def may_be_pytorchs(dotted: str) -> bool:
    """Whether PyTorch has this name. Where that isn't known, it most likely has: private names aren't all listed."""
    package, _, name = dotted.rpartition(".")
    if is_pytorchs_module(dotted):
        return True
    if name.startswith("_"):
        return not name.startswith("__")
    return _short(package) not in _rows() or name in _pytorch_names(_short(package))


_FEW = 20


def supported(namespace: str, name: str) -> str:
    """The names of a namespace that the shim has, in one line; of many, those that are like `name`."""
    if namespace == "Tensor":
        from .tensor import Tensor

        found = [n for n in dir(Tensor) if not isinstance(vars(Tensor).get(n), Unsupported)]
    else:
        module = _reached("torch" if namespace == "torch" else f"torch.{namespace}")
        found = [n for n in _pytorch_names(namespace) if _stands_in(module, n)]
    found = sorted(n for n in found if not n.startswith("_"))
    if len(found) <= _FEW:
        return ", ".join(found)
    alike = difflib.get_close_matches(name, found, 4, 0.7)
    return f"{', '.join(alike)} and {len(found) - len(alike)} others" if alike else f"{len(found)} other names"


def _stands_in(module: object, name: str) -> bool:
    """Whether the module has the name, and from this package."""
    global _listing
    outer, _listing = _listing, True
    try:
        found = getattr(module, name, None)
    finally:
        _listing = outer
    if isinstance(found, ModuleType):
        return found.__name__.startswith("guardfix.")
    home = str(getattr(found, "__module__", "torch")).partition(".")[0]
    return found is not None and home in ("guardfix", "torch")


def mark_unsupported() -> None:
    """Put `Unsupported` where Tensor lacks something that PyTorch's has. Run once, when all ops are registered."""
    from .tensor import Tensor

    for name in _pytorch_names("Tensor"):
        if not hasattr(Tensor, name):
            setattr(Tensor, name, Unsupported(name))
    Tensor.__dir__ = _names_of  # type: ignore[method-assign,assignment]


def _names_of(tensor: object) -> list[str]:
    """`dir(tensor)`: what it has."""
    from .tensor import Tensor

    own = vars(Tensor)
    return [n for n in object.__dir__(tensor) if not isinstance(own.get(n), Unsupported)]


class Unsupported:
    """Stands on Tensor for a method or attribute that PyTorch's has and the shim's has not."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> object:
        if _is_imported(sys._getframe(1)) and _is_named():
            return _MissingValue(f"torch.Tensor.{self.name}")
        raise UnsupportedError(f"the shim has no torch.Tensor.{self.name}; supported: {supported('Tensor', self.name)}")
