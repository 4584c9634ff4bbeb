"""Which torch a project is built with, where its own files say so."""

from __future__ import annotations

import os
import re
from functools import lru_cache

from guardfix.linter.files.project_root import project_root
from guardfix.linter.files.workspace import Workspace
from guardfix.linter.lazy_regex import lazy_regex

NEW_GUARDS_SINCE = (1, 9)
"""The version of torch that has `InferenceMode` and the two guards for kernels."""
_FILES = (
    "requirements.txt",
    "requirements-dev.txt",
    "requirements/requirements.txt",
    "setup.py",
    "setup.cfg",
    "pyproject.toml",
    "environment.yml",
    "environment.yaml",
    "CMakeLists.txt",
)
_PIN = lazy_regex(
    rb"(?<![\w-])torch(?![\w-])[ \t]*(?:\[[^\]\n]*\])?[^\n\"'#;]*?"
    rb"(?P<sign>===?|<=|<|~=)[ \t]*v?(?P<version>\d+(?:\.\d+)*)"
)
_EXACT = lazy_regex(rb"find_package\s*\(\s*Torch\s+(?P<version>\d+(?:\.\d+)*)\s+EXACT\b", re.IGNORECASE)


def version_of(text: str) -> tuple[int, ...]:
    """The numbers of a version: `1.13` -> (1, 13)."""
    return tuple(int(part) for part in text.split("."))


def is_built_before_1_9(path: str, workspace: Workspace) -> bool:
    """Whether the project around a file says that it is built with torch before 1.9, and with no other."""
    root = project_root(os.path.dirname(os.path.abspath(path))) if workspace.has_disk else None
    return root is not None and _allows_only_older(root, workspace)


@lru_cache(maxsize=16)
def _allows_only_older(root: str, workspace: Workspace) -> bool:
    found: list[bool] = []
    for name in _FILES:
        place = os.path.join(root, *name.split("/"))
        source = workspace.read_or_none(place) if workspace.is_file(place) else None
        if source is not None:
            found += (_is_older(match["sign"], match["version"]) for match in _PIN.finditer(source.text))
            found += (_is_older(b"==", match["version"]) for match in _EXACT.finditer(source.text))
    return bool(found) and all(found)


def _is_older(sign: bytes, written: bytes) -> bool:
    version = version_of(written.decode())
    return version <= NEW_GUARDS_SINCE if sign == b"<" else version < NEW_GUARDS_SINCE
