"""`torch.profiler`: blocks of code may have names. Nothing is measured."""

from __future__ import annotations

from contextlib import ContextDecorator

from .core.supported_names import refuses_missing


class record_function(ContextDecorator):
    """A context or decorator that names what runs in it."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args

    def __enter__(self) -> record_function:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing was begun."""


__getattr__ = refuses_missing("torch.profiler")
