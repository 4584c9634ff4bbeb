"""The functions of `torch` by name, numpy's functions behind them, and the named tuples that some return.

That look takes as long as it takes to join two small arrays. These are for plain arrays alone: what a subclass of
ndarray does in their place isn't asked for.
"""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

AnyFunction = Callable[..., Any]
"""One without a description."""

#: Everything callable as `torch.<name>`; filled as ops are registered.
FUNCTIONS: dict[str, Callable[..., Any]] = {}

#: What the tape asks of the ops and no program calls.
INTERNAL: dict[str, Callable[..., Any]] = {}

#: Ops that programs reach as `torch.ops.aten.<name>` alone.
ATEN_ALONE: dict[str, Callable[..., Any]] = {}


_core: Any = getattr(np, "_core", None) or np.core
_compiled: Any = getattr(_core, "_multiarray_umath", np)

concatenate: Any = getattr(_compiled, "concatenate", np.concatenate)
where: Any = getattr(_compiled, "where", np.where)


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
