"""A distribution named `torch` that is the shim: for child processes, whose builds and tests import PyTorch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

VERSION = "2.13.0"
"""The version of PyTorch whose behaviour the shim has."""

KEEP_BUILDING = "GUARDFIX_KEEP_BUILDING"
"""The environment variable that is set where an extension that can't be built is left out, so that others are built."""
NOT_BUILT = "is left out, as it can't be built"

_PACKAGE = '''\
"""PyTorch's name for guardfix's runtime shim."""

from guardfix.runtime_shim.cpp.extension_module import bind_for_good

bind_for_good("guardfix.runtime_shim")
'''
_ALSO = """
import importlib

importlib.import_module("{module}")
"""
_SITE = '''\
"""Finds what installers put beside the distribution, which is where `pip install` of a contained build can write."""

import glob
import os
import site

_INSTALLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "installed")
for _pattern in ("lib*/python*/*-packages", "local/lib/python*/*-packages"):
    for _folder in glob.glob(os.path.join(_INSTALLED, _pattern)):
        site.addsitedir(_folder)
'''
_METADATA = """\
Metadata-Version: 2.1
Name: torch
Version: {version}
Summary: guardfix's runtime shim under PyTorch's name
"""
_DESCRIBED = ("pyproject.toml", "setup.cfg", "setup.py", "requirements*.txt")
_ASKED = re.compile(r"(?<![\w./-])torch[ \t]*((?:(?:===?|[<>!~]=|[<>])[ \t]*[\w.*+!-]+[ \t]*(?:,[ \t]*)?)+)")


def version_for(project: Path) -> str:
    """The version that installers are told: ours, or the last release that fits what a project asks for.

    A project that wants `torch<2.8` can then be built. `torch.__version__` is ours in any case.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    asked = SpecifierSet()
    exact: list[str] = []
    for text in _described(project):
        for found in _ASKED.findall(text):
            try:
                asked &= SpecifierSet(found.strip().rstrip(","))
            except InvalidSpecifier:
                continue
            exact += re.findall(r"==[ \t]*([\w.+!-]+)(?![\w.+!*-])", found)
    minor = int(VERSION.split(".")[1])
    releases = [
        VERSION,
        *(f"2.{number}.0" for number in range(minor, -1, -1)),
        *(f"1.{n}.0" for n in range(13, -1, -1)),
    ]
    return next((version for version in [*releases, *exact] if asked.contains(version)), VERSION)


def _described(project: Path) -> Iterator[str]:
    for pattern in _DESCRIBED:
        for path in sorted(project.glob(pattern)):
            yield path.read_text(encoding="utf-8", errors="replace")


def write_torch_distribution(folder: Path, version: str = VERSION, *, also: str | None = None) -> Path:
    """Put the distribution into `folder`, which then goes on the PYTHONPATH; returns `folder`.

    `import torch` gives the shim there, and installers find PyTorch installed, in this version, and fetch no other.
    What pip installs with `installation_variables` is found there as well, editable installations included. `also` is
    a module that the import of `torch` brings along.
    """
    package, metadata = folder / "torch", folder / f"torch-{version}.dist-info"
    package.mkdir(parents=True, exist_ok=True)
    metadata.mkdir(exist_ok=True)
    (package / "__init__.py").write_text(
        _PACKAGE + ("" if also is None else _ALSO.format(module=also)), encoding="utf-8"
    )
    (metadata / "METADATA").write_text(_METADATA.format(version=version), encoding="utf-8")
    (metadata / "INSTALLER").write_text("guardfix\n", encoding="utf-8")
    (metadata / "RECORD").write_text("", encoding="utf-8")
    (folder / "sitecustomize.py").write_text(_SITE, encoding="utf-8")
    return folder


def installation_variables(folder: Path) -> dict[str, str]:
    """Environment variables that have pip install beside the distribution in `folder`, and not into the interpreter.

    Builds aren't isolated: an environment of their own would have no `torch`. (pip takes this option's variable for
    its opposite: 0 means without isolation.)
    """
    return {"PIP_PREFIX": str(folder / "installed"), "PIP_NO_BUILD_ISOLATION": "0"}
