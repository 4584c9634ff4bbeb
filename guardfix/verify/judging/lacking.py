"""What an error says that a program or a test lacks: a name of PyTorch's, or a package."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires

from guardfix.runtime_shim.core.supported_names import may_be_pytorchs
from guardfix.runtime_shim.cpp.compiler_diagnostics import is_of_torch, undefined_symbol

_SHIM = r"(?:guardfix\.runtime_shim|torch)"
_OF_THE_SHIM = re.compile(r"the shim(?:'s C\+\+ headers)? (?:has no|have no|lacks?) (?:module )?([^;,\n]+)")
_OF_PYTHON = (
    # An UnsupportedError is an AttributeError, too, of which an import makes this.
    re.compile(
        rf"cannot import name '(?P<name>\w+)' from '(?:partially initialized module ')?{_SHIM}(?P<inside>[\w.]*)'"
    ),
    re.compile(rf"module '{_SHIM}(?P<inside>[\w.]*)' has no attribute '(?P<name>\w+)'"),
    re.compile(rf"No module named '{_SHIM}(?P<inside>(?:\.\w+)*)\.(?P<name>\w+)'"),
)
_MODULE = re.compile(r"No module named '(\w+)(?:\.[\w.]+)?'")
_WITH_PYTORCH = frozenset("filelock fsspec jinja2 networkx sympy typing_extensions".split())
"""Packages that PyTorch requires, so that projects import them without asking for them."""
_EXTRA = re.compile(r"only where (?P<package>\w+) is installed: (?P<command>pip install 'guardfix\[(?P<extra>\w+)\]')")


def missing_of_torch(message: str) -> str | None:
    """The first name of PyTorch's that an error says the shim lacks; None for a name that PyTorch lacks as well."""
    found = _OF_THE_SHIM.search(message)
    if found is not None:
        return found[1].strip().rstrip(".")
    for form in _OF_PYTHON:
        found = form.search(message)
        if found is not None:
            dotted = f"torch{found['inside']}.{found['name']}"
            return dotted if may_be_pytorchs(dotted) else None
    symbol = undefined_symbol(message)
    return symbol if symbol is not None and is_of_torch(symbol) else None


def needed_packages(message: str) -> list[str]:
    """What an error asks for that guardfix may install, as installers take it: the requirements of one of its extras,
    or a package that comes with PyTorch.
    """
    found = _EXTRA.search(message)
    if found is None:
        module = _MODULE.search(message)
        return [module[1]] if module is not None and module[1] in _WITH_PYTORCH else []
    marker = re.compile(rf"""extra == ["']{found["extra"]}["']""")
    try:
        named = requires("guardfix") or []
    except PackageNotFoundError:
        return []
    return [one.partition(";")[0].strip() for one in named if marker.search(one)]


def missing_package(message: str) -> tuple[str, str] | None:
    """What an error says isn't installed, and what to do about that."""
    extra = _EXTRA.search(message)
    if extra is not None:
        return extra["package"], f"run `{extra['command']}` in guardfix's environment"
    found = _MODULE.search(message)
    if found is None or found[1] in ("torch", "guardfix"):
        return None
    return found[1], f"install the package that brings {found[1]} in guardfix's environment"
