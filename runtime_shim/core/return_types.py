"""`torch.return_types`: the named tuples that ops return."""

from __future__ import annotations

import functools
from collections import namedtuple
from typing import Any


@functools.cache
def return_type(name: str, fields: str) -> Any:
    """The type of what the op `name` returns, with these fields; `return_type(…)(*results)` makes one."""
    make: Any = namedtuple
    made = make(name, fields)
    made.__module__ = "torch.return_types"
    made.__repr__ = lambda self: (
        f"torch.return_types.{name}(\n"
        + ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
        + ")"
    )
    return made


def out_type(made: Any) -> Any:
    """The type of what is returned where `out=` is given."""
    return return_type(f"{made.__name__}_out", " ".join(made._fields)) if hasattr(made, "_fields") else made
