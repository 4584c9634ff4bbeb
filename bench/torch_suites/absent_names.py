"""Modules and names that the suites import and the shim hasn't: a test fails where it uses one, not its whole file."""

from __future__ import annotations

import builtins
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from typing import Any

SHIM = "guardfix.runtime_shim"
#: Modules of the shim that suites ask for names that they haven't while they are imported.
INCOMPLETE = frozenset({"_C", "profiler", "testing", "_internal", "optests", "backends", "_dynamo", "_python_dispatch"})


class Absent:
    """Stands for a name that isn't there; raises NotImplementedError when it is called."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.__name__.endswith(".is_available"):
            return False
        if self.__name__.endswith("._profiler.symbolize_tracebacks"):
            return ()  # asked after each capture of logs, with tracebacks or without
        if self.__name__.endswith("._custom_op.impl.global_registry.keys"):
            return ()  # asked after every test, for ops of an interface that isn't there
        if self.__name__.endswith(".optests.dontGenerateOpCheckTests"):
            return lambda test: test
        if self.__name__.endswith(
            (".optests.generate_opcheck_tests", "_utils_internal.get_file_path_2", "._import_utils.import_dill")
        ):
            return None  # the tests that it makes are not there, and count as failures
        raise NotImplementedError(f"the shim has no {self.__name__}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")

    def __iter__(self) -> Any:
        return iter(())

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return ()


class _AbsentModule(types.ModuleType):
    """A module that isn't there. Where a function of that name is, as in torch.autograd.gradcheck, it is that, too."""

    function: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.function is None:
            raise NotImplementedError(f"the shim has no {self.__name__}")
        return self.function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")


class _Completed(types.ModuleType):
    """A module of the shim as a suite sees it that imports names from it."""

    def __init__(self, module: types.ModuleType) -> None:
        super().__init__(module.__name__)
        self.__dict__["module"] = module

    def __getattr__(self, name: str) -> Any:
        try:
            found = getattr(self.__dict__["module"], name)
            return _Completed(found) if name in INCOMPLETE else found
        except AttributeError:
            if name.startswith("__"):
                raise
            return Absent(f"{self.__name__}.{name}".replace(SHIM, "torch"))


def _stands_as_an_attribute(name: str) -> bool:
    """Whether the shim has an object in the place of a module."""
    found: Any = sys.modules.get(SHIM)
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found is not None


class _AbsentModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith(("torch.", "torchgen", "functorch")):
            return None
        try:
            if name.startswith("torch.") and importlib.util.find_spec(SHIM + name.removeprefix("torch")) is not None:
                return None
        except ImportError:
            pass
        if name.startswith("torch.") and _stands_as_an_attribute(name):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> Any:
        made = _AbsentModule(spec.name)
        parent, _, name = spec.name.rpartition(".")
        made.function = getattr(sys.modules.get(parent), name, None)
        return made

    def exec_module(self, module: Any) -> None:
        pass


def allow_absent_modules() -> None:
    """From now on a suite can import modules that PyTorch had once."""
    sys.meta_path.append(_AbsentModules())


def allow_absent_names() -> None:
    """From now on a suite can import what the shim hasn't."""
    sys.meta_path.insert(0, _AbsentModules())
    importing = builtins.__import__

    def complete(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        try:
            found = importing(name, globals, locals, fromlist, level)
        except ModuleNotFoundError as error:
            parent = (error.name or "").rpartition(".")[0]
            if not str(error).endswith("is not a package") or parent not in sys.modules:
                raise
            sys.modules[parent].__path__ = []  # a single file here, and a package in PyTorch
            found = importing(name, globals, locals, fromlist, level)
        inside = str((globals or {}).get("__name__", "")).startswith("test_")
        if not inside or name.partition(".")[0] != "torch" or isinstance(found, _AbsentModule):
            return found
        # `import torch.x as y` goes on from what is found to `x` by itself.
        return _Completed(found)

    builtins.__import__ = complete
