"""The pickles of an archive: what TorchScript's pickler writes (`torch/csrc/jit/serialization/pickler.cpp`) and no
more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ..core.account import LimitReached
from ..core.pickle_machine import VALUE_OPCODES, Builder, Global, Malformed, Opcode, PickleMachine, protocols
from .script_errors import ArchiveError

_OPCODES: dict[str, Opcode] = {
    **VALUE_OPCODES,
    "PROTO": protocols(2),
    "SHORT_BINSTRING": PickleMachine.push,
    "BINSTRING": PickleMachine.push,
    "BINPERSID": PickleMachine.persistent,
}


class Instances(Protocol):
    """Makes the archive's own classes."""

    def new(self, name: str) -> Any:
        """An empty instance of the class with this qualified name."""

    def build(self, instance: Any, state: Any) -> None:
        """Gives an instance its state."""

    def enumerator(self, name: str, value: Any) -> Any:
        """The member of an enumeration with this value."""


class _ArchiveNames:
    """The names in one record: builders of values, types of storages, and the archive's own classes."""

    def __init__(self, builders: Mapping[str, Builder], storage: Callable[[Any], Any], instances: Instances) -> None:
        self._builders = builders
        self._instances = instances
        self.persistent = storage

    def known(self, name: Global) -> bool:
        if name.module == "torch" and name.name.endswith("Storage"):
            return True
        return name.module.startswith("__torch__") or name.key in self._builders

    def call(self, name: Global, arguments: Any) -> Any:
        if name.module.startswith("__torch__"):  # an enumerator: the argument is its value, in no tuple
            return self._instances.enumerator(str(name), arguments)
        if not isinstance(arguments, tuple):
            raise ValueError("REDUCE needs a tuple")
        builder = self._builders.get(name.key)
        if builder is None:
            raise ValueError(f"{name} cannot be called")
        return builder(*arguments)

    def new(self, name: Global, arguments: Any) -> Any:
        if not name.module.startswith("__torch__") or arguments != ():
            raise ValueError("NEWOBJ needs a class of the archive and no arguments")
        return self._instances.new(str(name))

    def build(self, instance: Any, state: Any) -> None:
        self._instances.build(instance, state)


def unpickle(
    data: bytes,
    record: str,
    builders: Mapping[str, Builder],
    storage: Callable[[Any], Any],
    instances: Instances,
) -> Any:
    """The value of the pickle `data`; `record` names it in errors. Raises ArchiveError."""
    try:
        return PickleMachine(_OPCODES, _ArchiveNames(builders, storage, instances)).load(data)
    except (Malformed, LimitReached) as error:
        raise ArchiveError(str(error), record=record) from error
    except ArchiveError as error:
        if error.record is None:
            error.record = record
        raise
