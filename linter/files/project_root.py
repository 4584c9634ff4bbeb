"""Where a project begins. Imported on every run, so it imports next to nothing."""

from __future__ import annotations

import os
import sys

from guardfix.regular_files import read_regular

from ..lazy_regex import lazy_regex

CONFIGURATION_FILES = ("guardfix.toml", ".guardfix.toml", "pyproject.toml")
SECTION = b"[tool.guardfix"
"""What a pyproject.toml holds that configures guardfix."""
_OTHER_SPELLING = lazy_regex(
    rb"""(?m)^[ \t]*(?:\[[ \t]*)?(?:["']?tool["']?[ \t]*(?:\.|=[ \t]*\{)[ \t]*)?["']?guardfix["']?[ \t]*[\].=]"""
)
"""What may be the same table: `guardfix = {...}` in `[tool]`, `tool.guardfix.select = [...]`, `[ tool . guardfix ]`."""


class UnknownSettings(Exception):
    """What is in force in a folder can't be said; the message says where and why."""


def configuration_in(folder: str) -> str | None:
    """The file in the folder that configures guardfix."""
    for name in CONFIGURATION_FILES:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            if name != "pyproject.toml" or _may_have_section(path):
                return path
        elif os.path.lexists(path) and not os.path.isdir(path):
            return path  # a pipe, a device, a dangling link: reading it gives the error
    return None


def _may_have_section(path: str) -> bool:
    """Whether the file configures guardfix. True if it can't be opened: reading it later gives the error."""
    try:
        data = read_regular(path).replace(b"\0", b"")  # in UTF-16 as well
    except OSError:
        return True
    return SECTION in data or (_OTHER_SPELLING.search(data) is not None and _has_table(data))


def _has_table(data: bytes) -> bool:
    """Whether TOML's parser finds the table, however it is written. True if it can't read the file, as above."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        tool = tomllib.loads(data.decode("utf-8")).get("tool")
    except (ValueError, RecursionError):
        return True
    return isinstance(tool, dict) and "guardfix" in tool


def find_configuration(start: str = os.curdir) -> str | None:
    """The nearest file with a configuration, up to the top of the git repository."""
    folder = os.path.abspath(start)
    while True:
        path = configuration_in(folder)
        parent = os.path.dirname(folder)
        if path is not None or parent == folder or os.path.exists(os.path.join(folder, ".git")):
            return path
        folder = parent


def project_root(path: str) -> str | None:
    """The nearest folder, at a path or above it, with a configuration or a git repository; None when there is none."""
    folder = os.path.realpath(path)
    while True:
        if os.path.exists(os.path.join(folder, ".git")) or configuration_in(folder) is not None:
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
