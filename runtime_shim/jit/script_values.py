"""The values that only TorchScript has: instances of script classes, enumerators, devices, futures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_ScriptClass = Any
"""`script_source.ScriptClass`, which is on this."""


class ScriptObject:
    """An instance of a class in the archive. Its attributes are `slots`; nothing else can be reached from code.

    Python sees them as attributes, as with PyTorch's own script objects.
    """

    __slots__ = ("__weakref__", "script_class", "slots")

    script_class: _ScriptClass
    slots: dict[str, Any]

    def __init__(self, script_class: _ScriptClass) -> None:
        object.__setattr__(self, "script_class", script_class)
        object.__setattr__(self, "slots", {})

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            slots = object.__getattribute__(self, "slots")
            if name in slots:
                return slots[name]
            script_class = object.__getattribute__(self, "script_class")
            if name in script_class.methods:
                return script_class.methods[name].bound(self)
            if name in script_class.constants:
                return script_class.constants[name]
        raise AttributeError(f"'{self._python_name}' object has no attribute '{name}'")

    @property
    def _python_name(self) -> str:
        return "ScriptObject"

    def __repr__(self) -> str:
        return f"<{self.script_class.qualified_name} object>"


@dataclass(frozen=True)
class Enumerator:
    """A member of an enumeration in the archive; equal when type and name are."""

    type: str
    name: str
    value: Any

    def __repr__(self) -> str:
        return f"{self.type.rpartition('.')[2]}.{self.name}"


@dataclass(frozen=True)
class ForkedTask:
    """What `fork` returns. The task has run already: order is the only thing that `fork` leaves open."""

    value: Any


class Uninitialized:
    """The value of `uninitialized(T)`: code assigns it on paths that raise, and never reads it."""

    def __repr__(self) -> str:
        return "uninitialized"


UNINITIALIZED = Uninitialized()


class ArchiveError(RuntimeError):
    """The file is not an archive that can be loaded: damaged, hostile, or made of what is not supported.

    `reason` says what is wrong and what to do; `archive` names the file; `record` the file inside the
    archive; `line` the line of that record, counted from 1. What is not known is None.
    """

    def __init__(
        self,
        reason: str,
        *,
        archive: str | None = None,
        record: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.archive = archive
        self.record = record
        self.line = line

    def __str__(self) -> str:
        inside = self.record if self.line is None else f"{self.record}:{self.line}"
        places = [place for place in (self.archive, inside) if place]
        return ": ".join([*places, self.reason])


class Error(Exception):
    """A `raise` or `assert` of the model itself: PyTorch's `torch.jit.Error`, which is not a RuntimeError either."""
