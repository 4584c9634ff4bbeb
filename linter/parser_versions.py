"""The parsers that decide what is found: which versions are installed, and which ones the tests have seen."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec

TESTED: Mapping[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "libcst": ((1, 9), (1, 10)),
    "tree_sitter": ((0, 25), (0, 27)),
    "tree_sitter_cpp": ((0, 23), (0, 24)),
    "tree_sitter_cuda": ((0, 21), (0, 22)),
}
"""From which version, and before which. pyproject.toml asks for the same; otherwise, a note says so."""


@cache
def installed_parsers() -> Mapping[str, str]:
    """What tells one version of a parser from another: by what pip leaves beside it, its number.

    `importlib.metadata` takes 20 ms to import.
    """
    found: dict[str, str] = {}
    beside: dict[str, list[str]] = {}
    for module in TESTED:
        spec = find_spec(module)
        if spec is None or not spec.origin:
            continue
        folder = os.path.dirname(os.path.dirname(spec.origin))
        if folder not in beside:
            beside[folder] = os.listdir(folder)
        told = [name for name in beside[folder] if name.startswith(f"{module}-") and name.endswith("-info")]
        if told:
            found[module] = told[0].rpartition(".")[0].split("-")[1]
        else:
            status = os.stat(spec.origin)
            found[module] = f"{spec.origin} {status.st_size} {status.st_mtime_ns}"
    return found


def untested_parsers() -> list[str]:
    """The installed parsers whose results the tests haven't seen, with their versions."""
    found = [(module, version) for module, version in installed_parsers().items() if not _is_tested(module, version)]
    return [f"{module} {version if version[:1].isdecimal() else 'of an unknown version'}" for module, version in found]


def _is_tested(module: str, version: str) -> bool:
    first, beyond = TESTED[module]
    numbers = version.split(".")[:2]
    return all(map(str.isdecimal, numbers)) and first <= tuple(map(int, numbers)) < beyond
