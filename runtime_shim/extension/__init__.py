"""Building Python extension modules and libraries of ops from C++ against the headers of `../cpp/include`."""

from __future__ import annotations
