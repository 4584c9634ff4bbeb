"""Loading C++ libraries that register ops or classes while they are loaded."""

from __future__ import annotations

import ctypes
import os
import sys

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
